import { comeToRest, DrivenClock } from '../../src/system/driven-clock.ts'

/** 2026-11-21T10:00:00.000Z. */
export const TEST_START = 1_795_255_200_000

/** A clock that moves only by its methods, on a machine that may also be busy or asleep. */
export class TestClock extends DrivenClock {
  #sleptMs = 0
  #readingMs = 0

  constructor(start = TEST_START) {
    super(start)
  }

  override uptime(): number {
    return super.uptime() + this.#sleptMs
  }

  /** Both clocks jump by `ms`, and sleepers until then wake late and at once: a machine that is busy. */
  async skip(ms: number): Promise<void> {
    this.moveTo(super.uptime() + ms)
    this.wakeDue()
    await settle()
  }

  /** From now on each reading takes `ms`: a machine that has much to do between two of them. */
  slowDown(ms: number): void {
    this.#readingMs = ms
  }

  /** The machine sleeps for `ms`: nobody wakes, and only the wall clock shows it afterwards. */
  doze(ms: number): void {
    this.step(ms)
    this.#sleptMs += ms
  }

  protected override tick(): void {
    if (this.#readingMs > 0) this.moveTo(super.uptime() + this.#readingMs)
  }
}

export const settle = comeToRest
