// The seq of a moment in a table. `seq` grows with `created_at`, so halving finds it, with some twenty
// looks at a million rows: an index over `created_at` would have to be paid for by every row.

import type { Db } from './database.ts'
import { getRow } from './statement.ts'

type Place = { readonly seq: number; readonly createdAt: number }
type Timed = 'messages' | 'events' | 'deliveries'

/**
 * The seq of the first row recorded at `at` or later, whatever was deleted since; beyond all others where
 * there is none.
 */
export function firstSeqSince(db: Db, table: Timed, at: number): number {
  const sql = `SELECT seq, created_at AS createdAt FROM ${table} WHERE seq >= +$seq ORDER BY seq LIMIT 1`
  const from = (seq: number) => getRow<Place>(db, sql, { seq })
  let first = 1
  let last =
    (getRow<{ seq: number | null }>(db, `SELECT max(seq) AS seq FROM ${table}`)?.seq ?? 0) + 1
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    const place = from(middle)
    if (place === null || place.createdAt >= at) last = middle
    else first = place.seq + 1
  }
  return from(first)?.seq ?? Number.MAX_SAFE_INTEGER
}
