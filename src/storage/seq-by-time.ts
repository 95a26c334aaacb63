// The seq of a moment in a table. `seq` grows with `created_at`, so halving finds it, with some twenty
// looks at a million rows: an index over `created_at` would have to be paid for by every row.

import type { Db } from './database.ts'
import { statement } from './statement.ts'

type Place = { readonly seq: number; readonly createdAt: number }
type Timed = 'messages' | 'events' | 'deliveries'

const placesIn = (table: Timed) => ({
  from: statement<Place>(
    `SELECT seq, created_at AS createdAt FROM ${table} WHERE seq >= +$seq ORDER BY seq LIMIT 1`,
  ),
  newest: statement<{ seq: number | null }>(`SELECT max(seq) AS seq FROM ${table}`),
})

const PLACES = {
  messages: placesIn('messages'),
  events: placesIn('events'),
  deliveries: placesIn('deliveries'),
}

/**
 * The seq of the first row recorded at `at` or later, whatever was deleted since; beyond all others where
 * there is none.
 */
export function firstSeqSince(db: Db, table: Timed, at: number): number {
  const from = PLACES[table].from(db)
  let first = 1
  let last = (PLACES[table].newest(db).get({})?.seq ?? 0) + 1
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    const place = from.get({ seq: middle })
    if (place === null || place.createdAt >= at) last = middle
    else first = place.seq + 1
  }
  return from.get({ seq: first })?.seq ?? Number.MAX_SAFE_INTEGER
}
