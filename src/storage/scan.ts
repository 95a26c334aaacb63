// Reads one page of a filtered list: follows an index in the order of the list, and examines at most EXAMINED_MAX
// rows, whether they match or not. So a filter that matches nothing never scans the whole table.

import type { Db } from './database.ts'
import { type Values } from './statement.ts'

/** Most rows examined for one page, whether they match or not; takes some ten milliseconds. */
export const EXAMINED_MAX = 5_000

/** A row of a list; `fits` is true if it matches the filter. */
type Examined = { readonly fits: 0 | 1 | boolean | null }

/** Up to `wanted` rows that fit. `last` is the last examined row if the limit of `most` rows was reached, else null. */
export function scan<Row extends Examined>(
  list: Iterable<Row>,
  wanted: number,
  most = EXAMINED_MAX,
): { readonly rows: readonly Row[]; readonly last: Row | null } {
  const rows: Row[] = []
  let left = most
  let last: Row | null = null
  for (const row of list) {
    if (left === 0) return { rows, last }
    left -= 1
    last = row
    if (row.fits) rows.push(row)
    if (rows.length === wanted) break
  }
  return { rows, last: null }
}

/** The rows of a list, read in steps of `step` rows: `read` returns the rows after one (null: the first ones). */
export function* inSteps<Row>(
  step: number,
  read: (after: Row | null) => readonly Row[],
): Generator<Row, undefined> {
  for (let after: Row | null = null; ;) {
    const rows: readonly Row[] = read(after)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < step) return undefined
    after = last
  }
}

/** Rows of a table in the order of a list, by an index, and the rest of the filter. */
export type Range = {
  /** Table, index and conditions of the index. */
  readonly from: string
  readonly fits: string
  readonly values: Values
  /** The column of the order; `seq` by default. */
  readonly place?: string
}

/** `before` is the cursor's value of the order column; null for the first page. */
export type ListPage = { readonly limit: number; readonly before: number | null }

type Place = Examined & { readonly seq: number; readonly place: number }

/** Seqs of a page's rows, highest place (value of the order column) first, and the place where the next page begins. */
export function scanRanges(db: Db, ranges: readonly Range[], { limit, before }: ListPage) {
  // Rows that are read ahead in each range count too.
  const step = Math.max(1, Math.min(limit, Math.floor(EXAMINED_MAX / 2 / ranges.length)))
  const most = Math.max(1, EXAMINED_MAX - step * ranges.length)
  const start = before ?? Number.MAX_SAFE_INTEGER
  const lists = ranges.map(({ from, fits, values, place = 'seq' }) => {
    const sql = `SELECT seq, ${place} AS place, (${fits}) AS fits FROM ${from} AND ${place} < +$to
      ORDER BY ${place} DESC LIMIT +$step`
    return inSteps<Place>(step, (last) =>
      db.rows(sql, { ...values, to: last?.place ?? start, step }),
    )
  })
  const { rows, last } = scan(merged(lists), limit, most)
  return { seqs: rows.map(({ seq }) => seq), upTo: last && [last.place] }
}

function* merged(lists: readonly Iterator<Place, undefined>[]): Generator<Place, undefined> {
  const readers = lists.map((rows) => ({ rows, head: rows.next().value }))
  for (;;) {
    let first: (typeof readers)[number] | undefined
    for (const one of readers) if ((one.head?.place ?? -1) > (first?.head?.place ?? -1)) first = one
    if (first?.head === undefined) return undefined
    yield first.head
    first.head = first.rows.next().value
  }
}
