// How a list with filters is read: by an index, in the order of the list, and up to a number of rows. A
// filter that leaves nothing then costs as much as any other one, and never the whole table.

import type { Db } from './database.ts'
import { getRows, type Values } from './statement.ts'

/** Rows that one page goes through at most, whatever its filters leave of them: some ten milliseconds. */
export const EXAMINED_MAX = 5_000

/** A row in the order of a list; `fits` is false if a filter leaves it out. */
type Examined = { readonly fits: 0 | 1 | boolean | null }

/** The first `wanted` rows that fit, or fewer; `last` is where the look ended if the list goes on behind it. */
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

/** The rows of a list, `step` of them at a time: `read` gives those after one, or after null the first ones. */
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

/** Rows that an index has in the order of a list, and the condition of a filter that is left to be compared. */
export type Range = {
  /** Table, index and conditions of the index. */
  readonly from: string
  readonly fits: string
  readonly values: Values
  /** Column of the order; `seq` if it is left out. */
  readonly place?: string
}

/** `before` is the place of a cursor; null for the beginning of the list. */
export type ListPage = { readonly limit: number; readonly before: number | null }

type Place = Examined & { readonly seq: number; readonly place: number }

/** Seqs of the rows of a page, highest place first, and the place behind which the next one goes on. */
export function scanRanges(db: Db, ranges: readonly Range[], { limit, before }: ListPage) {
  // What is read ahead of each range counts too.
  const step = Math.max(1, Math.min(limit, Math.floor(EXAMINED_MAX / 2 / ranges.length)))
  const most = Math.max(1, EXAMINED_MAX - step * ranges.length)
  const start = before ?? Number.MAX_SAFE_INTEGER
  const lists = ranges.map(({ from, fits, values, place = 'seq' }) => {
    const sql = `SELECT seq, ${place} AS place, (${fits}) AS fits FROM ${from} AND ${place} < +$to
      ORDER BY ${place} DESC LIMIT +$step`
    return inSteps<Place>(step, (last) =>
      getRows(db, sql, { ...values, to: last?.place ?? start, step }),
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
