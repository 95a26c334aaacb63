import { type Kinds, practiceNumbers, isReady } from './line-words.ts'
import type { CreatedKey, Key, PhoneLine } from './resources.ts'

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

type FirstCall = {
  readonly curl: string
  readonly recipient: string
}

/**
 * A command that sends a message as soon as it is pasted: via a simulated line where there is one. On a
 * real line the reader fills in a number first.
 */
export function firstCall(
  { key, secret }: Pick<CreatedKey, 'key' | 'secret'>,
  { lines, kinds }: { readonly lines: readonly PhoneLine[]; readonly kinds: Kinds },
  origin: string,
): FirstCall {
  const ready = lines.filter(isReady)
  const practice = ready.find((each) => practiceNumbers(each, kinds) !== null)
  const line = practice ?? ready[0] ?? lines[0]
  const reader = practice && practiceNumbers(practice, kinds)?.reader
  const to = reader ?? 'NUMBER'
  const named = line === undefined ? {} : { phone_line_id: line.id }
  const body = JSON.stringify({ to, text: 'Hello from Hookline', ...named })
  const curl = [
    `curl -X POST ${origin}/api/v1/messages/send \\`,
    `  -H 'X-API-Key: ${key}' \\`,
    `  -H 'X-API-Secret: ${secret}' \\`,
    `  -H "Idempotency-Key: hello-$(date +%s)" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
  const recipient =
    reader === undefined
      ? 'Replace NUMBER with one of your own phone numbers, e.g. +12025550123.'
      : 'Works as is: a simulated line sends to a simulated contact.'
  return { curl, recipient }
}
