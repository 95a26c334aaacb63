// The time that the relay goes by. A wall clock can be set, and a box without a battery for it starts
// with a wrong one; a monotonic clock has no date. The rules that join them:
//
// - Age counts only time that the monotonic clock saw pass, time asleep, and time off.
// - The wall clock is followed if it moves by less than a minute more than the monotonic one, if it steps
//   back, and if it returns within an hour from a step back. Anything else needs a confirmation: the wall
//   clock is still there after an hour in which it ran as fast as the monotonic clock and was not set.
// - A jump forward while the relay runs is in doubt for that hour: time goes on as if it had not been, so
//   no timestamp is in the future. Then the relay dates by the new time, and the jump is kept as a span
//   in which nothing grew older: nothing grows old at once, then or later.
// - A start has no monotonic clock of before, so the database keeps the newest time. What the wall
//   clock is ahead of it at a start is time off: up to an hour counts at once; up to 30 days moves the date at once but
//   counts only after the hour; more waits for the hour entirely. Until then a message that could be too
//   old to be sent, with the time off, is held back: neither sent nor expired.
// - A clock that starts behind the kept time is in doubt for the hour too: time goes on from the kept
//   time. Where the clock is set right meanwhile, the difference is time off.
//
// Timestamps never go back, so that nothing is reordered. Where they are ahead by more than a day and the
// wall clock was steady for an hour, the earlier wall clock was the wrong one, and they come back.
//
// Not detected: a jump in the half minute before the process ends is time off to the next one; and a
// clock that starts wrong and stays so for an hour is believed.

import { HOUR_MS } from '../domain/time.ts'
import type { Clock } from './clock.ts'

/** The two dates of a message that waits, in milliseconds since 1970. */
type Waiting = { readonly createdAt: number; readonly waitsFrom: number }

type Span = { readonly from: number; readonly to: number }

/** State that outlives the process. */
export type ClockMemory = {
  /** Newest time of the relay. */
  readonly at: number
  /** Lead of the wall clock by a jump that is still in doubt. */
  readonly aheadMs: number
  /** Confirmed jumps, oldest first. */
  readonly jumps: readonly Span[]
  /** Time off that does not count yet, and how long the wall clock was steady since. */
  readonly off: (Span & { readonly steadyMs: number }) | null
}

/** Doubt about the wall clock: it is not followed, or its time does not count yet. */
export type ClockDoubt = {
  readonly doubt: 'jumped' | 'was_off' | 'is_behind'
  /** Time in doubt. */
  readonly ms: number
  /** Moment at which the wall clock was set or the relay began, in elapsed milliseconds. */
  readonly since: number
  /** End of the doubt where the clock is not set meanwhile, in the time of the relay. */
  readonly until: number
}

/** The part that measures ages. */
export type Age = Pick<ConfirmedClock, 'now' | 'ago' | 'ageOf'>

const STEP_MS_MIN = 60_000
const STEADY_MS = HOUR_MS
const OFF_MS_COUNTED = HOUR_MS
const OFF_MS_FOLLOWED = 30 * 24 * HOUR_MS
/** The uptime is in whole seconds. */
const SLEPT_MS_MIN = 2_000
/** Beyond that the oldest is dropped, which ages only messages from before it. */
const JUMPS_MAX = 50

export class ConfirmedClock implements Clock {
  readonly #clock: Clock
  /** Uptime without sleep, on a scale of its own. */
  readonly #awake: number
  #sleptMs = 0
  /** Wall clock and time of the relay, both less the elapsed time. */
  #wallOffset: number
  #offset: number
  #held: ClockDoubt['doubt'] | null = null
  /** Offset of the relay before the wall clock was set back less than an hour ago. */
  #setBackFrom: number | null = null
  /** Last time that the wall clock was set. */
  #steadySince: number
  #jumps: readonly Span[]
  #off: ClockMemory['off']
  /** Newest timestamp that was stored before this life of the relay. */
  readonly lastBefore: number

  constructor(clock: Clock, memory: ClockMemory | null, lastBefore = Infinity) {
    this.#clock = clock
    this.lastBefore = lastBefore
    this.#awake = clock.uptime() - clock.monotonic()
    this.#steadySince = this.#elapsed()
    this.#wallOffset = clock.now() - this.#elapsed()
    this.#jumps = memory?.jumps ?? []
    this.#off = memory?.off ?? null
    this.#offset = (memory?.at ?? clock.now()) - this.#elapsed()
    if (memory !== null) this.#begin(memory)
  }

