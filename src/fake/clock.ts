import { systemClock } from '../system/clock.ts'
import { DrivenClock } from '../system/driven-clock.ts'
import type { Traffic } from './traffic.ts'

/** The instant at which the clock stands with `--seed`: 2026-01-01T12:00:00Z. */
export const SEEDED_START = 1_767_268_800_000

/** The state of the clock for a snapshot: an instant if it stands still, else how far it is ahead of the real time. */
export type ClockState = { readonly isFrozen: boolean; readonly ms: number }

export const REAL_TIME: ClockState = { isFrozen: false, ms: 0 }

/** Runs with the real time unless it is frozen, and can be moved forward in either case. */
export class FakeClock extends DrivenClock {
  /** The real time up to which this clock has followed; null while it stands still. */
  #followedTo: number | null = null
  #cancelTimer = () => {}

  readonly #traffic: Pick<Traffic, 'settle' | 'settleBetween'>

  constructor({ isFrozen, ms }: ClockState, traffic: Pick<Traffic, 'settle' | 'settleBetween'>) {
    super(isFrozen ? ms : systemClock.now() + ms, () => traffic.settle())
    this.#traffic = traffic
    this.freeze(isFrozen)
  }

  get isFrozen(): boolean {
    return this.#followedTo === null
  }

  state(): ClockState {
    const { isFrozen } = this
    return { isFrozen, ms: this.now() - (isFrozen ? 0 : systemClock.now()) }
  }

  freeze(isFrozen: boolean): void {
    if (isFrozen === this.isFrozen) return
    this.tick()
    this.#followedTo = isFrozen ? null : systemClock.monotonic()
    this.#awaitNext()
  }

  override after(ms: number, act: () => void): () => void {
    this.tick()
    const cancel = super.after(ms, act)
    this.#awaitNext()
    return cancel
  }

  /** The real time does not count while the clock moves. */
  override async advanceUntil(isOver: () => boolean, ms: number): Promise<void> {
    const wasFrozen = this.isFrozen
    this.freeze(true)
    await super.advanceUntil(isOver, ms)
    this.freeze(wasFrozen)
  }

  protected override settleBetween(): Promise<void> {
    return this.#traffic.settleBetween()
  }

  protected override tick(): void {
    if (this.#followedTo === null) return
    const real = systemClock.monotonic()
    this.moveTo(this.uptime() + real - this.#followedTo)
    this.#followedTo = real
  }

  #awaitNext(): void {
    this.#cancelTimer()
    if (this.isFrozen) return
    const first = this.next(Infinity)
    if (first === null) return
    this.#cancelTimer = systemClock.after(Math.ceil(first.at - this.uptime()), () => {
      this.tick()
      this.wakeDue()
      this.#awaitNext()
    })
  }
}
