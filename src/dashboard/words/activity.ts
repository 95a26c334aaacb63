import type { AuditEntry } from '../../api/audit.ts'
import type { LogLine } from '../../api/owner.ts'
import { AUDIT_SENTENCES } from '../../domain/audit-words.ts'
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

export const ACTIONS = Object.keys(AUDIT_SENTENCES)

/** An entry in a sentence; an action of another version by its name. */
export function actionWords({ action, about, count }: AuditEntry, nameOf: NameOf): string {
  const name = nameOf(about.id) ?? about.id ?? ''
  const known = AUDIT_SENTENCES[action]?.(name) ?? `${action} ${name}`
  return known.trim() + (count === 1 ? '' : ` ${grouped(count)} times`)
}

/** An action in the filter: its sentence without a name. */
export function actionName(action: string): string {
  return (AUDIT_SENTENCES[action]?.('') ?? action).replaceAll(/ +/g, ' ').trim()
}

/** The changed fields, one sentence each. */
export function changeWords({ before, after }: AuditEntry): readonly string[] {
  const fields = Object.keys({ ...before, ...after })
  return fields.flatMap((field) => {
    const [old, now] = [before?.[field], after?.[field]]
    const name = fieldName(field)
    if (old !== undefined) return [`${name}: ${listed(old)} → ${listed(now)}`]
    return now === null ? [] : [`${name}: ${listed(now)}`]
  })
}

/** "Active" for `is_active`. */
function fieldName(field: string): string {
  if (field === 'url') return 'URL'
  const words = field.replace(/^is_/, '').replaceAll('_', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

function listed(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.map(listed).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A log line as text. */
export function lineWords({ time, level, message, fields }: LogLine): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [time, level, message, ...pairs].join(' ')
}
