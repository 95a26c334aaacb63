// The time that the relay goes by. A wall clock can be set, and a box without a battery for it starts
// with a wrong one; a monotonic clock cannot say what day it is. The rule that joins them:
//
// - Age counts only time that the monotonic clock saw pass, or that the machine slept; and time off.
// - The wall clock is followed where it moves by less than a minute more than the monotonic one, and
//   where it steps back. A second sighting confirms anything else: the wall clock is still there after
//   an hour in which it ran as fast as the monotonic clock and was not set.
// - A jump forward while the relay runs is not believed for that hour: time goes on as if it had not
//   been, so no stamp lies in the future. After it the relay dates by the new time, and the jump is
//   remembered as time in which nothing grew older: nothing grows old at once, then or later.
// - Over a start there is no monotonic clock, so the database remembers the newest time. What the wall
//   clock is ahead of it at a start is time off: up to an hour counts at once, up to 30 days is gone by
//   at once but counts only after the hour, more waits for it entirely. Till then what could be too old
//   to be sent, with the time off, is held back: neither sent nor expired.
// - A clock that starts behind the remembered time is not believed for the hour either: time goes on
//   from what was remembered. Where it is set right meanwhile, that is time off.
//
// Stamps never go back, so that nothing is reordered; where they are ahead by more than a day and the
// wall clock was steady for an hour, its earlier time was the wrong one: they come back.
//
// What it cannot tell: a jump in the half minute before an end of the process is time off to the next one;
// and a clock that starts wrong and stays so for an hour is believed.

import { HOUR_MS } from '../domain/time.ts'
import type { Clock } from './clock.ts'

/** A stretch of time on the calendar. */
type Span = { readonly from: number; readonly to: number }

/** What outlives the process. */
export type ClockMemory = {
  /** The newest time that the relay went by. */
  readonly at: number
  /** How far the wall clock was ahead of that by a jump that was not believed yet. */
  readonly aheadMs: number
  /** Jumps that were believed in the end, oldest first. */
  readonly jumps: readonly Span[]
  /** Time off that does not count yet, and for how long the wall clock was steady since. */
  readonly off: (Span & { readonly steadyMs: number }) | null
}

/** Why the wall clock is not followed, or its time does not count yet. */
export type ClockDoubt = {
  readonly doubt: 'jumped' | 'was_off' | 'is_behind'
  /** How much time is in doubt. */
  readonly ms: number
  /** When the wall clock was set, or the relay began, in milliseconds that passed. */
  readonly since: number
  /** When it is settled if nobody sets the clock meanwhile, by the time that the relay goes by. */
  readonly until: number
}

/** What it takes to say how old something is. */
export type Age = Pick<ConfirmedClock, 'now' | 'ago' | 'ageOf'>

const STEP_MS_MIN = 60_000
const STEADY_MS = HOUR_MS
const OFF_MS_COUNTED = HOUR_MS
const OFF_MS_FOLLOWED = 30 * 24 * HOUR_MS
/** The time since the machine started is told in whole seconds. */
const SLEPT_MS_MIN = 2_000
/** Beyond that the oldest is forgotten, which makes only what is older than it older. */
const JUMPS_MAX = 50

export class ConfirmedClock implements Clock {
  readonly #clock: Clock
  /** The time since the machine started without its sleep, on a scale of its own. */
  readonly #awake: number
  #sleptMs = 0
  /** The wall clock, and the time that the relay goes by, less the time that passed. */
  #wallOffset: number
  #offset: number
  #held: ClockDoubt['doubt'] | null = null
  /** Since when the wall clock was not set. */
  #steadySince: number
  #jumps: readonly Span[]
  #off: ClockMemory['off']

  constructor(clock: Clock, memory: ClockMemory | null) {
    this.#clock = clock
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

  /** What the wall clock says, right or wrong: for those who have the same one, or a better one. */
  wall(): number {
    return this.#clock.now()
  }

  /** The moment from which `ms` count up to `now`: whatever is older than that is older than `ms`. */
  ago(ms: number, now: number = this.now()): number {
    let at = now - ms
    for (const { from, to } of this.#uncounted().toReversed()) if (at < to) at -= to - from
    return at
  }

  /** How long ago `at` is, counting only what is confirmed. */
  ageOf(at: number): number {
    return ageAt(this.now(), at, this.#uncounted())
  }

  /** Whether `at` is longer ago than `ms`, were the time off that is in doubt to count. */
  mayBeOlder(at: number, ms: number): boolean {
    const now = this.now()
    const latest = this.#held === 'was_off' ? this.#clock.now() : now
    return ageAt(latest, at, this.#jumps) >= ms
  }

  /** Whether the wall clock ran for an hour as the monotonic one did. */
  isSteady(): boolean {
    this.#look()
    return this.#elapsed() - this.#steadySince >= STEADY_MS
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

  /** What the next start must know. */
  memory(): ClockMemory {
    const at = this.now()
    const off = this.#off && { ...this.#off, steadyMs: this.#steadyMs() }
    const aheadMs = this.#held === 'jumped' ? this.#clock.now() - at : 0
    return { at, aheadMs, jumps: this.#jumps, off }
  }

  /**
   * Believes the wall clock where it was steady for an hour. `save` comes first: a process that ends
   * after it starts with what is believed.
   */
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

  /** Judges what the wall clock says at a start by what was remembered. */
  #begin({ at, aheadMs }: ClockMemory): void {
    const aheadNow = this.#clock.now() - at
    const isStillAhead = aheadMs > 0 && aheadNow > aheadMs - STEP_MS_MIN
    if (!isStillAhead) return this.#judgeOff(aheadNow)
    this.#offset += Math.max(0, aheadNow - aheadMs)
    this.#held = 'jumped'
  }

  /** Takes time off of `ms`: the wall clock is so much ahead of the time that the relay went by. */
  #judgeOff(ms: number): void {
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
    if (isSet) this.#judgeStep()
    else if (this.#held === null) this.#offset = wallOffset
  }

  /** The wall clock was set, forward or back. */
  #judgeStep(): void {
    const aheadMs = this.#clock.now() - this.#now()
    this.#steadySince = this.#elapsed()
    if (this.#off !== null) this.#off = { ...this.#off, steadyMs: 0 }
    if (this.#held === 'is_behind' || this.#held === 'was_off') return this.#judgeOff(aheadMs)
    if (aheadMs >= STEP_MS_MIN) {
      this.#held = 'jumped'
      return
    }
    this.#follow()
    if (this.#off === null) return
    const to = Math.min(this.#off.to, this.#now())
    this.#off = to - this.#off.from > OFF_MS_COUNTED ? { ...this.#off, to } : null
  }

  #follow(): void {
    this.#held = null
    this.#offset = this.#wallOffset
  }

  /** Whether the machine slept since the last look; then that time has passed. */
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
