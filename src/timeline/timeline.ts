// The timeline: entries of all kinds in one list, newest first, read in pages from what is stored.

import { decodeCursor, pageOf, type PageRequest } from '../api/paging.ts'
import type { Timeline, TimelineEntry } from '../api/timeline.ts'
import { dayOf, startOfDay } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import { EXAMINED_MAX, inSteps, scan } from '../storage/scan.ts'
import { isoTime } from '../system/iso-time.ts'
import { KINDS, type Caller, type Kind, type Reader, type Row } from './kinds.ts'
import { summaryOf } from './summary.ts'

export type TimelineRange = {
  readonly since?: Timestamp | undefined
  readonly until?: Timestamp | undefined
}

const SUMMARY_MS_MAX = 7 * DAY_MS
/** By default the range begins this long before midnight: the evening before. */
const EVENING_MS = 6 * HOUR_MS
const LAST = Number.MAX_SAFE_INTEGER

/** The position of an entry: its time, the index of its kind in `KINDS`, and its key. */
type Place = { readonly at: number; readonly rank: number; readonly key: number }

type Bounds = { readonly since: number; readonly until: number }

/** Reads the timeline for callers; `titleOf` is the title of a reason for being offline. */
export function createTimeline(
  core: Core,
  given: { readonly titleOf: (reason: string) => string },
) {
  const { db, clock, settings } = core
  return (caller: Caller, range: TimelineRange, page: PageRequest): Timeline => {
    const zone = settings.get('time_zone')
    const now = clock.now()
    const { before, since, until } = start(page.cursor, range, { now, zone })
    const reader = { db, ...caller, ...given, clock: clockIn(zone) }
    const found = entriesIn(reader, { since, until }, { limit: page.limit + 1, before })
    const { data, has_more, next_cursor } = pageOf(
      found,
      page.limit,
      (one) => entryOf(one, reader),
      (one) => positionOf(one, { since, until }),
    )
    const isSummed = page.cursor === null && until - since <= SUMMARY_MS_MAX
    return {
      data,
      has_more,
      next_cursor,
      since: isoTime(timestamp(since)),
      until: isoTime(timestamp(until)),
      time_zone: zone,
      summary: isSummed ? summaryOf(core, caller, { since, until, now }) : null,
    }
  }
}

/** The range, and the place before which the page begins. A cursor holds the range of its first page. */
function start(
  cursor: string | null,
  range: TimelineRange,
  { now, zone }: { readonly now: number; readonly zone: string },
): Bounds & { readonly before: Place } {
  if (cursor === null) {
    const { since = startOfDay(dayOf(now, zone), zone) - EVENING_MS, until = Math.trunc(now) + 1 } =
      range
    if (since < until) return { since, until, before: { at: until, rank: -1, key: 0 } }
    throw invalidRequest({ path: 'since', message: 'must be before until' })
  }
  const [at, rank, key, since, until] = decodeCursor(cursor, 5) ?? []
  if (at !== undefined && rank !== undefined && key !== undefined)
    return { since: since ?? 0, until: until ?? 0, before: { at, rank, key } }
  throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
}

type Listed = Row & { readonly rank: number; readonly fits: boolean }

/** The numbers of a cursor that continues after this row, in the same range. */
function positionOf({ place, rank, key }: Listed, { since, until }: Bounds): readonly number[] {
  return [place, rank, key, since, until]
}

/** Examines at most 5,000 rows of all kinds together. */
function entriesIn(
  reader: Reader,
  bounds: Bounds,
  page: { readonly limit: number; readonly before: Place },
) {
  const step = Math.min(page.limit, Math.floor(EXAMINED_MAX / 2 / (KINDS.length + 1)))
  const lists = KINDS.map((kind, rank) => rowsOf(kind, { reader, rank, step, bounds }, page.before))
  const all = merged([...lists, stillOff(reader, bounds, page.before)])
  const { rows, last } = scan(all, page.limit, EXAMINED_MAX - step * lists.length)
  return { rows, upTo: last && positionOf(last, bounds) }
}

