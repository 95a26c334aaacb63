// Sends that Messages says it took, and of which nothing ever appears: no row, or one without chat and
// text. Two public reports from macOS 26 (of openclaw and imsg) have whole days of it. Each such
// message is uncertain for good, so a line that loses one after the other must stop.

import type { Clock } from '../../../system/clock.ts'
import type { Settlement } from '../../driver.ts'

const RESTART_AFTER = 2
const OFFLINE_AFTER = 3
/** For how long the line stays offline: doubled by each trial that vanishes too, up to an hour. */
const REST_MS = 600_000
const REST_MS_MAX = 3_600_000

/**
 * Counts the sends that vanished since a row of ours was seen last. Nothing shows that they stopped
 * vanishing but a send: after each rest the line is online for one message, and whatever becomes of
 * that one decides. A day costs about 26 messages at most, and a relay that is started anew begins
 * with a count of none.
 */
export class VanishingSends {
  readonly #clock: Clock
  /** Hears that it is time to start Messages again, once in a row. */
  readonly #onRestart: () => void
  #count = 0
  #restsUntil = 0

  constructor(clock: Clock, onRestart: () => void) {
    this.#clock = clock
    this.#onRestart = onRestart
  }

  /** Whether nothing should be handed to Messages now. */
  get isResting(): boolean {
    return this.#count >= OFFLINE_AFTER && this.#clock.monotonic() < this.#restsUntil
  }

  /** Whether more than one was lost: it may be chance, and the owner should know. */
  get isSuspected(): boolean {
    return this.#count >= RESTART_AFTER
  }

  /** What became of a send. One that Messages did not answer says nothing either way. */
  hear(outcome: Settlement): void {
    const reason = 'reason' in outcome ? outcome.reason : null
    if (reason === 'no_answer') return
    if (reason === 'no_row' || reason === 'ghost_row') this.#lose()
    else this.seen()
  }

  /** A row of ours was there, soon or late. */
  seen(): void {
    this.#count = 0
  }

  #lose(): void {
    this.#count += 1
    if (this.#count === RESTART_AFTER) this.#onRestart()
    const restMs = REST_MS * 2 ** Math.max(0, this.#count - OFFLINE_AFTER)
    this.#restsUntil = this.#clock.monotonic() + Math.min(restMs, REST_MS_MAX)
  }
}
