import type { Clock } from './clock.ts'

/**
 * Wakes one loop. Notifications before the loop waits count as one. Notify after the commit (`Writer.afterCommit`): a
 * loop that wakes earlier doesn't see the change.
 */
export class Signal {
  #isNotified = false
  #wake: (() => void) | null = null

  /** True if it was notified since the last wait: if so, the next `wait` resolves at once. */
  get isNotified(): boolean {
    return this.#isNotified
  }

  notify(): void {
    this.#isNotified = true
    this.#wake?.()
  }

  /** Resolves at the next notification, after `ms`, or when `signal` aborts, whichever is first. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isNotified && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          cancel()
          signal.removeEventListener('abort', wake)
          this.#wake = null
          resolve()
        }
        const cancel = clock.after(ms, wake)
        signal.addEventListener('abort', wake)
        this.#wake = wake
      })
    }
    this.#isNotified = false
  }
}
