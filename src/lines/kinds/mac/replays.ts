// Replays: messages that iCloud writes again under another guid and ROWID, minutes after they came by push, or at any
// later time. People also write the same text twice within a second; those rows come soon after each other.

import type { Clock } from '../../../system/clock.ts'
import { dropOldest } from '../../../system/memoize.ts'
import type { MessageRow } from './chat-db-rows.ts'

/** Longest time between the two rows of a person who wrote the same text twice. */
const APART_MS = 60_000
const SEEN_MAX = 10_000

export class Replays {
  readonly #clock: Clock
  readonly #startedAt: number
  /** Times at which rows were seen (monotonic), by guid, oldest first. */
  readonly #seenAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  see(rows: readonly MessageRow[]): void {
    const now = this.#clock.monotonic()
    for (const [guid, at] of this.#seenAt) {
      if (now - at <= 2 * APART_MS) break
      this.#seenAt.delete(guid)
    }
    for (const { guid } of rows) {
      if (!this.#seenAt.has(guid)) this.#seenAt.set(guid, now)
      dropOldest(this.#seenAt, SEEN_MAX)
    }
  }

  /**
   * True if `row` repeats one of `equals`: earlier rows with its text and its people, dated within a second. Any
   * number of copies may have the original's exact date. If the dates differ, each original has one replay at a time:
   * the second of two new rows is a message that came only by iCloud.
   */
  isReplay(row: MessageRow, equals: readonly MessageRow[]): boolean {
    const agoMs = this.#agoMs(row)
    const isOld = (other: MessageRow) => this.#agoMs(other) - agoMs > APART_MS
    // Nobody writes the same text twice in one millisecond; but carriers date in whole seconds. A date in the future
    // never passes, so the time at which the other row was seen counts too.
    const isCopy = (other: MessageRow) =>
      other.at === row.at &&
      (isExactlyDated(row) || isOld(other) || (this.#isPast(row) && this.#agoMs(other) > agoMs))
    const oldCount = equals.filter(isOld).length
    return equals.some(isCopy) || oldCount > equals.length - oldCount
  }

  #isPast({ at }: MessageRow): boolean {
    return at !== null && this.#clock.now() - at > APART_MS
  }

  /**
   * Time since a row was seen. A row from before this run counts as seen at its date; if the date is far in the
   * future, it counts as long ago.
   */
  #agoMs({ guid, at }: MessageRow): number {
    const now = this.#clock.monotonic()
    const seenAt = this.#seenAt.get(guid)
    if (seenAt !== undefined) return now - seenAt
    return Math.max(now - this.#startedAt, at === null ? 0 : Math.abs(this.#clock.now() - at))
  }
}

/** True for a date by which even two rows of one read are one message: a Mac that wakes up reads both at once. */
function isExactlyDated({ at, state }: MessageRow): boolean {
  return at !== null && (state.service === 'iMessage' || at % 1_000 !== 0)
}
