// Slots that a webhook earns: attempts to it that may be in flight at once. Memory and sockets are
// bounded, so a receiver that answers earns more of them, and one that hangs holds few. Pure: the
// delivery loop keeps the state.

export type Slots = {
  readonly count: number
  /** Milliseconds that the receiver takes when it is asked one thing at a time; null until it answers. */
  readonly usualMs: number | null
  /** The last loss, by the monotonic clock: an attempt begun before it is no news. */
  readonly lostAt: number
}

/** An attempt that has ended, by the monotonic clock. */
export type Trial = {
  readonly startedAt: number
  readonly endedAt: number
  readonly isSuccess: boolean
  /** Nothing else was in flight to the receiver when it began, nor when it ended. */
  readonly wasAlone: boolean
  /** All slots were taken when it ended: only then is one more of any use. */
  readonly wasFull: boolean
}

/** `untried`: it has not answered yet since the start, and has not failed either. */
export type Standing = 'proven' | 'untried' | 'failing'

/** Attempts in flight: all, and those to receivers that are not proven. */
export type Taken = { readonly all: number; readonly unproven: number }

export const FIRST_SLOTS: Slots = {
  count: 1,
  usualMs: null,
  lostAt: Number.NEGATIVE_INFINITY,
}

/** Bun sends 256 requests at once; the rest is for everything else that calls out. */
export const IN_FLIGHT_MAX = 192
/** Receivers that hang hold a slot for ten seconds, so some are kept for those that answer. */
const UNPROVEN_MAX: Readonly<Record<Standing, number>> = {
  proven: IN_FLIGHT_MAX,
  untried: 128,
  failing: 96,
}
/** Kept for webhooks that have nothing in flight. */
const FOR_FIRST_MAX = 8
const SLOTS_MAX = 64
const SLOTS_AFTER_FIRST_ANSWER = 4
/** A receiver that answers sooner needs no more than those: the more are in flight, the more each costs. */
const FAST_MS = 20
const SLOWER_FACTOR = 2
/** Slower by less than this is no sign of overload. */
const SLOWER_MS_MIN = 50
const USUAL_WEIGHT = 1 / 4

/** One slot more for an answer in good time, half of them after a failure or a slow answer. */
export function afterAttempt(slots: Slots, trial: Trial): Slots {
  if (!trial.isSuccess) return lost(slots, trial)
  const tookMs = trial.endedAt - trial.startedAt
  if (slots.usualMs === null) {
    return { ...slots, count: SLOTS_AFTER_FIRST_ANSWER, usualMs: tookMs }
  }
  const usualMs = usualAfter(slots.usualMs, tookMs, trial.wasAlone)
  const max = usualMs < FAST_MS ? SLOTS_AFTER_FIRST_ANSWER : SLOTS_MAX
  const count = Math.min(slots.count + (trial.wasFull ? 1 : 0), max)
  const isSlower = tookMs > SLOWER_FACTOR * usualMs + SLOWER_MS_MIN
  return isSlower ? lost({ ...slots, usualMs }, trial) : { ...slots, count, usualMs }
}

/**
 * The permission of a webhook with `inFlight` attempts to begin another one: `wait` where others hold the
 * slots that it might take. No webhook holds more than twice what is left over, so that something always is.
 */
export function mayBegin(
  inFlight: number,
  slots: Slots,
  standing: Standing,
  taken: Taken,
): 'yes' | 'wait' | 'no' {
  if (inFlight >= slots.count) return 'no'
  const free = IN_FLIGHT_MAX - taken.all
  if (inFlight === 0 ? free <= 0 : inFlight >= 2 * (free - FOR_FIRST_MAX)) return 'wait'
  const isHeldBack = standing !== 'proven' && taken.unproven >= UNPROVEN_MAX[standing]
  return isHeldBack ? 'wait' : 'yes'
}

/** Once for all that was in flight together. */
function lost(slots: Slots, { startedAt, endedAt }: Trial): Slots {
  if (startedAt < slots.lostAt) return slots
  return { ...slots, count: Math.max(1, Math.floor(slots.count / 2)), lostAt: endedAt }
}

/** Beside others a receiver may be slower than it is, never faster. */
function usualAfter(usualMs: number, tookMs: number, wasAlone: boolean): number {
  if (tookMs > usualMs && !wasAlone) return usualMs
  return usualMs + USUAL_WEIGHT * (tookMs - usualMs)
}
