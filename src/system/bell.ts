import type { Clock } from './clock.ts'

/** Wakes one loop. Many rings before the loop listens are one. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null

  /** Whether somebody rang since the last wait: then `wait` resolves at once. */
  get isRung(): boolean {
    return this.#isRung
  }

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves at the next ring, after `ms`, or when `signal` aborts, whichever is first. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
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
    this.#isRung = false
  }
}
