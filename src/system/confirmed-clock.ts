// The relay's clock. A wall clock can be set, and is wrong at the start of a machine without a clock battery;
// a monotonic clock has no date. These rules combine them:
//
// - Age counts only time that passed on the monotonic clock, time asleep, and time off.
// - The wall clock is followed if it gains less than a minute on the monotonic one, if it is set back, and if
//   it returns within an hour after it was set back. Any other change must be confirmed: for an hour the wall
//   clock has to run as fast as the monotonic clock and must not be set.
// - A jump forward while the relay runs is in doubt for that hour: time goes on as if it hadn't happened, so
//   no timestamp is in the future. After that the relay uses the new time, and keeps the jump as a span in
//   which nothing aged, so that nothing becomes old all at once.
// - The monotonic clock doesn't survive a restart, so the database keeps the newest time. At a start, time off
//   is how far the wall clock is ahead of it. Up to an hour counts at once. Up to 30 days moves the date at once
//   but counts as age only after the hour; more waits for the hour entirely. Until then, messages that could
//   be too old to be sent if the time off counts are held: neither sent nor expired.
// - A clock that starts behind the kept time is in doubt for the hour too: time goes on from the kept time. If
//   the clock is set right meanwhile, the difference is time off.
//
// Timestamps never go back, so that nothing is reordered. Only if they are ahead by more than a day and the wall
// clock was steady for an hour, the earlier wall clock was wrong, and they come back.
//
// Not detected: a jump in the last half minute of the process counts as time off at the next start, and a clock
// that starts wrong and stays so for an hour is believed.

import { HOUR_MS } from '../domain/time.ts'
import type { Clock } from './clock.ts'

/** The two dates of a waiting message, in milliseconds since 1970. */
type Waiting = { readonly createdAt: number; readonly waitsFrom: number }

type Span = { readonly from: number; readonly to: number }

/** The state kept over restarts. */
export type ClockMemory = {
  /** The newest time of the relay. */
  readonly at: number
  /** Milliseconds by which the wall clock is ahead after a jump that is still in doubt. */
  readonly aheadMs: number
  /** Confirmed jumps, oldest first. */
  readonly jumps: readonly Span[]
  /** Time off that doesn't count yet, and how long the wall clock has been steady since. */
  readonly off: (Span & { readonly steadyMs: number }) | null
}

/** A doubt about the wall clock: it isn't followed, or its time doesn't count yet. */
export type ClockDoubt = {
  readonly doubt: 'jumped' | 'was_off' | 'is_behind'
  /** The time in doubt. */
  readonly ms: number
  /** The time when the wall clock was set or the relay started, in elapsed milliseconds. */
  readonly since: number
  /** The time when the doubt ends, in the relay's time, if the clock isn't set again. */
  readonly until: number
}

/** The part of the clock that measures ages. */
export type Age = Pick<ConfirmedClock, 'now' | 'ago' | 'ageOf'>

const STEP_MS_MIN = 60_000
const STEADY_MS = HOUR_MS
const OFF_MS_COUNTED = HOUR_MS
const OFF_MS_FOLLOWED = 30 * 24 * HOUR_MS
/** The uptime is in whole seconds. */
const SLEPT_MS_MIN = 2_000
/** Beyond this the oldest is dropped, which ages only messages from before it. */
const JUMPS_MAX = 50

export class ConfirmedClock implements Clock {
  readonly #clock: Clock
  /** The machine's uptime minus the monotonic clock at the start. The difference grows while the machine sleeps. */
  readonly #uptimeOffset: number
  #sleptMs = 0
  /** The wall clock and the relay's time, each minus the elapsed time. */
  #wallOffset: number
  #offset: number
  #held: ClockDoubt['doubt'] | null = null
  /** The relay's offset before the wall clock was set back, if that was less than an hour ago; else null. */
  #setBackFrom: number | null = null
  /** The time when the wall clock was last set, in elapsed milliseconds. */
  #steadySince: number
  #jumps: readonly Span[]
  #off: ClockMemory['off']
  /** The newest timestamp stored before this start. */
  readonly lastBefore: number

  constructor(clock: Clock, memory: ClockMemory | null, lastBefore = Infinity) {
    this.#clock = clock
    this.lastBefore = lastBefore
    this.#uptimeOffset = clock.uptime() - clock.monotonic()
    this.#steadySince = this.#elapsed()
    this.#wallOffset = clock.now() - this.#elapsed()
    this.#jumps = memory?.jumps ?? []
    this.#off = memory?.off ?? null
    this.#offset = (memory?.at ?? clock.now()) - this.#elapsed()
    if (memory !== null) this.#begin(memory)
  }

