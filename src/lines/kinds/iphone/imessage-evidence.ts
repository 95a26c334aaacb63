import type { Handle } from '../../../domain/handle.ts'
import type { Clock } from '../../../system/clock.ts'

const STRIKES_WITHIN_MS = 600_000
const STRIKES = 2
const REST_MS = 900_000
const KNOWN_MAX = 500

/**
 * Whether iMessage works on the phone, as far as sends show: it is taken to until two people in a row
 * could not be reached who ought to be. Then sending rests, and the next send is a trial.
 */
export class ImessageEvidence {
  readonly #clock: Clock
  /** Who is on iMessage, those of late behind the others. */
  readonly #known = new Set<Handle>()
  /** When somebody could not be reached, since somebody was. */
  #strikes = new Map<Handle, number>()
  #restsUntil: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOff(): boolean {
    return this.#restsUntil !== null && this.#clock.monotonic() < this.#restsUntil
  }

  /** An own bubble says iMessage: this one is on it. The mark that it failed may come much later. */
  noteBubble(handle: Handle): void {
    this.#known.delete(handle)
    this.#known.add(handle)
    const [oldest] = this.#known
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest)
  }

  /** Something was delivered. */
  noteReached(): void {
    this.#strikes.clear()
    this.#restsUntil = null
  }

  /** The composer said that this one is not on iMessage: strange only of somebody who was. */
  noteRefused(handle: Handle): void {
    if (this.#known.has(handle)) this.noteFailed(handle)
  }

  /** A message to this one was not delivered. */
  noteFailed(handle: Handle): void {
    const now = this.#clock.monotonic()
    const recent = [...this.#strikes].filter(([, at]) => now - at < STRIKES_WITHIN_MS)
    this.#strikes = new Map([...recent, [handle, now]])
    const isTrial = this.#restsUntil !== null
    if (isTrial || this.#strikes.size >= STRIKES) this.#restsUntil = now + REST_MS
  }
}
