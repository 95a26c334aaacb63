// The circuit breaker of a webhook's receiver. After two failures in a row, a probe is sent now and then, whatever
// the schedules of its deliveries say, so that a recovered receiver is noticed soon. After five failures in a
// row the breaker is open: only probes are sent, one at a time, until the first success closes it. Pure: the
// delivery loop keeps the state and reports what happened.

import { timestamp, type Timestamp } from './ids.ts'
import type { DisabledReason } from './webhook.ts'

export type Breaker = {
  /** Failures since the last success; while open, only probes count, and while closed, everything else. */
  readonly failuresInRow: number
  /** Time of the first of these failures. */
  readonly failingSince: Timestamp | null
  /** The end of a pause that the receiver asked for: until then, nothing is sent except what the owner requests. */
  readonly restUntil: Timestamp | null
  /** The time when the next probe is due; null if none is needed, or an open breaker hasn't had one yet. */
  readonly probeAt: Timestamp | null
  /** Time of the first 410 answer. */
  readonly goneAt: Timestamp | null
}

export type Failure = {
  readonly startedAt: Timestamp
  readonly at: Timestamp
  readonly statusCode: number | null
  /** Milliseconds for which the receiver asked not to be called. */
  readonly askedMs: number | null
  readonly isProbe: boolean
  /** True if the receiver refuses this event itself: it failed before, and another event succeeded since. */
  readonly isOfEvent: boolean
  /** Age in milliseconds, counting only confirmed time. */
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
/** A receiver that was down for ten minutes is noticed within one. */
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

/** True if the webhook is shown as failing. */
export function isFailing(
  { isActive, breaker }: { readonly isActive: boolean; readonly breaker: Breaker },
  isUnreachable: boolean,
): boolean {
  return isActive && (isUnreachable || isOpen(breaker))
}

/** True if it is time to check the receiver again. */
export function isProbeDue(breaker: Breaker, now: number): boolean {
  const { probeAt } = breaker
  return probeAt === null ? isOpen(breaker) : probeAt <= now
}

/** The breaker after a success: closed. Only a probe ends a rest that the receiver asked for. */
export function afterSuccess(breaker: Breaker, isProbe: boolean): Breaker {
  const isUntouched = breaker.failuresInRow === 0 && breaker.goneAt === null
  if (isUntouched) return breaker
  return { ...CLOSED, restUntil: isProbe ? null : breaker.restUntil }
}

/** True if nothing has succeeded for so long that the receiver was down, rather than refusing one event. */
export function wasAway({ failingSince }: Breaker, now: number): boolean {
  return failingSince !== null && now - failingSince >= PROBE_MS_MIN
}

/** The breaker after a failure, and why the webhook must be deactivated, if it must. */
export function afterFailure(
  breaker: Breaker,
  failure: Failure,
): { readonly breaker: Breaker; readonly disable: DisabledReason | null } {
  const { at, isProbe, askedMs, isOfEvent } = failure
  const { failuresInRow } = breaker
  const isStray = isOpen(breaker) && !isProbe
  const isRelevant = !isStray && !(isOfEvent && breaker.failingSince === null)
  const failingSince = breaker.failingSince ?? at
  const asked = askedMs === null ? null : plus(at, askedMs)
  const next: Breaker = {
    failuresInRow: failuresInRow + (isOpen(breaker) === isProbe && !isOfEvent ? 1 : 0),
    failingSince: isRelevant ? failingSince : breaker.failingSince,
    restUntil: later(breaker.restUntil, asked),
    // After one failure, the first retry comes soon enough to distinguish an outage from a single refusal.
    probeAt: isRelevant && failuresInRow > 0 ? probeAfter(failure, failingSince) : breaker.probeAt,
    goneAt: goneAfter(breaker, failure),
  }
  return { breaker: next, disable: reasonToDisable(next, failure) }
}

/** The breaker for a new URL: it gets a probe at once, and counts its own time of failing. */
export function forNewUrl(breaker: Breaker): Breaker {
  return { ...CLOSED, failuresInRow: Math.min(breaker.failuresInRow, OPENS_AT_FAILURES) }
}

/** The breaker after the wall clock was set back by `ms`. */
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

/** Limits the rest and the next probe to their maximum, in case the clock was set back. */
export function clamped(breaker: Breaker, now: number): Breaker {
  return {
    ...breaker,
    restUntil: sooner(breaker.restUntil, now + REST_MS_MAX),
    probeAt: sooner(breaker.probeAt, now + PROBE_MS_MAX),
  }
}

/** The time of the next probe: a tenth of the outage so far after the last attempt began. */
function probeAfter({ startedAt, at }: Failure, failingSince: Timestamp): Timestamp {
  const delayMs = (at - failingSince) * PROBE_SHARE
  return plus(startedAt, Math.min(Math.max(delayMs, PROBE_MS_MIN), PROBE_MS_MAX))
}

/** Any other answer cancels a 410; a missing answer doesn't. */
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

/** The later time; null if both are null. */
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
