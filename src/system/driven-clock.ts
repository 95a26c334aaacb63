import type { Clock } from './clock.ts'

type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void }

/**
 * A clock that moves only by `advance`. Sleepers wake in the order of time, and everything settles between two
 * of them, so that a loop lives through a day in milliseconds.
 */
export class DrivenClock implements Clock {
  protected sleepers: Sleeper[] = []
  readonly #settle: () => Promise<void>
  #wall: number
  #monotonic = 0
  #order = 0

  /** `settle` resolves once everything that a sleeper began has come to rest. */
  constructor(start: number, settle: () => Promise<void> = comeToRest) {
    this.#wall = start
    this.#settle = settle
  }

  /** Whole milliseconds, as the system's clock has. */
  now(): number {
    this.tick()
    return Math.floor(this.#wall)
  }

  monotonic(): number {
    this.tick()
    return this.#monotonic
  }

  uptime(): number {
    return this.#monotonic
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = this.after(ms, done)
      signal.addEventListener('abort', done)
    })
  }

  after(ms: number, act: () => void): () => void {
    this.#order += 1
    const at = this.#monotonic + Math.max(ms, 0)
    const sleeper: Sleeper = { at, order: this.#order, wake: act }
    this.sleepers.push(sleeper)
    return () => this.#remove(sleeper)
  }

  /** Moves both clocks on by `ms`, waking all that sleep until then. */
  advance(ms: number): Promise<void> {
    return this.advanceUntil(() => false, ms)
  }

  /** Moves both clocks from one sleeper to the next, until `isOver`, and by `ms` at most. */
  async advanceUntil(isOver: () => boolean, ms: number): Promise<void> {
    const until = this.#monotonic + ms
    await this.#settle()
    for (;;) {
      if (isOver()) return
      const [next] = this.due(until)
      if (next === undefined) break
      this.moveTo(next.at)
      this.wake(next)
      await this.#settle()
    }
    this.moveTo(until)
    await this.#settle()
  }

  /** Sets the wall clock alone forward or back, as a person or a time server does. */
  step(ms: number): void {
    this.#wall += ms
  }

  /** Called before each reading. */
  protected tick(): void {}

  /** Both clocks jump to this monotonic time, or stay if it is past. Nobody wakes. */
  protected moveTo(monotonic: number): void {
    if (monotonic <= this.#monotonic) return
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }

  /** All that sleep until then at most, in order. */
  protected due(until: number): readonly Sleeper[] {
    return this.sleepers
      .filter((sleeper) => sleeper.at <= until)
      .sort((a, b) => a.at - b.at || a.order - b.order)
  }

  protected wake(sleeper: Sleeper): void {
    this.#remove(sleeper)
    sleeper.wake()
  }

  #remove(sleeper: Sleeper): void {
    this.sleepers = this.sleepers.filter((other) => other !== sleeper)
  }
}

/** Lets promises, commits and messages between them come to rest. */
export async function comeToRest(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve))
}
