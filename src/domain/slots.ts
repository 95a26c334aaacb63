// Slots of a webhook: how many attempts may be in flight at once. Memory and sockets are limited, so a receiver
// that answers earns more slots, and one that hangs holds few. Pure: the delivery loop keeps the state.

export type Slots = {
  readonly count: number
  /** Milliseconds that the receiver takes for a single request; null until it answers. */
  readonly usualMs: number | null
  /** The time when slots were last lost (monotonic): an attempt begun earlier doesn't lose any again. */
  readonly lostAt: number
}

/** A finished attempt; times are monotonic. */
export type Trial = {
  readonly startedAt: number
  readonly endedAt: number
  readonly isSuccess: boolean
  /** True if nothing else was in flight to the receiver when it began and when it ended. */
  readonly wasAlone: boolean
  /** True if all slots were taken when it ended: only then is one more of use. */
  readonly wasFull: boolean
}

/** `untried`: it has neither answered nor failed since the start. */
export type Standing = 'proven' | 'untried' | 'failing'

/** The number of attempts in flight, and of those to receivers that aren't proven. */
export type Taken = { readonly all: number; readonly unproven: number }

export const FIRST_SLOTS: Slots = {
  count: 1,
  usualMs: null,
  lostAt: Number.NEGATIVE_INFINITY,
}

/** Bun sends 256 requests at once; the rest is for all other outgoing requests. */
export const IN_FLIGHT_MAX = 192
/** A receiver that hangs holds a slot for ten seconds, so some slots are kept for those that answer. */
const UNPROVEN_MAX: Readonly<Record<Standing, number>> = {
  proven: IN_FLIGHT_MAX,
  untried: 128,
  failing: 96,
}
/** Slots kept for webhooks that have nothing in flight. */
const FOR_FIRST_MAX = 8
const SLOTS_MAX = 64
const SLOTS_AFTER_FIRST_ANSWER = 4
/** A receiver that answers faster needs no more slots: the more are in flight, the more each costs. */
const FAST_MS = 20
const SLOWER_FACTOR = 2
/** A smaller slowdown isn't a sign of overload. */
const SLOWER_MS_MIN = 50
const USUAL_WEIGHT = 1 / 4

/** Adds a slot after a fast answer, and halves them after a failure or a slow answer. */
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
 * Decides if a webhook with `inFlight` attempts may begin another one; `wait` if others hold the slots that it
 * could take. No webhook gets more than twice the slots that are left, so some always are.
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

/** Halves the slots once for all attempts in flight together. */
function lost(slots: Slots, { startedAt, endedAt }: Trial): Slots {
  if (startedAt < slots.lostAt) return slots
  return { ...slots, count: Math.max(1, Math.floor(slots.count / 2)), lostAt: endedAt }
}

/** Averages the time. Other attempts may slow a receiver down, so then only a shorter time counts. */
function usualAfter(usualMs: number, tookMs: number, wasAlone: boolean): number {
  if (tookMs > usualMs && !wasAlone) return usualMs
  return usualMs + USUAL_WEIGHT * (tookMs - usualMs)
}