  now(): number {
    this.#look()
    return Math.floor(this.#now())
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  uptime(): number {
    return this.#clock.uptime()
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal)
  }

  after(ms: number, act: () => void): () => void {
    return this.#clock.after(ms, act)
  }

  /** Wall clock, right or wrong: for peers that have the same one, or a better one. */
  wall(): number {
    return this.#clock.now()
  }

  /** Moment at the confirmed age of `ms`. */
  ago(ms: number, now: number = this.now()): number {
    let at = now - ms
    for (const { from, to } of this.#uncounted().toReversed()) if (at < to) at -= to - from
    return at
  }

  ageOf(at: number): number {
    return ageAt(this.now(), at, this.#uncounted())
  }

  /**
   * Returns true if a message that waits since `waitsFrom` is older than `ms` when doubtful time off counts too.
   * That time was before this life of the relay, so what was accepted in this life does not age by it.
   */
  mayBeOlder({ createdAt, waitsFrom }: Waiting, ms: number): boolean {
    const now = this.now()
    const isOfEarlierLife = createdAt <= this.lastBefore
    const latest = this.#held === 'was_off' && isOfEarlierLife ? this.#clock.now() : now
    return ageAt(latest, waitsFrom, this.#jumps) >= ms
  }

  /** The earliest time that it may be: doubtful time off may not have passed, a wall clock that is behind may be right. */
  earliest(): number {
    const offMs = this.#off === null ? 0 : this.#off.to - this.#off.from
    return Math.min(this.now(), this.wall()) - offMs
  }

  /** True if the wall clock ran for an hour as the monotonic one did. */
  isSteady(): boolean {
    return this.#elapsed() - this.lastSetAt() >= STEADY_MS
  }

  /** Moment at which the wall clock was last set, or the relay began, in elapsed milliseconds. */
  lastSetAt(): number {
    this.#look()
    return this.#steadySince
  }

  doubt(): ClockDoubt | null {
    const now = this.now()
    const leftMs = Math.max(0, STEADY_MS - this.#steadyMs())
    const when = { since: this.#steadySince, until: now + leftMs }
    const ms = Math.abs(this.#clock.now() - now)
    if (this.#held !== null) return { doubt: this.#held, ms, ...when }
    if (this.#off === null) return null
    return { doubt: 'was_off', ms: this.#off.to - this.#off.from, ...when }
  }

  /** State for the next start. */
  memory(): ClockMemory {
    const at = this.now()
    const off = this.#off && { ...this.#off, steadyMs: this.#steadyMs() }
    const aheadMs = this.#held === 'jumped' ? this.#clock.now() - at : 0
    return { at, aheadMs, jumps: this.#jumps, off }
  }

  /** Confirms a wall clock that was steady for an hour. `save` comes first, for a process that ends after it. */
  async settle(save: (memory: ClockMemory) => Promise<void>): Promise<void> {
    const doubt = this.doubt()
    if (doubt === null || this.#steadyMs() < STEADY_MS) return
    const since = this.#steadySince
    const span = { from: this.#now(), to: this.#clock.now() }
    const jumps = doubt.doubt === 'jumped' ? [...this.#jumps, span].slice(-JUMPS_MAX) : this.#jumps
    await save({ at: span.to, aheadMs: 0, jumps, off: null })
    this.#look()
    if (this.#steadySince !== since) return
    this.#jumps = jumps
    this.#off = null
    this.#follow()
  }

  /** Compares the wall clock at a start with the kept time. */
  #begin({ at, aheadMs }: ClockMemory): void {
    const aheadNow = this.#clock.now() - at
    const isStillAhead = aheadMs > 0 && aheadNow > aheadMs - STEP_MS_MIN
    if (!isStillAhead) return this.#takeTimeOff(aheadNow)
    this.#offset += Math.max(0, aheadNow - aheadMs)
    this.#held = 'jumped'
  }

  /** Takes `ms` of time off, by which the wall clock is ahead of the kept time. */
  #takeTimeOff(ms: number): void {
    const from = this.#now()
    if (ms <= -STEP_MS_MIN) this.#held = 'is_behind'
    else if (ms > OFF_MS_FOLLOWED) this.#held = 'was_off'
    else {
      this.#follow()
      if (ms <= OFF_MS_COUNTED) return
      const { from: first = from, steadyMs = 0 } = this.#off ?? {}
      this.#off = { from: first, to: this.#now(), steadyMs }
    }
  }

  #look(): void {
    const wallOffset = this.#clock.now() - this.#elapsed()
    const isSet = Math.abs(wallOffset - this.#wallOffset) >= STEP_MS_MIN
    if (isSet && this.#hasSlept()) return this.#look()
    this.#wallOffset = wallOffset
    if (isSet) this.#takeStep()
    else if (this.#held === null) this.#offset = wallOffset
  }

  /** The wall clock was set, forward or back. */
  #takeStep(): void {
    const aheadMs = this.#clock.now() - this.#now()
    if (this.#elapsed() - this.#steadySince >= STEADY_MS) this.#setBackFrom = null
    this.#steadySince = this.#elapsed()
    if (this.#off !== null) this.#off = { ...this.#off, steadyMs: 0 }
    if (this.#held === 'is_behind' || this.#held === 'was_off') return this.#takeTimeOff(aheadMs)
    if (aheadMs >= STEP_MS_MIN && !this.#isSetForthAgain()) {
      this.#held = 'jumped'
      return
    }
    if (aheadMs <= -STEP_MS_MIN) this.#setBackFrom ??= this.#offset
    this.#follow()
    if (this.#off === null) return
    const to = Math.min(this.#off.to, this.#now())
    this.#off = to - this.#off.from > OFF_MS_COUNTED ? { ...this.#off, to } : null
  }

  #isSetForthAgain(): boolean {
    const from = this.#setBackFrom
    return from !== null && Math.abs(this.#wallOffset - from) < STEP_MS_MIN
  }

  #follow(): void {
    this.#held = null
    this.#offset = this.#wallOffset
  }

  /** True where the machine slept since the last look; counts that time as elapsed. */
  #hasSlept(): boolean {
    const sleptMs = this.#clock.uptime() - this.#clock.monotonic() - this.#awake
    if (sleptMs - this.#sleptMs < SLEPT_MS_MIN) return false
    this.#sleptMs = sleptMs
    return true
  }

  #uncounted(): readonly Span[] {
    return this.#off === null ? this.#jumps : [...this.#jumps, this.#off]
  }

  #steadyMs(): number {
    return (this.#off?.steadyMs ?? 0) + this.#elapsed() - this.#steadySince
  }

  #elapsed(): number {
    return this.#clock.monotonic() + this.#sleptMs
  }

  #now(): number {
    return this.#offset + this.#elapsed()
  }
}

function ageAt(now: number, at: number, uncounted: readonly Span[]): number {
  const ms = uncounted.map(({ from, to }) => Math.max(0, Math.min(to, now) - Math.max(from, at)))
  return ms.reduce((age, one) => age - one, now - at)
}
