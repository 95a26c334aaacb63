import type { CreatedKey, Key, PhoneLine } from '../resources.ts'
import { grouped } from './common.ts'
import { type Kinds, practiceNumbers, isReady } from './line-states.ts'

export const KEYS = {
  title: 'Keys',
  lead: 'Use a separate key for each app so you can revoke them individually.',
  newKey: 'New key',
  none: 'No keys yet',
  whyNone:
    'Apps need a key to send and receive. Create one, and run the command that comes with it.',
  active: 'API keys',
  revoked: 'Revoked keys',
  revokedCount: (count: number) => `Revoked keys (${grouped(count)})`,
  name: 'Name',
  key: 'Key',
  lastUsed: 'Last used',
  created: 'Created',
  by: ' by ',
  revokedAt: 'Revoked',
  revoke: 'Revoke',
  never: 'Never',
  save: 'Save your key and secret',
  create: 'Create key',
  namePlaceholder: 'Booking system',
  nameHint: "The app that uses it. You'll type this name to revoke the key.",
  secret: 'Secret',
  command: 'Command',
  firstMessage: 'Send a first message',
  keep: "You won't see the secret again. Keep both private, and give them only to your app.",
  didRevoke: 'Key revoked.',
  revokeThis: 'Revoke this key?',
  revokeWords:
    "Apps that use it will lose access immediately. This can't be undone. To confirm, type ",
  typed: 'Key name',
  typedHint: (start: string) => `Or the start of the key: ${start}`,
  leftTitle: 'Key revoked. What it created still works.',
  leftWords:
    'These were created with this key and are still active. Check that you recognize them.',
  reviewWebhooks: 'Review webhooks',
  webhooks: 'Webhooks',
  replaceNumber: 'Replace NUMBER with one of your own phone numbers, e.g. +12025550123.',
  worksAsIs: 'Works as is: a simulated line sends to a simulated contact.',
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
  const recipient = reader === undefined ? KEYS.replaceNumber : KEYS.worksAsIs
  return { curl, recipient }
}
