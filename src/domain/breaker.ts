// The relay's opinion of a receiver. Once it has failed twice in a row, a probe goes out now and then whatever the
// schedules of its deliveries say, so that a receiver that is back is noticed soon. After five failures
// in a row the breaker is open: nothing but probes goes out, one at a time, until the first success
// closes it. Pure: the delivery loop keeps the state and says what happened.

import { timestamp, type Timestamp } from './ids.ts'
import type { DisabledReason } from './webhook.ts'

export type Breaker = {
  /** Failures since the last success: of probes while it is open, of all others while it is closed. */
  readonly failuresInRow: number
  /** Time of the first of them. */
  readonly failingSince: Timestamp | null
  /** Until then nothing goes out but what the owner asks for: the receiver's own wish. */
  readonly restUntil: Timestamp | null
  /** Time at which the next probe is due; null where none is needed, or an open breaker has had none. */
  readonly probeAt: Timestamp | null
  /** Time of its first 410. */
  readonly goneAt: Timestamp | null
}

export type Failure = {
  readonly startedAt: Timestamp
  readonly at: Timestamp
  readonly statusCode: number | null
  /** Milliseconds for which the receiver asked to be left alone. */
  readonly askedMs: number | null
  readonly isProbe: boolean
  /** True where the event itself is refused: it failed before, and another event succeeded since. */
  readonly isOfEvent: boolean
  /** Age of something, counting confirmed time only. */
  readonly ageOf: (at: Timestamp) => number
}

export const CLOSED: Breaker = {
  failuresInRow: 0,
  failingSince: null,
  restUntil: null,
  probeAt: null,
  goneAt: null,
}

const OPENS_AT_FAILURES = 5
/** A receiver that was away for ten minutes is noticed within one. */
const PROBE_SHARE = 1 / 10
const PROBE_MS_MIN = 2_000
const PROBE_MS_MAX = 5 * 60_000
const REST_MS_MAX = 24 * 3_600_000
const GONE_MS_MIN = 60_000
const FAILING_MS_MIN = 5 * 24 * 3_600_000
const FAILING_FAILURES_MIN = 10

export function isOpen(breaker: Breaker): boolean {
  return breaker.failuresInRow >= OPENS_AT_FAILURES
}

/** What "failing" means wherever the state of a webhook is shown. */
export function isFailing(
  { isActive, breaker }: { readonly isActive: boolean; readonly breaker: Breaker },
  isUnreachable: boolean,
): boolean {
  return isActive && (isUnreachable || isOpen(breaker))
}

/** True when it is time to check whether the receiver is back. */
export function isProbeDue(breaker: Breaker, now: number): boolean {
  const { probeAt } = breaker
  return probeAt === null ? isOpen(breaker) : probeAt <= now
}

/** A success forgives everything; a rest that the receiver asked for ends by a probe only. */
export function afterSuccess(breaker: Breaker, isProbe: boolean): Breaker {
  const isUntouched = breaker.failuresInRow === 0 && breaker.goneAt === null
  if (isUntouched) return breaker
  return { ...CLOSED, restUntil: isProbe ? null : breaker.restUntil }
}

/** True when nothing has succeeded for so long that the receiver was down, rather than refused one event. */
export function wasAway({ failingSince }: Breaker, now: number): boolean {
  return failingSince !== null && now - failingSince >= PROBE_MS_MIN
}

/** The breaker after a failure, and why the webhook must be deactivated, or null. */
export function afterFailure(
  breaker: Breaker,
  failure: Failure,
): { readonly breaker: Breaker; readonly disable: DisabledReason | null } {
  const { at, isProbe, askedMs, isOfEvent } = failure
  const { failuresInRow } = breaker
  const isStray = isOpen(breaker) && !isProbe
  const isNews = !isStray && !(isOfEvent && breaker.failingSince === null)
  const failingSince = breaker.failingSince ?? at
  const asked = askedMs === null ? null : plus(at, askedMs)
  const next: Breaker = {
    failuresInRow: failuresInRow + (isOpen(breaker) === isProbe && !isOfEvent ? 1 : 0),
    failingSince: isNews ? failingSince : breaker.failingSince,
    restUntil: later(breaker.restUntil, asked),
    // The first retry of a delivery is soon enough to distinguish an outage from a single refusal.
    probeAt: isNews && failuresInRow > 0 ? probeAfter(failure, failingSince) : breaker.probeAt,
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
    probeAt: moved(breaker.probeAt),
    goneAt: moved(breaker.goneAt),
  }
}

/** No rest and no probe further away than it can be, by a clock that may have stepped meanwhile. */
export function clamped(breaker: Breaker, now: number): Breaker {
  return {
    ...breaker,
    restUntil: sooner(breaker.restUntil, now + REST_MS_MAX),
    probeAt: sooner(breaker.probeAt, now + PROBE_MS_MAX),
  }
}

/** A tenth of the time for which the receiver has been away, from when the last attempt began. */
function probeAfter({ startedAt, at }: Failure, failingSince: Timestamp): Timestamp {
  const delayMs = (at - failingSince) * PROBE_SHARE
  return plus(startedAt, Math.min(Math.max(delayMs, PROBE_MS_MIN), PROBE_MS_MAX))
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

/** Null where neither is known. */
export function later(a: Timestamp | null, b: Timestamp | null): Timestamp | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}

function sooner(at: Timestamp | null, latest: number): Timestamp | null {
  return at === null || at <= latest ? at : timestamp(latest)
}

function plus(at: Timestamp, ms: number): Timestamp {
  return timestamp(Math.round(at + ms))
}
