import type { CreatedKey, Key, KeyRules } from '../../api/keys.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { expandScopes, type ScopeGroup, type Scope } from '../../domain/permissions.ts'
import { dateWords } from '../time-words.ts'
import { grouped } from './common.ts'
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

/** The creator of a key; another key by its name, if it is still listed. */
export function creatorWords({ created_by }: Key, keys: readonly Key[]): string {
  const creator = keys.find(({ id }) => id === created_by)
  return creator === undefined ? (CREATORS[created_by] ?? 'another key') : keyName(creator)
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

/** "May read and send on Shop to anyone, at most 30 messages an hour." */
export function keySentence(key: Key, lines: readonly PhoneLine[]): string {
  const { for: api, scopes, phone_line_ids: ids, rules, expires_at: end } = key
  const isPlain = [api, scopes, ids, rules, end].every((limit) => limit === undefined)
  if (isPlain) return 'May do everything'
  const parts = [
    scopes === undefined ? 'May do everything' : `May ${scopeWords(scopes)}`,
    api && `through ${api} only`,
    ids && `on ${lineWords(ids, lines)}`,
    ...(rules === undefined ? [] : ruleWords(rules)),
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

/** A command that sends a first message. Works as is with a simulated line; otherwise a number must be filled in. */
export function firstCall(
  created: Pick<CreatedKey, 'id' | 'key' | 'secret' | 'scopes' | 'phone_line_ids' | 'rules'>,
  { lines: all, kinds }: { readonly lines: readonly PhoneLine[]; readonly kinds: Kinds },
  origin: string,
) {
  const { id: keyId, key, secret, scopes, phone_line_ids: ids } = created
  const lines = all.filter(({ id }) => ids?.includes(id) !== false)
  const headers = `  -H 'X-API-Key: ${key}' \\\n  -H 'X-API-Secret: ${secret}'`
  if (scopes?.includes('messages:send') === false) {
    const curl = `curl ${origin}/api/v1/messages \\\n${headers}`
    return { title: 'Read messages', curl, recipient: '' }
  }
  const isForAnyone = created.rules === undefined || created.rules.recipients === 'anyone'
  const { line, reader } = firstLine(lines, kinds)
  const to = isForAnyone ? (reader ?? 'NUMBER') : 'NUMBER'
  const named = line === undefined ? {} : { phone_line_id: line.id }
  const body = JSON.stringify({ to, text: 'Hello from Hookline', ...named })
  const curl = [
    `curl -X POST ${origin}/api/v1/messages/send \\`,
    `${headers} \\`,
    `  -H 'Idempotency-Key: ${keyId}-hello-1' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
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

/** Prefers a simulated line; `reader` is its simulated contact. */
function firstLine(lines: readonly PhoneLine[], kinds: Kinds) {
  const ready = lines.filter(isReady)
  const practice = ready.find((each) => practiceNumbers(each, kinds) !== null)
  const reader = practice && practiceNumbers(practice, kinds)?.reader
  return { line: practice ?? ready[0] ?? lines[0], reader }
}
