// The audit trail: who changed what of the relay, from where.

import type { KeyId } from './ids.ts'

/** `dashboard` is the owner in the dashboard; `relay` is the relay itself, for what it finds at a start. */
export const ACTOR_KINDS = ['key', 'cli', 'dashboard', 'member', 'relay'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export type Actor = {
  readonly kind: ActorKind
  /** The key, the member, or the short id of the dashboard session; null if the kind alone identifies the actor. */
  readonly id: string | null
}

export type Origin = {
  readonly actor: Actor
  /** The client's IP address; null on the control socket and on the command line. */
  readonly address: string | null
  /** The request's id; null if it wasn't a request. */
  readonly requestId: string | null
}

/** A command that works on the database directly, while no relay runs. */
export const COMMAND_LINE: Origin = {
  actor: { kind: 'cli', id: null },
  address: null,
  requestId: null,
}

export const RELAY_ITSELF: Origin = {
  actor: { kind: 'relay', id: null },
  address: null,
  requestId: null,
}

export const AUDIT_ACTIONS = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'bridge.created',
  'bridge.token_renewed',
  'bridge.removed',
  'webhook.created',
  'webhook.changed',
  'webhook.secret_rotated',
  'webhook.deleted',
  'webhook.replayed',
  'webhook.retried',
  'webhook.replay_stopped',
  'line.changed',
  'line.adopted',
  'line.moved',
  'line.deleted',
  'site.created',
  'site.changed',
  'site.deleted',
  'setting.changed',
  'finding.snoozed',
  'message.resolved',
  'message.canceled',
  'message.approved',
  'message.denied',
  'conversation.exported',
  'conversation.merged',
  'conversation.separated',
  'contacts.exported',
  'opt_out.added',
  'opt_out.removed',
  'attachment.deleted',
  'attachment.linked',
  'backup.created',
  'backup.downloaded',
  'backup.restored',
  'relay.upgraded',
  'box.upgraded',
  'setup_link.created',
  'password.set',
  'password.changed',
  'password.refused',
  'second_factor.added',
  'second_factor.codes_renewed',
  'second_factor.removed',
  'session.created',
  'session.elevated',
  'session.ended',
  'member.created',
  'member.link_created',
  'member.changed',
  'member.removed',
  'box.invited',
  'box.joined',
  'box.renamed',
  'box.removed',
  'rollout.started',
  'rollout.resumed',
  'rollout.canceled',
  'alert_channel.created',
  'alert_channel.changed',
  'alert_channel.removed',
  'alert_rule.changed',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export const THING_KINDS = [
  'key',
  'bridge',
  'webhook',
  'line',
  'setting',
  'finding',
  'message',
  'conversation',
  'contacts',
  'opt_out',
  'attachment',
  'backup',
  'relay',
  'dashboard',
  'session',
  'member',
  'box',
  'site',
  'alert_channel',
  'alert_rule',
] as const
export type ThingKind = (typeof THING_KINDS)[number]

/** The thing that an entry is about; the relay and the dashboard need no id. */
export type Thing = { readonly kind: ThingKind; readonly id: string | null }

/** Fields by their names in the API; never a secret. */
export type AuditFields = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>

/** A change, as its author describes it. */
export type AuditedChange = {
  readonly action: AuditAction
  readonly about: Thing
  /** Null if there was nothing before, or it isn't known. */
  readonly before?: AuditFields | null | undefined
  readonly after?: AuditFields | null | undefined
}

/** Value of `created_by`. */
export function makerOf({ actor }: Origin): KeyId | 'cli' | 'dashboard' {
  // The id of this kind of actor is a key's.
  if (actor.kind === 'key') return actor.id as KeyId
  return actor.kind === 'dashboard' || actor.kind === 'member' ? 'dashboard' : 'cli'
}

/**
 * The fields that differ, before and after; null if none does. If one side is null, the other is returned
 * whole.
 */
export function changedFields({
  before = null,
  after = null,
}: Pick<AuditedChange, 'before' | 'after'>): {
  readonly before: AuditFields | null
  readonly after: AuditFields | null
} | null {
  if (before === null || after === null) return { before, after }
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  return names.length === 0 ? null : { before: only(before, names), after: only(after, names) }
}

function only(fields: AuditFields, names: readonly string[]): AuditFields {
  return Object.fromEntries(names.map((name) => [name, fields[name] ?? null]))
}
