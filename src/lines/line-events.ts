import type { LineEvent, LineListener } from './driver.ts'

/** Events of one line run on their way from the driver to the core. */
export class LineEvents {
  readonly #listener: LineListener
  readonly #signal: AbortSignal
  #failure: Error | null = null

  /** `signal` is that of the line run. */
  constructor(listener: LineListener, signal: AbortSignal) {
    this.#listener = listener
    this.#signal = signal
  }

  /** Set once an event could not be stored: nothing is published from then on. */
  get failure(): Error | null {
    return this.#failure
  }

  /**
   * Resolves with true when all events are durable, and with false where the run has ended: then none
   * is published. Rejects where one could not be stored, and in every call after that.
   */
  async publish(events: readonly LineEvent[]): Promise<boolean> {
    if (this.#failure !== null) throw this.#failure
    if (this.#signal.aborted) return false
    const results = await Promise.allSettled(events.map((event) => this.#listener.onEvent(event)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed === undefined) return true
    const { reason } = failed
    this.#failure = reason instanceof Error ? reason : new Error(String(reason))
    throw this.#failure
  }
}
