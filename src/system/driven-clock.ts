import type { Clock } from './clock.ts'

type Sleeper = { readonly at: number; readonly wake: () => void }

/**
 * A clock that moves only by `advance`. Sleepers wake in the order of time, and everything settles between two
 * of them, so that a loop lives through a day in milliseconds.
 */
export class DrivenClock implements Clock {
  readonly #sleepers = new Set<Sleeper>()
  readonly #settle: () => Promise<void>
  #wall: number
  #monotonic = 0

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
    const sleeper: Sleeper = { at: this.#monotonic + Math.max(ms, 0), wake: act }
    this.#sleepers.add(sleeper)
    return () => this.#sleepers.delete(sleeper)
  }

  /** Moves both clocks on by `ms`, and wakes every sleeper that is due by then. */
  advance(ms: number): Promise<void> {
    return this.advanceUntil(() => false, ms)
  }

  /** Moves both clocks from one sleeper to the next, until `isOver` returns true, and by `ms` at most. */
  async advanceUntil(isOver: () => boolean, ms: number): Promise<void> {
    const until = this.#monotonic + ms
    await this.#settle()
    for (;;) {
      if (isOver()) return
      const next = this.next(until)
      if (next === null) break
      this.moveTo(next.at)
      this.#wake(next)
      await (this.next(next.at) === null ? this.#settle() : this.settleBetween())
    }
    this.moveTo(until)
    await this.#settle()
  }

  /** The number of sleepers. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Sets the wall clock alone forward or back, as a person or a time server does. */
  step(ms: number): void {
    this.#wall += ms
  }

  /** Called between two sleepers that wake at one instant. */
  protected settleBetween(): Promise<void> {
    return this.#settle()
  }

  /** Called before each reading. */
  protected tick(): void {}

  /** Moves both clocks to this monotonic time, or leaves them if it is past. Wakes no sleeper. */
  protected moveTo(monotonic: number): void {
    if (monotonic <= this.#monotonic) return
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }

  /** The sleeper that is due first, by `until`; null if none is. Of sleepers due at once, the one that began first. */
  protected next(until: number): Sleeper | null {
    let next: Sleeper | null = null
    for (const sleeper of this.#sleepers) {
      if (sleeper.at <= until && sleeper.at < (next?.at ?? Infinity)) next = sleeper
    }
    return next
  }

  /** Wakes every sleeper that is due, one right after the other. */
  protected wakeDue(): void {
    for (let due = this.next(this.#monotonic); due !== null; due = this.next(this.#monotonic)) {
      this.#wake(due)
    }
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper)
    sleeper.wake()
  }
}

/** Resolves once pending promises, commits and the messages between them have settled. */
export async function comeToRest(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve))
}