  now(): number {
    this.#readWallClock()
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

  /** The wall clock, right or wrong, for devices and services that share it or have a better clock. */
  wall(): number {
    return this.#clock.now()
  }

  /** The moment whose confirmed age is `ms`. */
  ago(ms: number, now: number = this.now()): number {
    let at = now - ms
    for (const { from, to } of this.#uncounted().toReversed()) if (at < to) at -= to - from
    return at
  }

  ageOf(at: number): number {
    return ageAt(this.now(), at, this.#uncounted())
  }

  /**
   * True if a message that waits since `waitsFrom` would be older than `ms` if doubtful time off counted. Messages
   * accepted since this start don't age by it, because it was before.
   */
  mayBeOlder({ createdAt, waitsFrom }: Waiting, ms: number): boolean {
    const now = this.now()
    const isFromEarlierRun = createdAt <= this.lastBefore
    const latest = this.#held === 'was_off' && isFromEarlierRun ? this.#clock.now() : now
    return ageAt(latest, waitsFrom, this.#jumps) >= ms
  }

  /** The earliest that the time may be: doubtful time off may not have passed, and a slow wall clock may be right. */
  earliest(): number {
    const offMs = this.#off === null ? 0 : this.#off.to - this.#off.from
    return Math.min(this.now(), this.wall()) - offMs
  }

  /** True if the wall clock has run like the monotonic one for an hour. */
  isSteady(): boolean {
    return this.#elapsed() - this.lastSetAt() >= STEADY_MS
  }

  /** The time when the wall clock was last set or the relay started, in elapsed milliseconds. */
  lastSetAt(): number {
    this.#readWallClock()
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

  /** The state for the next start. */
  memory(): ClockMemory {
    const at = this.now()
    const off = this.#off && { ...this.#off, steadyMs: this.#steadyMs() }
    const aheadMs = this.#held === 'jumped' ? this.#clock.now() - at : 0
    return { at, aheadMs, jumps: this.#jumps, off }
  }

  /** Confirms a wall clock that was steady for an hour. Calls `save` first, in case the process ends after it. */
  async settle(save: (memory: ClockMemory) => Promise<void>): Promise<void> {
    const doubt = this.doubt()
    if (doubt === null || this.#steadyMs() < STEADY_MS) return
    const since = this.#steadySince
    const span = { from: this.#now(), to: this.#clock.now() }
    const jumps = doubt.doubt === 'jumped' ? [...this.#jumps, span].slice(-JUMPS_MAX) : this.#jumps
    await save({ at: span.to, aheadMs: 0, jumps, off: null })
    this.#readWallClock()
    if (this.#steadySince !== since) return
    this.#jumps = jumps
    this.#off = null
    this.#follow()
  }

  /** Compares the wall clock with the kept time at the start. */
  #begin({ at, aheadMs }: ClockMemory): void {
    const aheadNow = this.#clock.now() - at
    const isStillAhead = aheadMs > 0 && aheadNow > aheadMs - STEP_MS_MIN
    if (!isStillAhead) return this.#takeTimeOff(aheadNow)
    this.#offset += Math.max(0, aheadNow - aheadMs)
    this.#held = 'jumped'
  }

  /** Handles the time off: how far the wall clock is ahead of the kept time, in `ms`. */
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

  #readWallClock(): void {
    const wallOffset = this.#clock.now() - this.#elapsed()
    const isSet = Math.abs(wallOffset - this.#wallOffset) >= STEP_MS_MIN
    if (isSet && this.#hasSlept()) return this.#readWallClock()
    this.#wallOffset = wallOffset
    if (isSet) this.#takeStep()
    else if (this.#held === null) this.#offset = wallOffset
  }

  /** Called when the wall clock was set, forward or back. */
  #takeStep(): void {
    const aheadMs = this.#clock.now() - this.#now()
    if (this.#elapsed() - this.#steadySince >= STEADY_MS) this.#setBackFrom = null
    this.#steadySince = this.#elapsed()
    if (this.#off !== null) this.#off = { ...this.#off, steadyMs: 0 }
    if (this.#held === 'is_behind' || this.#held === 'was_off') return this.#takeTimeOff(aheadMs)
    if (aheadMs >= STEP_MS_MIN && !this.#isSetForwardAgain()) {
      this.#held = 'jumped'
      return
    }
    if (aheadMs <= -STEP_MS_MIN) this.#setBackFrom ??= this.#offset
    this.#follow()
    if (this.#off === null) return
    const to = Math.min(this.#off.to, this.#now())
    this.#off = to - this.#off.from > OFF_MS_COUNTED ? { ...this.#off, to } : null
  }

  #isSetForwardAgain(): boolean {
    const from = this.#setBackFrom
    return from !== null && Math.abs(this.#wallOffset - from) < STEP_MS_MIN
  }

  #follow(): void {
    this.#held = null
    this.#offset = this.#wallOffset
  }

  /** True if the machine slept since the last reading; counts that time as elapsed. */
  #hasSlept(): boolean {
    const sleptMs = this.#clock.uptime() - this.#clock.monotonic() - this.#uptimeOffset
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
