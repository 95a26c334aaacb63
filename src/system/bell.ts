import type { Clock } from './clock.ts'

/** Wakes one loop. Many rings before the loop listens are one. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves at the next ring, after `ms`, or when `signal` aborts, whichever is first. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
      const timer = new AbortController()
      const stop = () => timer.abort()
      signal.addEventListener('abort', stop)
      const rung = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([rung, clock.sleep(ms, timer.signal)])
      signal.removeEventListener('abort', stop)
      timer.abort()
      this.#wake = null
    }
    this.#isRung = false
  }
}
