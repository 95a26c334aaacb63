import type { AuditEntry } from '../../api/audit.ts'
import type { LogLine } from '../../api/owner.ts'
import { AUDIT_SENTENCES } from '../../domain/audit-words.ts'
import { href, type PageName } from '../address.ts'
import { formatter, momentWords } from '../time-words.ts'
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

/** Things whose id is their name. */
const NAMED_BY_ID: readonly string[] = ['setting', 'backup', 'alert_rule']
/** Fields that name a thing that is gone. */
const NAMES = ['name', 'label', 'phone_number', 'url']

/** An entry in a sentence; an action of another version by its name. */
export function actionWords({ action, about, count, ...entry }: AuditEntry, nameOf: NameOf) {
  const fields = { ...entry.before, ...entry.after }
  const kept = NAMES.map((field) => fields[field]).find((value) => typeof value === 'string')
  const ownName = NAMED_BY_ID.includes(about.kind) ? about.id : kept
  const name = nameOf(about.id) ?? ownName ?? ''
  const known = AUDIT_SENTENCES[action]?.(name) ?? `${action} ${name}`
  return known.replaceAll(/ +/g, ' ').trim() + (count === 1 ? '' : ` ${grouped(count)} times`)
}

/** An action in the filter: its sentence without a name. */
export function actionName(action: string): string {
  return (AUDIT_SENTENCES[action]?.('') ?? action).replaceAll(/ +/g, ' ').trim()
}

const SECURITY = ['settings', 'security'] as const
const ALERTS = ['settings', 'alerts'] as const

/** The page, and the part of it, by what stands before the dot of an action; those with no part have an id there. */
const PLACES: Readonly<Record<string, readonly [page: PageName, part?: string]>> = {
  key: ['keys', ''],
  bridge: ['lines', ''],
  webhook: ['webhooks'],
  line: ['lines'],
  message: ['messages'],
  conversation: ['conversations'],
  contacts: ['people', ''],
  opt_out: ['people', ''],
  box: ['boxes', ''],
  rollout: ['boxes', ''],
  finding: ['home', ''],
  setting: ['settings', ''],
  site: ['settings', 'sites'],
  member: ['settings', 'members'],
  alert_channel: ALERTS,
  alert_rule: ALERTS,
  backup: ['settings', 'backups'],
  relay: ['settings', 'updates'],
  password: SECURITY,
  second_factor: SECURITY,
  session: SECURITY,
  setup_link: SECURITY,
}

/** The address of what was changed, or of its list if it was deleted; null if it has no page. */
export function placeOf(action: string, id: string | null): string | null {
  const [thing = '', what] = action.split('.')
  const place = PLACES[thing]
  if (place === undefined) return null
  const [page, part = what === 'deleted' ? '' : (id ?? '')] = place
  return href(page, part === '' ? [] : [part])
}

/** The changed fields, one sentence each. */
export function changeWords({ before, after }: AuditEntry, nameOf: NameOf): readonly string[] {
  const fields = Object.keys({ ...before, ...after })
  return fields.flatMap((field) => {
    const [old, now] = [before?.[field], after?.[field]]
    const name = fieldName(field)
    if (old !== undefined)
      return [`${name}: ${valueWords(old, nameOf)} → ${valueWords(now, nameOf)}`]
    return now === null ? [] : [`${name}: ${valueWords(now, nameOf)}`]
  })
}

/** "Active" for `is_active`, "Phone lines" for `phone_line_ids`. */
function fieldName(field: string): string {
  if (field === 'url') return 'URL'
  const words = field
    .replace(/^is_/, '')
    .replace(/_id(s?)$/, '$1')
    .replaceAll('_', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/
const WORDS: Readonly<Record<string, string>> = { true: 'yes', false: 'no', null: 'none' }

/** A value of a change in words: times are local, and things have their names. */
function valueWords(value: unknown, nameOf: NameOf): string {
  if (Array.isArray(value))
    return value.map((each) => valueWords(each, nameOf)).join(', ') || 'none'
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value)
    return fields.map(([name, each]) => `${fieldName(name)} ${valueWords(each, nameOf)}`).join(', ')
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  if (text.startsWith('{')) return valueWords(JSON.parse(text), nameOf)
  return WORDS[text] ?? nameOf(text) ?? (ISO_TIME.test(text) ? momentWords(text) : text)
}

const LOG_TIME = formatter({ dateStyle: 'short', timeStyle: 'medium' })
/** The least number that is a time, in milliseconds since 1970. */
const TIMES_FROM = 1e12

/** A log line as text, with local times and with the names of things. */
export function lineWords({ time, level, message, fields }: LogLine, nameOf: NameOf): string {
  const words = (value: unknown) => {
    if (typeof value === 'number' && value >= TIMES_FROM) return LOG_TIME().format(value)
    if (typeof value !== 'string') return JSON.stringify(value)
    return JSON.stringify(
      nameOf(value) ?? (ISO_TIME.test(value) ? LOG_TIME().format(Date.parse(value)) : value),
    )
  }
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${words(value)}`)
  return [LOG_TIME().format(Date.parse(time)), level, message, ...pairs].join(' ')
}
