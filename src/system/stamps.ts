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

/**
 * Stamps and new ids, from max(now, last stamp): a clock that steps back reorders nothing. Take them
 * inside the transaction that stores them, so that their order is the order of commits.
 */
export class Stamps {
  readonly #clock: Clock
  readonly #random: Random
  #last: number
  #idAt = 0
  #counter = 0

  /** `last` is the newest stamp that is stored. */
  constructor(clock: Clock, random: Random, last: number) {
    this.#clock = clock
    this.#random = random
    this.#last = last
  }

  now(): Timestamp {
    this.#last = Math.max(this.#clock.now(), this.#last)
    return timestamp(this.#last)
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
