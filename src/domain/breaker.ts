// What the relay thinks of a receiver. After five failures in a row the breaker is open: only one
// probe at a time goes out, with rests in between, until the first success closes it. Pure: the
// delivery loop keeps the state and says what happened.

import { timestamp, type Timestamp } from './ids.ts'
import type { DisabledReason } from './webhook.ts'

export type Breaker = {
  /** Failures since the last success; those in flight when it opened are left out. */
  readonly failuresInRow: number
  /** When the first of them was. */
  readonly failingSince: Timestamp | null
  /** Until when nothing goes out, except what somebody asks for. */
  readonly restUntil: Timestamp | null
  /** When it answered 410 for the first time. */
  readonly goneAt: Timestamp | null
}

export type Failure = {
  readonly at: Timestamp
  readonly statusCode: number | null
  /** What the receiver asked for by `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null
  /** Whether the breaker was open when the attempt began. */
  readonly isProbe: boolean
  /** How long ago something was, counting only time that is confirmed. */
  readonly ageOf: (at: Timestamp) => number
}

export const CLOSED: Breaker = {
  failuresInRow: 0,
  failingSince: null,
  restUntil: null,
  goneAt: null,
}

const OPENS_AT_FAILURES = 5
const REST_MS_MAX = 5 * 60_000
const RETRY_AFTER_MS_MAX = 24 * 3_600_000
const GONE_MS_MIN = 60_000
const FAILING_MS_MIN = 5 * 24 * 3_600_000
const FAILING_FAILURES_MIN = 10

export function isOpen(breaker: Breaker): boolean {
  return breaker.failuresInRow >= OPENS_AT_FAILURES
}

/** A success forgives everything; a rest that a closed breaker's receiver asked for stays. */
export function afterSuccess(breaker: Breaker): Breaker {
  const isUntouched = breaker.failuresInRow === 0 && breaker.goneAt === null
  if (isUntouched) return breaker
  return { ...CLOSED, restUntil: isOpen(breaker) ? null : breaker.restUntil }
}

/**
 * The breaker after a failure, and why the webhook must be deactivated, or null. `scheduleMs` are
 * the delays between attempts: a failed probe rests for them, one after the other.
 */
export function afterFailure(
  breaker: Breaker,
  failure: Failure,
  scheduleMs: readonly number[],
): { readonly breaker: Breaker; readonly disable: DisabledReason | null } {
  const isStray = isOpen(breaker) && !failure.isProbe
  const failuresInRow = breaker.failuresInRow + (isStray ? 0 : 1)
  const failingSince = breaker.failingSince ?? failure.at
  const next: Breaker = {
    failuresInRow,
    failingSince,
    restUntil: later(
      later(breaker.restUntil, isStray ? null : restAfter(failuresInRow, failure.at, scheduleMs)),
      restAsked(failure),
    ),
    goneAt: goneAfter(breaker, failure),
  }
  return { breaker: next, disable: reasonToDisable(next, failure) }
}

/** A new address deserves a probe at once, and its own time to fail. */
export function forNewUrl(breaker: Breaker): Breaker {
  return { ...CLOSED, failuresInRow: Math.min(breaker.failuresInRow, OPENS_AT_FAILURES) }
}

/** The breaker after the wall clock stepped back by `ms`. */
export function movedBack(breaker: Breaker, ms: number): Breaker {
  const moved = (at: Timestamp | null) => (at === null ? null : plus(at, -ms))
  return {
    failuresInRow: breaker.failuresInRow,
    failingSince: moved(breaker.failingSince),
    restUntil: moved(breaker.restUntil),
    goneAt: moved(breaker.goneAt),
  }
}

function restAfter(
  failures: number,
  at: Timestamp,
  scheduleMs: readonly number[],
): Timestamp | null {
  if (failures < OPENS_AT_FAILURES) return null
  const delayMs = scheduleMs[failures - OPENS_AT_FAILURES] ?? scheduleMs.at(-1) ?? REST_MS_MAX
  return plus(at, Math.min(delayMs, REST_MS_MAX))
}

function restAsked({ at, statusCode, retryAfterMs }: Failure): Timestamp | null {
  if (retryAfterMs === null || (statusCode !== 429 && statusCode !== 503)) return null
  return plus(at, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX))
}

/** Any other answer takes a 410 back; no answer at all says nothing about it. */
function goneAfter(breaker: Breaker, { statusCode, at }: Failure): Timestamp | null {
  if (statusCode === null) return breaker.goneAt
  return statusCode === 410 ? (breaker.goneAt ?? at) : null
}

function reasonToDisable(breaker: Breaker, { statusCode, ageOf }: Failure): DisabledReason | null {
  const { goneAt, failingSince, failuresInRow } = breaker
  if (statusCode === 410 && goneAt !== null && ageOf(goneAt) >= GONE_MS_MIN) return 'gone'
  if (failuresInRow < FAILING_FAILURES_MIN || failingSince === null) return null
  return ageOf(failingSince) >= FAILING_MS_MIN ? 'failing' : null
}

function later(a: Timestamp | null, b: Timestamp | null): Timestamp | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}

function plus(at: Timestamp, ms: number): Timestamp {
  return timestamp(at + ms)
}
