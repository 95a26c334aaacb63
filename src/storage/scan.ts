// How a list with filters is read: by an index, in the order of the list, and up to a number of rows. A
// filter that leaves nothing then costs as much as any other one, and never the whole table.

import type { Db } from './database.ts'
import { getRows, type Values } from './statement.ts'

/** Rows that one page goes through at most, whatever its filters leave of them: some ten milliseconds. */
export const EXAMINED_MAX = 5_000

/** A row at its place in the list; `fits` is false if a filter leaves it out. */
export type Examined = { readonly place: number; readonly fits: 0 | 1 | boolean | null }

/** Rows of one index, highest place first, that reads `step` of them at a time. */
export type Source<Row> = (step: number) => Iterable<Row>

export type Scanned<Row> = {
  readonly rows: readonly Row[]
  /** The last row that was examined, if the list goes on behind it; null at its end. */
  readonly last: Row | null
}

/** The first `wanted` rows that fit, of all sources in one order; fewer if they are far apart. */
export function scan<Row extends Examined>(
  sources: readonly Source<Row>[],
  wanted: number,
): Scanned<Row> {
  // What is read ahead of each source counts too.
  const step = Math.max(1, Math.min(wanted, Math.floor(EXAMINED_MAX / 2 / sources.length)))
  let left = Math.max(1, EXAMINED_MAX - step * sources.length)
  const rows: Row[] = []
  let last: Row | null = null
  for (const row of merged(sources.map((source) => source(step)))) {
    if (left === 0) return { rows, last }
    left -= 1
    last = row
    if (row.fits) rows.push(row)
    if (rows.length === wanted) break
  }
  return { rows, last: null }
}

/** A source that asks for the next rows after the last one, or after null for the first ones. */
export function inSteps<Row>(read: (after: Row | null, limit: number) => readonly Row[]) {
  return function* (step: number): Generator<Row, undefined> {
    for (let after: Row | null = null; ;) {
      const rows: readonly Row[] = read(after, step)
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < step) return undefined
      after = last
    }
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

/** Seqs of the rows of a page, highest place first, and the place behind which the next one goes on. */
export function scanRanges(db: Db, ranges: readonly Range[], { limit, before }: ListPage) {
  const start = before ?? Number.MAX_SAFE_INTEGER
  const sources = ranges.map(({ from, fits, values, place = 'seq' }) => {
    const sql = `SELECT seq, ${place} AS place, (${fits}) AS fits FROM ${from} AND ${place} < +$to
      ORDER BY ${place} DESC LIMIT +$most`
    return inSteps<Examined & { readonly seq: number }>((last, most) =>
      getRows(db, sql, { ...values, to: last?.place ?? start, most }),
    )
  })
  const { rows, last } = scan(sources, limit)
  return { seqs: rows.map(({ seq }) => seq), upTo: last && [last.place] }
}

function* merged<Row extends Examined>(
  sources: readonly Iterable<Row>[],
): Generator<Row, undefined> {
  const [only] = sources
  if (only !== undefined && sources.length === 1) {
    yield* only
    return undefined
  }
  const readers = sources.map((source) => {
    const rows = source[Symbol.iterator]()
    return { rows, head: rows.next() }
  })
  for (;;) {
    let first: (typeof readers)[number] | null = null
    for (const reader of readers)
      if (placeOf(reader) > (first ? placeOf(first) : -1)) first = reader
    if (first === null || first.head.done === true) return undefined
    yield first.head.value
    first.head = first.rows.next()
  }
}

function placeOf({ head }: { readonly head: IteratorResult<Examined> }): number {
  return head.done === true ? -1 : head.value.place
}
