// How a key is told, and the first call that one makes with it.

import { isReady } from '../line-words.ts'
import type { CreatedKey, Key, PhoneLine } from '../resources.ts'

const MAKERS: Readonly<Record<string, string>> = {
  cli: 'the command line',
  dashboard: 'the dashboard',
}

/** What one types in order to revoke it. */
export function keyName({ name, key_hint }: Pick<Key, 'name' | 'key_hint'>): string {
  return name === null || name.trim() === '' ? key_hint : name
}

/** Who made it; another key by its name, where that is still listed. */
export function makerWords({ created_by }: Key, keys: readonly Key[]): string {
  const maker = keys.find(({ id }) => id === created_by)
  return maker === undefined ? (MAKERS[created_by] ?? 'another key') : keyName(maker)
}

export type FirstCall = {
  readonly curl: string
  /** Whom it goes to, in a sentence. */
  readonly recipient: string
}

/**
 * A message that leaves as soon as the lines are pasted: by a simulated line where there is one, which
 * writes to nobody. On a real line the reader puts in a number first.
 */
export function firstCall(
  { key, secret }: Pick<CreatedKey, 'key' | 'secret'>,
  lines: readonly PhoneLine[],
  origin: string,
): FirstCall {
  const ready = lines.filter(isReady)
  const simulated = ready.find((one) => one.driver === 'simulated')
  const line = simulated ?? ready[0] ?? lines[0]
  const to = simulated === undefined ? 'NUMBER' : '+12025550123'
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
    simulated === undefined
      ? 'Put the number of a phone of yours in the place of NUMBER, as +12025550123.'
      : 'It works as it stands: a simulated line writes to a simulated person.'
  return { curl, recipient }
}
