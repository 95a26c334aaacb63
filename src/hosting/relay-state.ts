// How a relay is, as its control socket tells, and the waits for it to be otherwise.

import type { Clock } from '../system/clock.ts'

export type RelayState =
  /** Nobody answers. */
  | { readonly is: 'absent' }
  /** The process lives, and is not ready: it starts or stops. */
  | { readonly is: 'starting' }
  /** Its database is open and migrated. */
  | { readonly is: 'ready' }
  /** Its database cannot be used, and a person is needed; `reason` is whole sentences. */
  | { readonly is: 'safe_mode'; readonly reason: string }

/** The relay of a data directory, from outside. */
export type WatchedRelay = {
  state(): Promise<RelayState>
  /** Tells it that it may serve; throws where it does not take that. */
  acquit(): Promise<void>
}

type Tools = { readonly clock: Clock; readonly relay: WatchedRelay }

const LOOK_AGAIN_MS = 250
/** A process that has ended may leave its socket for a moment. */
const GONE_MS_MAX = 5_000
const ACQUIT_MS_MAX = 10_000

/** Whether nobody answers any more, within five seconds. */
export async function waitUntilGone(tools: Tools): Promise<boolean> {
  const isGone = async () => ((await tools.relay.state()).is === 'absent' ? true : null)
  return (await eventually(tools.clock, GONE_MS_MAX, isGone)) ?? false
}

/** Null as soon as the relay is ready, else why it is not: a sentence without its beginning. */
export async function waitUntilReady(tools: Tools, limitMs: number): Promise<string | null> {
  const verdict = await eventually(tools.clock, limitMs, async () => {
    const state = await tools.relay.state()
    if (state.is === 'ready') return { why: null }
    return state.is === 'safe_mode' ? { why: `it is in safe mode: ${state.reason}` } : null
  })
  if (verdict !== null) return verdict.why
  return `it was not ready within ${Math.round(limitMs / 1_000)} seconds.`
}

/** Tells the relay, again and again for ten seconds, that it may serve; null, or why it did not hear. */
export async function tellHealthy(tools: Tools): Promise<string | null> {
  let why = ''
  const isTold = await eventually(tools.clock, ACQUIT_MS_MAX, async () => {
    try {
      await tools.relay.acquit()
      return true
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
      return null
    }
  })
  return isTold === null ? `it does not take the word that it may serve (${why}).` : null
}

/** The first answer that is not null, or null after `limitMs`. */
async function eventually<T>(
  clock: Clock,
  limitMs: number,
  ask: () => Promise<T | null>,
): Promise<T | null> {
  const never = new AbortController().signal
  const until = clock.monotonic() + limitMs
  for (;;) {
    const isLast = clock.monotonic() >= until
    const answer = await ask()
    if (answer !== null || isLast) return answer
    await clock.sleep(LOOK_AGAIN_MS, never)
  }
}