/** The rows of a kind in the range, newest first. */
function rowsOf(
  kind: Kind,
  given: { reader: Reader; rank: number; step: number; bounds: Bounds },
  before: Place,
): Iterator<Listed, undefined> {
  const { reader, rank, step, bounds } = given
  const { from, place, key, unitMs, columns } = kind
  const sql = `SELECT ${place} * ${unitMs} AS place, ${key} AS "key", ${columns} FROM ${from}
    WHERE (${place}, ${key}) < (+$at, +$key) AND ${place} >= +$since
    ORDER BY ${place} DESC, ${key} DESC LIMIT +$step`
  const since = Math.floor(bounds.since / unitMs)
  return inSteps<Listed>(step, (last) => {
    const [at, lastKey] = placeBefore(last === null ? before : { ...last, at: last.place }, rank)
    const units = lastKey === -1 ? Math.ceil(at / unitMs) : Math.floor(at / unitMs)
    const rows = reader.db.rows<Row>(sql, { at: units, key: lastKey, since, step })
    return rows.map((row) => ({ ...row, rank, fits: kind.isShown(row, reader) }))
  })
}

/** The exclusive upper bound of time and key for this kind's entries after the position: kinds are listed by index. */
function placeBefore({ at, rank, key }: Place, of: number): readonly [at: number, key: number] {
  if (of === rank) return [at, key]
  return [at, of < rank ? LAST : -1]
}

/** The lines that went off before the range and were still off when it began, newest first. */
function* stillOff(reader: Reader, { since }: Bounds, before: Place): Generator<Listed, undefined> {
  const [kind] = KINDS
  if (kind === undefined) return undefined
  const sql = `SELECT s.at AS place, s.line_seq AS "key", ${kind.columns.replaceAll('line_states.', 's.')}
    FROM lines l CROSS JOIN line_states s ON s.line_seq = l.seq AND s.at =
      (SELECT max(at) FROM line_states WHERE line_seq = l.seq AND at < $since)`
  const rows = reader.db.rows<Row & { readonly endsAt: number | null }>(sql, { since })
  const lasted = rows.filter(({ endsAt }) => endsAt === null || endsAt > since)
  for (const row of lasted.toSorted((a, b) => b.place - a.place || b.key - a.key)) {
    const isNext = row.place < before.at || (row.place === before.at && row.key < before.key)
    if (isNext) yield { ...row, rank: 0, fits: kind.isShown(row, reader) }
  }
  return undefined
}

function* merged(lists: readonly Iterator<Listed, undefined>[]): Generator<Listed, undefined> {
  const readers = lists.map((rows) => ({ rows, head: rows.next().value }))
  for (;;) {
    let first: (typeof readers)[number] | undefined
    for (const one of readers) {
      if (one.head !== undefined && (first?.head === undefined || isLater(one.head, first.head)))
        first = one
    }
    if (first?.head === undefined) return undefined
    yield first.head
    first.head = first.rows.next().value
  }
}

function isLater(one: Listed, other: Listed): boolean {
  if (one.place !== other.place) return one.place > other.place
  return one.rank === other.rank ? one.key > other.key : one.rank > other.rank
}

function entryOf(row: Listed, reader: Reader): TimelineEntry {
  const { place, rank, key } = row
  const described = KINDS[rank]?.describe(row, reader) ?? { kind: 'change', text: '' }
  return {
    id: `${described.kind}-${place}-${key}`,
    at: isoTime(timestamp(place)),
    until: null,
    phone_line_id: null,
    webhook_id: null,
    message_id: null,
    handle: null,
    reason: null,
    action: null,
    counts: null,
    ...described,
  }
}

/** Returns a function that formats times of day in the zone: "03:12". */
function clockIn(zone: string): (at: number) => string {
  return (at) => {
    const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
    return time.toPlainTime().toString({ smallestUnit: 'minute' })
  }
}

export type ReadTimeline = ReturnType<typeof createTimeline>
