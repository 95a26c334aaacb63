// How fast a line may send. Apple publishes nothing; vendors settle on about a message a second, thirty
// a minute, and more time between people who are written to for the first time.

import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'

const GAP_MS = 1_000
const GAP_JITTER_MS = 500
const NEW_CONTACT_GAP_MS = 2_000
const NEW_CONTACT_JITTER_MS = 4_000
const BURST_MAX = 30
const REFILL_MS = 2_000

type Tools = { readonly clock: Clock; readonly random: Random }

export class Pacer {
  readonly #tools: Tools
  /** Messages that may go at once, and when that was counted. */
  #tokens = BURST_MAX
  #countedAt: number
  #nextAt = 0
  #nextNewContactAt = 0
  #pausedUntil = 0

  constructor(tools: Tools) {
    this.#tools = tools
    this.#countedAt = tools.clock.monotonic()
  }

  /** How long the next message has to wait, in milliseconds; 0 where it may go now. */
  delayMs(isNewContact: boolean): number {
    this.#refill()
    const now = this.#tools.clock.monotonic()
    const forToken = this.#tokens >= 1 ? 0 : (1 - this.#tokens) * REFILL_MS
    const forContact = isNewContact ? this.#nextNewContactAt - now : 0
    return Math.max(0, this.#nextAt - now, this.#pausedUntil - now, forContact, forToken)
  }

  /** A message goes now. */
  spend(isNewContact: boolean): void {
    const { clock, random } = this.#tools
    this.#refill()
    const now = clock.monotonic()
    this.#tokens -= 1
    this.#nextAt = now + GAP_MS + random.chance() * GAP_JITTER_MS
    if (!isNewContact) return
    const jitterMs = random.chance() * NEW_CONTACT_JITTER_MS
    this.#nextNewContactAt = now + NEW_CONTACT_GAP_MS + jitterMs
  }

  /** Nothing goes for `ms`: Messages has just been started, or the Mac woke up. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#tools.clock.monotonic() + ms)
  }

  #refill(): void {
    const now = this.#tools.clock.monotonic()
    this.#tokens = Math.min(BURST_MAX, this.#tokens + (now - this.#countedAt) / REFILL_MS)
    this.#countedAt = now
  }
}
