import { timestamp } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { readEvent } from '../storage/events.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import { delayAfter, type Tried, type Turn } from './attempt.ts'
import type { Post, PostResult } from './post.ts'
import { signingSecrets, type SigningSecret } from './secrets.ts'
import { signedHeaders } from './signature.ts'

export type CourierParts = {
  readonly db: Db
  readonly clock: ConfirmedClock
  readonly random: Random
  readonly log: Log
  readonly post: Post
  readonly scheduleMs: readonly number[]
  readonly userAgent: string
}

export type Receiver = { readonly url: string; readonly secrets: readonly SigningSecret[] }

export type Errand =
  | { readonly errand: 'tried'; readonly tried: Tried }
  | { readonly errand: 'unreachable' }
  | { readonly errand: 'aborted' }

/** Makes one attempt: reads the event, signs it with the time of this attempt, and posts it. */
export async function runErrand(
  parts: CourierParts,
  receiver: Receiver,
  turn: Turn,
  signal: AbortSignal,
): Promise<Errand> {
  const { clock, random, scheduleMs } = parts
  const startedAt = timestamp(clock.now())
  const startedMonotonic = clock.monotonic()
  const result = await postSigned(parts, receiver, turn, signal)
  if (result.result === 'unreachable' || result.result === 'aborted') {
    return { errand: result.result }
  }
  const durationMs = Math.round(clock.monotonic() - startedMonotonic)
  const delayMs = delayAfter({ turn, startedAt, result }, scheduleMs, random.chance())
  return { errand: 'tried', tried: { turn, startedAt, durationMs, result, delayMs } }
}

async function postSigned(
  { db, clock, log, post, userAgent }: CourierParts,
  { url, secrets }: Receiver,
  turn: Turn,
  signal: AbortSignal,
): Promise<PostResult> {
  try {
    const event = readEvent(db, turn.delivery.eventSeq)
    const keys = signingSecrets(secrets, clock)
    // Neither can be by the rules of the database and of the lane; nothing goes out unsigned.
    if (event === null || keys.length === 0) return { result: 'aborted' }
    // Receivers compare it with their own clocks.
    const signed = { ...event, timestamp: Math.floor(clock.wall() / 1_000) }
    const headers = { ...signedHeaders(signed, keys), 'user-agent': userAgent }
    return await post({ url, headers, body: event.body }, signal)
  } catch (error) {
    log.error('a webhook attempt broke off', { error })
    return { result: 'failed', error: 'network_error', isPrivateTarget: true }
  }
}
