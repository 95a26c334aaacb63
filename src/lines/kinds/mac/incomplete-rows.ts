// Rows that wait to be complete, and the recognition of a past that iCloud fills in.

import type { Clock } from '../../../system/clock.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { ageOf, OLD_AGE_MS, peerOf } from './classify.ts'

type IncompleteRow = {
  /** By the monotonic clock. */
  readonly since: number
  /** Sender; null for a row of ours, and until it was read in this run. */
  readonly peer: string | null
  readonly isPatient: boolean
}

/** Rows that wait to be complete. Later rows of the same sender wait behind those that are not patient. */
export class IncompleteRows {
  readonly #clock: Clock
  readonly #rows = new Map<number, IncompleteRow>()

  constructor(clock: Clock, rowIds: readonly number[]) {
    this.#clock = clock
    for (const rowId of rowIds)
      this.#rows.set(rowId, { since: clock.monotonic(), peer: null, isPatient: false })
  }

  get rowIds(): readonly number[] {
    return [...this.#rows.keys()]
  }

  get urgentCount(): number {
    return this.#rows.size - this.patientCount
  }

  get patientCount(): number {
    return [...this.#rows.values()].filter(({ isPatient }) => isPatient).length
  }

  has({ rowId }: MessageRow): boolean {
    return this.#rows.has(rowId)
  }

  isPatient({ rowId }: MessageRow): boolean {
    return this.#rows.get(rowId)?.isPatient === true
  }

  /** An earlier row of the same sender is waiting. */
  isBehind(row: MessageRow): boolean {
    const peer = row.isFromMe ? null : peerOf(row)
    if (peer === null || this.#rows.size === 0) return false
    for (const [rowId, waiting] of this.#rows) {
      if (waiting.peer === peer && !waiting.isPatient && rowId < row.rowId) return true
    }
    return false
  }

  waitedMs({ rowId }: MessageRow): number {
    const now = this.#clock.monotonic()
    return now - (this.#rows.get(rowId)?.since ?? now)
  }

  add(row: MessageRow, isPatient: boolean): void {
    const since = this.#rows.get(row.rowId)?.since ?? this.#clock.monotonic()
    this.#rows.set(row.rowId, { since, peer: row.isFromMe ? null : peerOf(row), isPatient })
  }

  release(rowId: number): void {
    this.#rows.delete(rowId)
  }

  /** Releases the rows that were deleted while they waited. */
  releaseAllBut(rows: readonly MessageRow[]): void {
    const existing = new Set(rows.map(({ rowId }) => rowId))
    for (const rowId of this.#rows.keys()) if (!existing.has(rowId)) this.#rows.delete(rowId)
  }

  clear(): void {
    this.#rows.clear()
  }
}

const OLD_ROWS_MAX = 50
const WINDOW_MS = 600_000

/**
 * Recognises that iCloud fills in the past: more than 50 rows that were old when they appeared, within ten
 * minutes. Users saw thousands in a night, some of them little more than an hour old.
 */
export class BackFillWatch {
  readonly #clock: Clock
  #seenAt: readonly number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isBackFill(rows: readonly MessageRow[], healthyAt: number): boolean {
    const now = this.#clock.monotonic()
    const old = rows.filter((row) => ageOf(row, healthyAt) > OLD_AGE_MS).map(() => now)
    const recent = this.#seenAt.filter((at) => now - at < WINDOW_MS)
    this.#seenAt = [...recent, ...old].slice(-OLD_ROWS_MAX - 1)
    return this.#seenAt.length > OLD_ROWS_MAX
  }
}
