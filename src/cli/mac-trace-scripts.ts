// What the running relay tells of its script for Messages while a trace is recorded: which stages it came
// through, by which route, how long it took, and what the accounts of Messages are like.

import type { ScriptCall } from '../api/owner.ts'
import { NoRelayError } from './command.ts'
import { RefusedError, type ControlClient } from './control-client.ts'

export type ScriptEntry = {
  /** Milliseconds from the start of the trace; below zero for what was known of the accounts before. */
  readonly t: number
  readonly op: 'script' | 'no_relay'
  readonly set: Readonly<Record<string, unknown>>
}

/** Asks for the runs since `startedAt` (milliseconds since 1970), oldest first. */
export async function scriptEntries(
  reach: () => Promise<Pick<ControlClient, 'ask'>>,
  startedAt: number,
): Promise<readonly ScriptEntry[]> {
  try {
    const client = await reach()
    const { data } = await client.ask('GET /script-calls', { timeoutMs: 5_000 })
    const all = data.map((call) => entryOf(call, startedAt))
    const known = all.findLast(({ t, set }) => t < 0 && set['mode'] === 'account')
    const since = all.filter(({ t }) => t >= 0)
    return known === undefined ? since : [known, ...since]
  } catch (error) {
    // The rows are worth having without it. A relay of another version has no such route.
    const why = error instanceof Error ? error.name : 'unknown'
    if (error instanceof NoRelayError || error instanceof RefusedError) return [noRelay(why)]
    throw error
  }
}

function entryOf({ at, ...set }: ScriptCall, startedAt: number): ScriptEntry {
  return { t: Math.round(at - startedAt), op: 'script', set }
}

function noRelay(why: string): ScriptEntry {
  return { t: 0, op: 'no_relay', set: { why } }
}
