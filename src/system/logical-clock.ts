import {
  idFromBytes,
  timestamp,
  uuidV7,
  type Id,
  type IdPrefix,
  type Timestamp,
} from '../domain/ids.ts'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const COUNTER_MAX = 0xfff

/** The speed of timestamps while the wall clock is behind them: it catches up, and delays still end. */
const SPEED_WHEN_AHEAD = 0.5

/**
 * Timestamps and new ids. A timestamp is never below the one before: after a wall clock that stepped back
 * they go on from the last one, more slowly, until it has caught up, so nothing is reordered and nothing
 * that waits stands still. Take them inside the transaction that stores them: their order is then
 * the order of commits.
 */
export class LogicalClock {
  readonly #clock: Clock
  readonly #random: Random
  #last: number
  /** The last time at which a timestamp was ahead of the wall clock, on the monotonic one; null since that caught up. */
  #aheadAt: number | null = null
  #idAt = 0
  #counter = 0

  /** No timestamp is before `last`. */
  constructor(clock: Clock, random: Random, last: number) {
    this.#clock = clock
    this.#random = random
    this.#last = last
  }

  now(): Timestamp {
    const wall = this.#clock.now()
    if (wall >= this.#last) {
      this.#last = wall
      this.#aheadAt = null
    } else this.#goOnSlowly()
    return timestamp(this.#last)
  }

  /** Milliseconds by which the last timestamp is ahead of the clock. */
  get aheadMs(): number {
    return Math.max(0, this.#last - this.#clock.now())
  }

  /** Goes by the clock again, though that is behind: what is stored was brought back before. */
  comeBack(): void {
    this.#last = this.#clock.now()
    this.#idAt = 0
  }

  #goOnSlowly(): void {
    const monotonic = this.#clock.monotonic()
    this.#last += (monotonic - (this.#aheadAt ?? monotonic)) * SPEED_WHEN_AHEAD
    this.#aheadAt = monotonic
  }

  /** 12 bits count within a millisecond, 62 bits are random; a full counter borrows the next one. */
  id<P extends IdPrefix>(prefix: P): Id<P> {
    return idFromBytes(prefix, this.#uuid())
  }

  #uuid(): Uint8Array {
    const now = this.now()
    if (now > this.#idAt) {
      this.#idAt = now
      this.#counter = 0
    } else if (this.#counter === COUNTER_MAX) {
      this.#idAt += 1
      this.#counter = 0
    } else {
      this.#counter += 1
    }
    const random = this.#random.bytes(10)
    random[0] = this.#counter >>> 8
    random[1] = this.#counter & 0xff
    return uuidV7(timestamp(this.#idAt), random)
  }
}
