// The rows of the timeline that no other table has: marks of events, and counts by the hour.

import type { LineId, Timestamp } from '../domain/ids.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import type { MarkDetail, MarkKind } from '../domain/timeline.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Tx } from './database.ts'

const KEPT_MS = 400 * DAY_MS
const MARKS_MAX = 100_000

export type Mark = {
  readonly at: Timestamp
  readonly kind: MarkKind
  readonly lineId?: LineId | null
  readonly about?: string
  readonly detail: MarkDetail
}

/** Records an event, in the transaction in which it happens. */
export function mark(tx: Tx, { at, kind, lineId = null, about, detail }: Mark): void {
  const sql = `INSERT INTO timeline (at, kind, line_id, about, detail)
     VALUES ($at, $kind, $lineId, $about, $detail)`
  tx.execute(sql, { at, kind, lineId, about: about ?? null, detail: JSON.stringify(detail) })
}

const deletion = (table: string, isOld: string) => `DELETE FROM ${table} WHERE rowid IN (
   SELECT rowid FROM ${table} WHERE ${isOld} LIMIT $limit)`

/** Deletes marks and counts older than 400 days, and replaces the oldest marks beyond 100,000 with hourly counts. */
export const TIMELINE_PURGES: readonly ((tx: Tx, age: Age, limit: number) => number)[] = [
  (tx, age, limit) =>
    tx.execute(deletion('timeline', 'at < $before'), { before: age.ago(KEPT_MS), limit }).changes,
  (tx, age, limit) => {
    const before = Math.floor(age.ago(KEPT_MS) / HOUR_MS)
    return tx.execute(deletion('timeline_hours', 'hour < $before'), { before, limit }).changes
  },
  (tx, _age, limit) => {
    const isSurplus = `seq <= (SELECT max(seq) FROM timeline) - ${MARKS_MAX}`
    return deleteCounted(tx, { table: 'timeline', isSurplus, as: 'others' }, limit)
  },
]

/** Deletes the oldest surplus rows, and counts them by the hour in which they happened. */
export function deleteCounted(
  tx: Tx,
  rows: {
    readonly table: 'audit' | 'timeline'
    readonly isSurplus: string
    readonly as: 'changes' | 'others'
  },
  limit: number,
): number {
  const { table, isSurplus, as } = rows
  const sql = `DELETE FROM ${table} WHERE seq IN (
     SELECT seq FROM ${table} WHERE ${isSurplus} ORDER BY seq LIMIT $limit) RETURNING at`
  const gone = tx.rows<{ at: number }>(sql, { limit })
  const count = `INSERT INTO timeline_hours VALUES ($hour, 0, 0, 0, 0, 0, $changes, $others)
     ON CONFLICT DO UPDATE SET changes = changes + $changes, others = others + $others`
  for (const [hour, each] of Map.groupBy(gone, ({ at }) => Math.floor(at / HOUR_MS))) {
    const counts = { changes: 0, others: 0, [as]: each.length }
    tx.execute(count, { hour, ...counts })
  }
  return gone.length
}
