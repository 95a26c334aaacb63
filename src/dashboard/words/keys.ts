import type { CreatedKey, Key, KeyRules } from '../../api/keys.ts'
import type { Conversation } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { Site } from '../../api/sites.ts'
import { expandScopes, type ScopeGroup, type Scope } from '../../domain/permissions.ts'
import { conversationName } from '../people.ts'
import { dateWords } from '../time-words.ts'
import { countWords, grouped } from './common.ts'
import { type Kinds, lineName, practiceNumbers, isReady } from './line-states.ts'

export const KEYS = {
  newKey: 'New key',
  name: 'Name',
  key: 'Key',
  permissions: 'Permissions',
} as const

const CREATORS: Readonly<Record<string, string>> = {
  cli: 'the command line',
  dashboard: 'the dashboard',
}

/** The name to type in order to revoke the key. */
export function keyName({ name, key_hint }: Pick<Key, 'name' | 'key_hint'>): string {
  return name === null || name.trim() === '' ? key_hint : name
}

/** The maker of a key, or who rotated it; another key by its name, if it is still listed. */
export function creatorWords(
  { created_by, rotated_by: maker = created_by }: Key,
  keys: readonly Key[],
): string {
  const creator = keys.find(({ id }) => id === maker)
  return creator === undefined ? (CREATORS[maker] ?? 'another key') : keyName(creator)
}

type Choice<T extends string = string> = { readonly value: T; readonly text: string }

/** The default choice comes first. */
export const SCOPE_CHOICES: readonly (Choice & {
  readonly scopes: readonly (Scope | ScopeGroup)[] | null
})[] = [
  { value: 'both', text: 'read and send', scopes: ['read', 'send'] },
  { value: 'read', text: 'only read', scopes: ['read'] },
  { value: 'send', text: 'only send', scopes: ['send'] },
  {
    value: 'webhooks',
    text: 'read, send and manage webhooks',
    scopes: ['read', 'send', 'webhooks:read', 'webhooks:write'],
  },
  { value: 'all', text: 'do everything', scopes: null },
]
export const RECIPIENT_CHOICES: readonly Choice<KeyRules['recipients']>[] = [
  { value: 'anyone', text: 'anyone' },
  { value: 'known', text: 'people you have written with' },
  { value: 'replied_within_24h', text: 'people who wrote within 24 hours' },
  { value: 'list', text: 'certain people only' },
]
export const APPROVAL_CHOICES: readonly Choice<KeyRules['approval']>[] = [
  { value: 'never', text: 'no approval' },
  { value: 'new_contacts', text: 'approval for new contacts' },
  { value: 'always', text: 'approval for every message' },
]

const LIST = new Intl.ListFormat('en', { style: 'narrow' })

export const EXPIRY_CHOICES: readonly Choice[] = [
  { value: '', text: 'until revoked' },
  { value: '30', text: 'for 30 days' },
  { value: '90', text: 'for 90 days' },
  { value: '365', text: 'for a year' },
]

type Limit = 'scopes' | 'phone_line_ids' | 'site_ids' | 'conversation_ids' | 'rules' | 'expires_at'

/** "May read and send on Shop to anyone, at most 30 messages an hour." */
export function keySentence(
  key: Pick<Key, Limit | 'for'>,
  lines: readonly PhoneLine[],
  latest: readonly Conversation[] = [],
  sites: readonly Site[] = [],
): string {
  const { scopes, phone_line_ids: ids, conversation_ids, rules, expires_at: end } = key
  const limits = [scopes, ids, key.site_ids, conversation_ids, rules, end, key.for]
  const isPlain = limits.every((limit) => limit === undefined)
  if (isPlain) return 'May do everything'
  const parts = [
    scopes === undefined ? 'May do everything' : `May ${scopeWords(scopes)}`,
    ids && `on ${lineWords(ids, lines)}`,
    key.site_ids && `on lines of ${siteWords(key.site_ids, sites)}`,
    conversation_ids && `in ${conversationWords(conversation_ids, latest)}`,
    ...(rules === undefined ? [] : ruleWords(rules)),
    key.for && `through ${key.for} only`,
    end && `until ${dateWords(end)}`,
  ]
  return parts.filter(Boolean).join(', ')
}

