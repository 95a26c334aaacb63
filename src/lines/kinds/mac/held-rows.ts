import type { Clock } from '../../../system/clock.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { peerOf } from './classify.ts'

type Held = {
  /** By the monotonic clock. */
  readonly since: number
  /** Who wrote it; null for a row of ours, and until it was read in this life of the line. */
  readonly peer: string | null
  readonly isPatient: boolean
}

/**
 * Rows that were read and are not complete: those of the same person behind them wait too. A patient row,
 * which may wait for long, delays no other.
 */
export class HeldRows {
  readonly #clock: Clock
  readonly #held = new Map<number, Held>()

  constructor(clock: Clock, rowIds: readonly number[]) {
    this.#clock = clock
    for (const rowId of rowIds)
      this.#held.set(rowId, { since: clock.monotonic(), peer: null, isPatient: false })
  }

  get rowIds(): readonly number[] {
    return [...this.#held.keys()]
  }

  /** Those that are not patient. */
  get urgentCount(): number {
    return this.#held.size - this.patientCount
  }

  get patientCount(): number {
    let count = 0
    for (const { isPatient } of this.#held.values()) if (isPatient) count += 1
    return count
  }

  has({ rowId }: MessageRow): boolean {
    return this.#held.has(rowId)
  }

  isPatient({ rowId }: MessageRow): boolean {
    return this.#held.get(rowId)?.isPatient === true
  }

  /** Whether a row that the same person wrote before this one is held. */
  isBehind(row: MessageRow): boolean {
    const peer = row.isFromMe ? null : peerOf(row)
    if (peer === null || this.#held.size === 0) return false
    for (const [rowId, held] of this.#held) {
      if (held.peer === peer && !held.isPatient && rowId < row.rowId) return true
    }
    return false
  }

  waitedMs(row: MessageRow): number {
    const held = this.#held.get(row.rowId)
    return held === undefined ? 0 : this.#clock.monotonic() - held.since
  }

  hold(row: MessageRow, isPatient: boolean): void {
    const since = this.#held.get(row.rowId)?.since ?? this.#clock.monotonic()
    this.#held.set(row.rowId, { since, peer: row.isFromMe ? null : peerOf(row), isPatient })
  }

  release(rowId: number): void {
    this.#held.delete(rowId)
  }

  /** Rows that were deleted while they waited. */
  releaseAllBut(rows: readonly MessageRow[]): void {
    const there = new Set(rows.map(({ rowId }) => rowId))
    for (const rowId of this.#held.keys()) if (!there.has(rowId)) this.#held.delete(rowId)
  }

  clear(): void {
    this.#held.clear()
  }
}
