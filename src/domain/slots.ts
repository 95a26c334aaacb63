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

/**
 * `untried`: it has neither answered nor failed since the start. `late`: it answered before, and takes much longer
 * than usual for an attempt in flight.
 */
export type Standing = 'proven' | 'untried' | 'failing' | 'late'

/** The time of a webhook's last answer: after all common slots were taken, within the last second, or earlier. */
export type LastAnswer = 'since_full' | 'just_now' | 'earlier'

export type Candidate = {
  readonly inFlight: number
  readonly slots: Slots
  readonly standing: Standing
  readonly lastAnswer: LastAnswer
}

/** The attempts in flight: in common slots, in kept slots, and in either to receivers that aren't proven. */
export type Taken = {
  readonly common: number
  readonly kept: number
  readonly unproven: number
}

export const FIRST_SLOTS: Slots = {
  count: 1,
  usualMs: null,
  lostAt: Number.NEGATIVE_INFINITY,
}

export const COMMON_MAX = 192
/**
 * Slots kept for receivers that just answered: a common proxy or a network that goes away makes hundreds of
 * receivers hang at once, which hold all common slots for ten seconds.
 */
const KEPT_MAX = 40
/** Kept slots for receivers that answered just before all common slots were taken: each of them may hang by now. */
const KEPT_FOR_JUST_NOW = 28
/** Bun sends 256 requests at once; the rest is for all other outgoing requests. */
export const IN_FLIGHT_MAX = COMMON_MAX + KEPT_MAX
/**
 * Most attempts in flight to receivers that aren't proven, by the standing of the receiver that wants one more. A
 * receiver that hangs holds a slot for ten seconds, so some slots are for those that answer.
 */
const UNPROVEN_MAX: Readonly<Record<Standing, number>> = {
  proven: IN_FLIGHT_MAX,
  untried: 128,
  late: 128,
  failing: 96,
}
/** Common slots left to webhooks that have nothing in flight. */
const FOR_FIRST_MAX = 8
export const SLOTS_MAX = 64
const SLOTS_AFTER_FIRST_ANSWER = 4
/** A receiver that answers faster needs no more slots: the more are in flight, the more each costs. */
const FAST_MS = 20
const SLOWER_FACTOR = 2
/** A smaller slowdown isn't a sign of overload. */
const SLOWER_MS_MIN = 50
const USUAL_WEIGHT = 1 / 4
/** An attempt is late after twice the usual time plus this. */
const LATE_MS = 250
const JUST_NOW_MS = 1_000

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
 * Decides if a webhook may begin another attempt, and in which slot; `wait` if others hold the slots that it could
 * take. No webhook gets more than twice the common slots that are left, so some always are.
 */
export function mayBegin(candidate: Candidate, taken: Taken): 'common' | 'kept' | 'wait' | 'no' {
  const { inFlight, slots, standing } = candidate
  if (inFlight >= slots.count) return 'no'
  if (standing !== 'proven' && taken.unproven >= UNPROVEN_MAX[standing]) return 'wait'
  const free = COMMON_MAX - taken.common
  if (inFlight === 0 ? free > 0 : inFlight < 2 * (free - FOR_FIRST_MAX)) return 'common'
  return standing === 'proven' && mayTakeKept(candidate, taken) ? 'kept' : 'wait'
}

function mayTakeKept({ inFlight, lastAnswer }: Candidate, { kept }: Taken): boolean {
  if (lastAnswer === 'since_full') return inFlight < KEPT_MAX - kept
  return lastAnswer === 'just_now' && inFlight === 0 && kept < KEPT_FOR_JUST_NOW
}

/** True if an attempt that began at `begunAt` takes so long that the receiver may hang. */
export function isLate({ usualMs }: Slots, begunAt: number, now: number): boolean {
  return usualMs !== null && now - begunAt > SLOWER_FACTOR * usualMs + LATE_MS
}

/** The time since which common slots were scarce; null if half of them are free. */
export function fullSince(before: number | null, common: number, now: number): number | null {
  if (common >= COMMON_MAX) return before ?? now
  return common < COMMON_MAX / 2 ? null : before
}

export function lastAnswerOf(answeredAt: number, full: number | null, now: number): LastAnswer {
  if (full !== null && answeredAt >= full) return 'since_full'
  return now - answeredAt <= JUST_NOW_MS ? 'just_now' : 'earlier'
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
