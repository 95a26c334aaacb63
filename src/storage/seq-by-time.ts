// Finds the seq of a moment in a table. `seq` is the rowid and grows with `created_at`, so a binary search finds it
// in some twenty steps among a million rows. An index over `created_at` would make every insert more expensive.

import type { Db } from './database.ts'

/** The seq of the first row recorded at `at` or later; MAX_SAFE_INTEGER if there is none. Seqs may have gaps. */
export function firstSeqSince(
  db: Db,
  table: 'messages' | 'events' | 'deliveries' | 'idempotency',
  at: number,
): number {
  const sql = `SELECT rowid AS seq, created_at AS createdAt FROM ${table}
   WHERE rowid >= +$seq ORDER BY rowid LIMIT 1`
  const from = (seq: number) => db.row<{ seq: number; createdAt: number }>(sql, { seq })
  let first = 1
  let last =
    (db.row<{ seq: number | null }>(`SELECT max(rowid) AS seq FROM ${table}`)?.seq ?? 0) + 1
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    const place = from(middle)
    if (place === null || place.createdAt >= at) last = middle
    else first = place.seq + 1
  }
  return from(first)?.seq ?? Number.MAX_SAFE_INTEGER
}
