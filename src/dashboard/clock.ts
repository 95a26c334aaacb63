// The browser's time and timers. Nothing else in the page touches them.

import { signal, type ReadonlySignal } from '@preact/signals'

export type Clock = {
  /** Milliseconds since 1970. */
  time(): number
  /** `time()` as a signal that advances every 20 seconds, for words like "5 min ago". */
  readonly now: ReadonlySignal<number>
  /** Resolves after `ms`, or as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const TICK_MS = 20_000

export function createClock(): Clock {
  const now = signal(Date.now())
  setInterval(() => (now.value = Date.now()), TICK_MS)
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
  }
}

/** Calls `act` after `ms`, unless the returned function is called first. */
export function later(clock: Pick<Clock, 'sleep'>, ms: number, act: () => void): () => void {
  const end = new AbortController()
  const wait = async () => {
    await clock.sleep(ms, end.signal)
    if (!end.signal.aborted) act()
  }
  void wait()
  return () => end.abort()
}
