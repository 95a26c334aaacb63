// Rows without a date, or with an impossible one: whole stretches of old databases have none
// (imessage-exporter), and iCloud rewrites them.

import type { Clock } from '../../../system/clock.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { dateOf } from './classify.ts'

/** Of the undated rows in this time, at most one is new, and only if the newest dated rows are new. */
const NEW_MS = 60_000

export class UndatedRows {
  readonly #clock: Clock
  #seenAt = -Infinity
  #alone: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(db: ChatDb, rows: readonly MessageRow[]): void {
    const [now, monotonic] = [this.#clock.now(), this.#clock.monotonic()]
    if (rows.every((row) => dateOf(row, now) !== null)) return
    const isFirst = monotonic - this.#seenAt >= NEW_MS
    this.#seenAt = monotonic
    const [only] = rows
    const isAlone = isFirst && rows.length === 1 && areNewestRecent(db, now)
    if (isAlone && only !== undefined) this.#alone = only.rowId
  }

  /** True if the row came alone while the newest rows were new. */
  isAlone({ rowId }: MessageRow): boolean {
    return rowId === this.#alone
  }
}

function areNewestRecent(db: ChatDb, now: number): boolean {
  const newest = db.rowsAt(db.lastRows().map(({ rowId }) => rowId))
  return newest.some(({ at }) => at !== null && Math.abs(now - at) < NEW_MS)
}
