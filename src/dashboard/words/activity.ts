import type { AuditEntry } from '../../api/audit.ts'
import type { LogLine } from '../../api/owner.ts'
import { grouped } from './common.ts'

const ACTORS = {
  cli: 'Command line',
  dashboard: 'Dashboard',
  member: 'People who answer',
  relay: 'Hookline itself',
}

export function actorWords(actor: AuditEntry['actor'], nameOf: NameOf): string {
  if (actor.kind === 'key') return nameOf(actor.id) ?? 'A deleted key'
  return actor.name ?? ACTORS[actor.kind]
}

/** Looks up a name by id; null if it no longer exists. */
export type NameOf = (id: string | null) => string | null

const SENTENCES: Readonly<Record<string, (name: string) => string>> = {
  'key.created': (name) => `Key ${name} created`,
  'key.rotated': (name) => `Key ${name} rotated`,
  'key.revoked': (name) => `Key ${name} revoked`,
  'bridge.created': (name) => `Shortcuts line ${name} added`,
  'bridge.token_renewed': (name) => `Token of Shortcuts line ${name} renewed`,
  'bridge.removed': (name) => `Shortcuts line ${name} removed`,
  'webhook.created': (name) => `Webhook ${name} added`,
  'webhook.changed': (name) => `Webhook ${name} changed`,
  'webhook.secret_rotated': (name) => `Secret of webhook ${name} replaced`,
  'webhook.deleted': (name) => `Webhook ${name} deleted`,
  'webhook.replayed': (name) => `Past events sent to webhook ${name}`,
  'webhook.retried': (name) => `Failed deliveries of webhook ${name} retried`,
  'webhook.replay_stopped': (name) => `Past events to webhook ${name} stopped`,
  'line.changed': (name) => `Line ${name} changed`,
  'line.adopted': (name) => `Line ${name} took over another one`,
  'line.moved': (name) => `Move of line ${name} changed`,
  'line.deleted': (name) => `Line ${name} deleted`,
  'finding.snoozed': () => 'Issue snoozed',
  'contacts.exported': () => 'Contacts exported',
  'opt_out.added': () => 'Opt-out added',
  'opt_out.removed': () => 'Opt-out removed',
  'conversation.exported': () => 'Conversation exported',
  'conversation.merged': () => 'Two conversations of one person merged',
  'conversation.separated': () => 'Merged conversations separated',
  'setting.changed': (name) => `Setting ${name} changed`,
  'message.resolved': () => 'Uncertain message settled',
  'message.canceled': () => 'Message canceled',
  'message.approved': () => 'Message approved',
  'message.denied': () => 'Message denied',
  'attachment.deleted': () => 'Attachment deleted',
  'attachment.linked': () => 'Link to an attachment created',
  'backup.created': () => 'Backup created',
  'backup.downloaded': (name) => `Backup ${name} downloaded`,
  'backup.restored': (name) => `Backup ${name} restored`,
  'relay.upgraded': () => 'Hookline upgraded',
  'box.upgraded': () => 'Box upgraded',
  'setup_link.created': () => 'Setup link created',
  'password.set': () => 'Password set',
  'password.changed': () => 'Password changed',
  'password.refused': () => 'Wrong password entered',
  'second_factor.added': () => 'Two-step sign-in turned on',
  'second_factor.codes_renewed': () => 'New recovery codes made',
  'second_factor.removed': () => 'Two-step sign-in turned off',
  'session.created': () => 'Signed in',
  'session.elevated': () => 'Password confirmed',
  'session.ended': () => 'Signed out',
  'member.created': () => 'Person who answers added',
  'member.link_created': () => 'Sign-in link of a person created',
  'member.removed': () => 'Person who answers removed',
  'box.invited': (name) => `Box ${name} invited`,
  'box.joined': (name) => `Box ${name} joined`,
  'box.renamed': (name) => `Box ${name} renamed`,
  'box.removed': (name) => `Box ${name} removed`,
  'alert_channel.created': () => 'Alert channel added',
  'alert_channel.changed': () => 'Alert channel changed',
  'alert_channel.removed': () => 'Alert channel removed',
  'alert_rule.changed': (name) => `Alert rule ${name} changed`,
  'rollout.started': () => 'Upgrade of the boxes started',
  'rollout.resumed': () => 'Upgrade of the boxes resumed',
  'rollout.canceled': () => 'Upgrade of the boxes canceled',
}

export const ACTIONS = Object.keys(SENTENCES)

/** An entry in a sentence; an action of another version by its name. */
export function actionWords({ action, about, count }: AuditEntry, nameOf: NameOf): string {
  const name = nameOf(about.id) ?? about.id ?? ''
  const known = SENTENCES[action]?.(name) ?? `${action} ${name}`
  return known.trim() + (count === 1 ? '' : ` ${grouped(count)} times`)
}

/** An action in the filter: its sentence without a name. */
export function actionName(action: string): string {
  return (SENTENCES[action]?.('') ?? action).replaceAll(/ +/g, ' ').trim()
}

/** The changed fields, one sentence each. */
export function changeWords({ before, after }: AuditEntry): readonly string[] {
  const fields = Object.keys({ ...before, ...after })
  return fields.flatMap((field) => {
    const [old, now] = [before?.[field], after?.[field]]
    if (old !== undefined) return [`${field}: ${listed(old)} → ${listed(now)}`]
    return now === null ? [] : [`${field}: ${listed(now)}`]
  })
}

function listed(value: unknown): string {
  return [value ?? '–'].flat().map(String).join(', ')
}

/** A log line as text. */
export function lineWords({ time, level, message, fields }: LogLine): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [time, level, message, ...pairs].join(' ')
}
