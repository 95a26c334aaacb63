import type { Clock } from '../../../system/clock.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { ageOf, OLD_AGE_MS } from './classify.ts'

const OLD_ROWS_MAX = 50
const WINDOW_MS = 600_000

/**
 * Whether iCloud is filling in the past: more than 50 rows that were old when they appeared, within ten
 * minutes. People saw thousands in a night, some of them little more than an hour old.
 */
export class BackFillWatch {
  readonly #clock: Clock
  #seenAt: readonly number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `good` is the line's last good moment: what came while something was down is not old. */
  isBackFill(rows: readonly MessageRow[], good: number): boolean {
    const now = this.#clock.monotonic()
    const old = rows.filter((row) => ageOf(row, good) > OLD_AGE_MS).map(() => now)
    const recent = this.#seenAt.filter((at) => now - at < WINDOW_MS)
    this.#seenAt = [...recent, ...old].slice(-OLD_ROWS_MAX - 1)
    return this.#seenAt.length > OLD_ROWS_MAX
  }
}
