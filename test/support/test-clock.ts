import type { Clock } from '../../src/system/clock.ts'

type Sleeper = { readonly at: number; readonly order: number; readonly wake: () => void }

/** 2026-11-21T10:00:00.000Z. */
export const TEST_START = 1_795_255_200_000

/**
 * A clock that moves only by `advance`. Sleepers wake in time order, and all promises settle between
 * two of them, so that a loop lives through a day in milliseconds.
 */
export class TestClock implements Clock {
  #wall: number
  #monotonic = 0
  #sleptMs = 0
  #order = 0
  #readingMs = 0
  #sleepers: Sleeper[] = []

  constructor(start = TEST_START) {
    this.#wall = start
  }

  /** Whole milliseconds, as the system's clock has. */
  now(): number {
    this.#takeTime()
    return Math.floor(this.#wall)
  }

  monotonic(): number {
    this.#takeTime()
    return this.#monotonic
  }

  uptime(): number {
    return this.#monotonic + this.#sleptMs
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
    this.#sleepers.push(sleeper)
    return () => this.#remove(sleeper)
  }

  /** Moves both clocks on by `ms`, waking whoever sleeps until then. */
  advance(ms: number): Promise<void> {
    return this.advanceUntil(() => false, ms)
  }

  /** Moves both clocks on, from one sleeper to the next, until it is over, and by `ms` at most. */
  async advanceUntil(isOver: () => boolean, ms: number): Promise<void> {
    const until = this.#monotonic + ms
    await settle()
    for (;;) {
      if (isOver()) return
      const next = this.#nextSleeper(until)
      if (next === undefined) break
      this.#move(Math.max(next.at, this.#monotonic))
      this.#remove(next)
      next.wake()
      await settle()
    }
    this.#move(Math.max(until, this.#monotonic))
    await settle()
  }

  /** Both clocks jump by `ms`, and whoever sleeps until then wakes late and at once: a machine that is busy. */
  async skip(ms: number): Promise<void> {
    this.#move(this.#monotonic + ms)
    const due = this.#sleepers.filter(({ at }) => at <= this.#monotonic)
    for (const sleeper of due.sort((a, b) => a.at - b.at || a.order - b.order)) {
      this.#remove(sleeper)
      sleeper.wake()
    }
    await settle()
  }

  /** From now on each reading takes `ms`: a machine that has much to do between two of them. */
  slowDown(ms: number): void {
    this.#readingMs = ms
  }

  /** How many wait for their time. */
  get sleeping(): number {
    return this.#sleepers.length
  }

  /** The machine sleeps for `ms`: nobody wakes, and only afterwards the wall clock tells. */
  doze(ms: number): void {
    this.#wall += ms
    this.#sleptMs += ms
  }

  /** Sets the wall clock alone forward or back, as a person or a time server does. */
  step(ms: number): void {
    this.#wall += ms
  }

  #takeTime(): void {
    this.#move(this.#monotonic + this.#readingMs)
  }

  #remove(sleeper: Sleeper): void {
    this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
  }

  #nextSleeper(until: number): Sleeper | undefined {
    return this.#sleepers
      .filter((sleeper) => sleeper.at <= until)
      .sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  #move(to: number): void {
    this.#wall += to - this.#monotonic
    this.#monotonic = to
  }
}

/** Lets promises, commits and messages between them come to rest. */
export async function settle(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve))
}
