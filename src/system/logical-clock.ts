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

/** The speed at which timestamps go on while the wall clock is behind: it catches up, and delays still end. */
const SPEED_WHEN_AHEAD = 0.5

/**
 * Makes timestamps and ids. A timestamp is never less than the previous one: after the wall clock was set back,
 * they go on from the last one, more slowly, until it has caught up. So nothing is reordered, and waits still
 * end. Take timestamps inside the transaction that stores them, so that their order is the order of commits.
 */
export class LogicalClock {
  readonly #clock: Clock
  readonly #random: Random
  #last: number
  /** Monotonic time when a timestamp was last ahead of the wall clock; null once the wall clock has caught up. */
  #aheadAt: number | null = null
  #idAt = 0
  #counter = 0

  /** No timestamp will be before `last`. */
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

  /** Uses the clock again although it is behind. Called after the stored timestamps were moved back. */
  comeBack(): void {
    this.#last = this.#clock.now()
    this.#idAt = 0
  }

  #goOnSlowly(): void {
    const monotonic = this.#clock.monotonic()
    this.#last += (monotonic - (this.#aheadAt ?? monotonic)) * SPEED_WHEN_AHEAD
    this.#aheadAt = monotonic
  }

  /** 12 bits count within a millisecond, and 62 bits are random; a full counter uses the next millisecond. */
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