function ruleWords(rules: NonNullable<Key['rules']>): readonly (string | false)[] {
  const { sends_per_hour: hour, sends_per_day: day, quiet_hours: quiet } = rules
  const textOf = (choices: readonly Choice[], chosen: string) =>
    choices.find(({ value }) => value === chosen)?.text ?? chosen
  return [
    rules.recipients !== 'anyone' && `to ${textOf(RECIPIENT_CHOICES, rules.recipients)}`,
    hour !== null && `at most ${grouped(hour)} messages an hour`,
    day !== null && `at most ${grouped(day)} messages in 24 hours`,
    rules.approval !== 'never' && `with ${textOf(APPROVAL_CHOICES, rules.approval)}`,
    quiet !== null && `not from ${quiet.from} to ${quiet.to}`,
  ]
}

function scopeWords(scopes: readonly string[]): string {
  const same = SCOPE_CHOICES.find(
    (choice) => choice.scopes !== null && String(expandScopes(choice.scopes)) === String(scopes),
  )
  return same?.text ?? LIST.format(scopes)
}

function lineWords(ids: readonly string[], lines: readonly PhoneLine[]): string {
  const names = ids.map((id) => lines.find((line) => line.id === id))
  return LIST.format(names.map((line, place) => (line ? lineName(line) : (ids[place] ?? ''))))
}

function siteWords(ids: readonly string[], sites: readonly Site[]): string {
  return LIST.format(ids.map((id) => sites.find((site) => site.id === id)?.name ?? id))
}

/** One conversation by its name, if it is one of the latest. */
function conversationWords(ids: readonly string[], latest: readonly Conversation[]): string {
  const found = latest.find(({ id }) => id === ids[0])
  if (ids.length !== 1 || found === undefined) return countWords(ids.length, 'conversation')
  return `the conversation with ${conversationName(found)}`
}

/** A command that sends a first message. Works as is with a simulated line; otherwise a number must be filled in. */
export function firstCall(
  created: Pick<CreatedKey, 'id' | 'key' | 'secret' | Exclude<Limit, 'expires_at'>>,
  { lines: all, kinds }: { readonly lines: readonly PhoneLine[]; readonly kinds: Kinds },
  origin: string,
) {
  const { id: keyId, key, secret, scopes, phone_line_ids: ids, site_ids: sites } = created
  const lines = all.filter(
    ({ id, site_id: site = '' }) => ids?.includes(id) !== false && sites?.includes(site) !== false,
  )
  const headers = `  -H 'X-API-Key: ${key}' \\\n  -H 'X-API-Secret: ${secret}'`
  if (scopes?.includes('messages:send') === false) {
    const curl = `curl ${origin}/api/v1/messages \\\n${headers}`
    return { title: 'Read messages', curl, recipient: '' }
  }
  const write = (path: string, body: object) =>
    [
      `curl -X POST ${origin}/api/v1/${path} \\`,
      `${headers} \\`,
      `  -H 'Idempotency-Key: ${keyId}-hello-1' \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d '${JSON.stringify(body)}'`,
    ].join('\n')
  const [conversation] = created.conversation_ids ?? []
  if (conversation !== undefined) {
    const curl = write(`conversations/${conversation}/messages`, { text: HELLO })
    return { title: 'Send a first message', curl, recipient: '' }
  }
  const isForAnyone = created.rules === undefined || created.rules.recipients === 'anyone'
  const { line, reader } = firstLine(lines, kinds)
  const to = isForAnyone ? (reader ?? 'NUMBER') : 'NUMBER'
  const named = line === undefined ? {} : { phone_line_id: line.id }
  const curl = write('messages/send', { to, text: HELLO, ...named })
  const replace = isForAnyone
    ? 'Replace NUMBER with one of your own phone numbers, e.g. +12025550123.'
    : 'Replace NUMBER with someone the key is allowed to write to.'
  return {
    title: 'Send a first message',
    curl,
    recipient:
      to === 'NUMBER' ? replace : 'Works as is: a simulated line sends to a simulated contact.',
  }
}

const HELLO = 'Hello from Hookline'

/** Prefers a simulated line; `reader` is its simulated contact. */
function firstLine(lines: readonly PhoneLine[], kinds: Kinds) {
  const ready = lines.filter(isReady)
  const practice = ready.find((each) => practiceNumbers(each, kinds) !== null)
  const reader = practice && practiceNumbers(practice, kinds)?.reader
  return { line: practice ?? ready[0] ?? lines[0], reader }
}
