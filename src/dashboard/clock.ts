// The browser's time and timers. Nothing else in the page touches them.

import { signal, type ReadonlySignal } from '@preact/signals'

export type Clock = {
  /** Milliseconds since 1970. */
  time(): number
  /** The same as a signal that moves every 20 seconds, for what is told as "5 minutes ago". */
  readonly now: ReadonlySignal<number>
  /** Resolves after `ms`, or as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** When the day of the browser's time zone began that `time` is in. */
  startOfDay(time: number): number
}

const TICK_MS = 20_000

/** Moves `now` until `end` aborts. */
export function createClock(end: AbortSignal): Clock {
  const now = signal(Date.now())
  const ticking = setInterval(() => (now.value = Date.now()), TICK_MS)
  end.addEventListener('abort', () => clearInterval(ticking))
  return {
    time: () => Date.now(),
    now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const timer = setTimeout(done, ms)
        signal.addEventListener('abort', done, { once: true })
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
      }),
    startOfDay: (time) => new Date(time).setHours(0, 0, 0, 0),
  }
}
