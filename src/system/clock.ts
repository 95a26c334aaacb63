import { uptime } from 'node:os'

/** Wall clock for times that people see, monotonic clock for durations. */
export type Clock = {
  /** Wall clock in milliseconds since 1970; may step back. */
  now(): number
  /** Milliseconds since an arbitrary moment; never steps back. */
  monotonic(): number
  /** Milliseconds since the machine started, including sleep; accurate to the second. */
  uptime(): number
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Calls `act` once after `ms`; returns a cancel function, which is cheaper than a signal. */
  after(ms: number, act: () => void): () => void
}

/** Long work yields to the event loop after this time. */
export const SLICE_MS = 10

export const NEVER: AbortSignal = new AbortController().signal

const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * 1_000,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = systemClock.after(ms, done)
      signal.addEventListener('abort', done)
    }),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(Math.max(ms, 0), TIMER_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/** An abort signal that fires after `ms` on `clock`, with `signal`, or by `abort`; `clear` cancels the timer. */
export function deadline(
  clock: Clock,
  ms: number,
  signal?: AbortSignal,
): { readonly signal: AbortSignal; readonly abort: () => void; readonly clear: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (signal?.aborted === true) controller.abort()
  const followers = signal && followersOf(signal).add(controller)
  const cancel = clock.after(ms, abort)
  const clear = () => {
    cancel()
    followers?.delete(controller)
  }
  return { signal: controller.signal, abort, clear }
}

const knownFollowers = new WeakMap<AbortSignal, Set<AbortController>>()

/** Controllers that abort with `signal`, through a single listener, because each listener is costly. */
function followersOf(signal: AbortSignal): Set<AbortController> {
  const known = knownFollowers.get(signal)
  if (known !== undefined) return known
  const added = new Set<AbortController>()
  knownFollowers.set(signal, added)
  signal.addEventListener('abort', () => {
    for (const controller of added) controller.abort()
  })
  return added
}

/** Resolves in the next turn of the event loop, after everything queued in this one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Iterates the items of a long work, and yields to the event loop after each slice of time. */
export async function* inSlices<T>(
  items: Iterable<T>,
  clock: Pick<Clock, 'monotonic'>,
): AsyncGenerator<T, undefined> {
  let startedAt = clock.monotonic()
  for (const item of items) {
    if (clock.monotonic() - startedAt >= SLICE_MS) {
      await nextTurn()
      startedAt = clock.monotonic()
    }
    yield item
  }
  return undefined
}

/** Resolves when the signal aborts, at once if it has. Never rejects. */
export function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null))
  })
}

/** The value of `promise`, or `otherwise` if it takes longer than `ms` or rejects. */
export async function withTimeout<T, O>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
  otherwise: O,
): Promise<T | O> {
  const late = Promise.withResolvers<O>()
  const cancel = clock.after(ms, () => late.resolve(otherwise))
  try {
    return await Promise.race([promise, late.promise])
  } catch {
    return otherwise
  } finally {
    cancel()
  }
}
