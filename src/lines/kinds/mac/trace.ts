// Records how Messages writes a message: which rows of chat.db come, how they change, and when. A test can replay the
// record to the driver. The record holds no text, address or guid.

import { Database, type Statement } from 'bun:sqlite'
import { createHmac } from 'node:crypto'

import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import { decodeAttributedBody } from './attributed-body.ts'

/** `t` is milliseconds from the start; 0 for an older row that a new one refers to. */
export type TraceEntry = { readonly t: number } & RowChange

export type TraceOrder = {
  readonly path: string
  readonly forMs: number
  readonly clock: Clock
  readonly random: Random
  readonly write: (entry: TraceEntry) => void
}

/** `isWhole` is false if more happened than fits into a trace. */
export type TraceEnd = { readonly isWhole: boolean }

const READ_EVERY_MS = 20
const ENTRIES_MAX = 50_000

/** Each table comes after the tables that its rows refer to. */
const TABLES = [
  'handle',
  'chat',
  'message',
  'attachment',
  'chat_handle_join',
  'chat_message_join',
  'message_attachment_join',
]

/** Columns that may refer to rows from before the trace. */
const REFERENCES = [
  { from: 'message', column: 'handle_id', to: 'handle' },
  { from: 'message', column: 'other_handle', to: 'handle' },
  { from: 'chat_message_join', column: 'chat_id', to: 'chat' },
]

/**
 * Records the changes of chat.db for `forMs`, or until `signal` aborts. Only reads. Throws SQLite's error
 * if the file cannot be read.
 */
export async function recordTrace(order: TraceOrder, signal: AbortSignal): Promise<TraceEnd> {
  const { path, forMs, clock, random, write } = order
  using db = new Database(path, { readonly: true, safeIntegers: true })
  db.run('PRAGMA query_only = 1')
  db.run('PRAGMA busy_timeout = 5000')
  const startedAt = clock.monotonic()
  // The version is read first, so that a commit in between counts as a change.
  let version = dataVersion(db)
  const anonymize = createAnonymizer(random.bytes(32))
  const tables = inOneSnapshot(db, () =>
    TABLES.map((name) => FollowedTable.fromNow(db, name, anonymize)).filter(
      (table) => table !== null,
    ),
  )
  let entryCount = 0
  while (!signal.aborted && clock.monotonic() - startedAt < forMs && entryCount < ENTRIES_MAX) {
    await clock.sleep(READ_EVERY_MS, signal)
    const now = dataVersion(db)
    if (now === version) continue
    version = now
    const entries = inOneSnapshot(db, () =>
      changesIn(tables, Math.round(clock.monotonic() - startedAt)),
    )
    for (const entry of entries) write(entry)
    entryCount += entries.length
  }
  return { isWhole: entryCount < ENTRIES_MAX && !tables.some((table) => table.isFull) }
}

function changesIn(tables: readonly FollowedTable[], t: number): readonly TraceEntry[] {
  const find = (name: string) => tables.find((table) => table.name === name)
  const changed = tables.flatMap((table) => table.changes())
  const arrived = tables.flatMap((table) => table.arrivals())
  const older = REFERENCES.flatMap(({ from, column, to }) => {
    const rowIds = find(from)?.referencesIn(column) ?? []
    return find(to)?.known(rowIds) ?? []
  })
  return [
    ...older.map((change) => ({ t: 0, ...change })),
    ...[...changed, ...arrived].map((change) => ({ t, ...change })),
  ]
}

/** A number that changes with each commit of another connection; reading it takes less than a microsecond. */
function dataVersion(db: Database): bigint | undefined {
  return db.query<{ data_version: bigint }, []>('PRAGMA data_version').get()?.data_version
}

/** `read` must be short, because an open read keeps Messages from emptying its write-ahead log. */
function inOneSnapshot<T>(db: Database, read: () => T): T {
  return db.transaction(read)()
}

/** For an `update`, `set` holds the key and the new values; for a `delete`, the key. */
export type RowChange = {
  readonly op: 'insert' | 'join' | 'update' | 'delete'
  readonly table: string
  readonly set: Readonly<Record<string, TraceValue>>
}

/** Followed rows per table: ten messages need a few dozen. */
const ROWS_MAX = 500

type Column = TracedColumn & { readonly isKey: boolean }
type Row = Readonly<Record<string, Cell>>

/** Alias of the ROWID; no column has this name. */
const ROW_ID = 'trace rowid'

export class FollowedTable {
  readonly name: string
  readonly #columns: readonly Column[]
  readonly #anonymize: Anonymizer
  readonly #after: Statement<Row>
  readonly #at: Statement<Row>
  readonly #rows = new Map<number, Row>()
  readonly #startRowId: number
  #lastRowId: number

  private constructor(
    db: Database,
    name: string,
    columns: readonly Column[],
    anonymize: Anonymizer,
  ) {
    this.name = name
    this.#columns = columns
    this.#anonymize = anonymize
    const names = columns.map((column) => `"${column.name.replaceAll('"', '""')}"`).join()
    const select = `SELECT rowid AS "${ROW_ID}", ${names} FROM ${name}`
    this.#after = db.prepare(`${select} WHERE rowid > ? ORDER BY rowid LIMIT ?`)
    this.#at = db.prepare(`${select} WHERE rowid IN (SELECT value FROM json_each(?))`)
    this.#startRowId = Number(db.prepare(`SELECT max(rowid) FROM ${name}`).values()[0]?.[0] ?? 0)
    this.#lastRowId = this.#startRowId
  }

  /** Returns null if the database has no such table. */
  static fromNow(db: Database, name: string, anonymize: Anonymizer): FollowedTable | null {
    const infos = db
      .query<{ name: string; type: string; pk: bigint }, []>(`PRAGMA table_info(${name})`)
      .all()
    if (infos.length === 0) return null
    const hasKey = infos.some(({ pk }) => pk > 0n)
    const columns = infos.map(({ name: column, type, pk }) => ({
      name: column,
      isNumeric: /INT|REAL|FLOA|DOUB/i.test(type),
      isKey: pk > 0n || !hasKey,
    }))
    return new FollowedTable(db, name, columns, anonymize)
  }

  /** True if no further rows are followed. */
  get isFull(): boolean {
    return this.#rows.size >= ROWS_MAX
  }

  /** The new rows since the last call; they are followed from now on. */
  arrivals(): readonly RowChange[] {
    const rows = this.#after.all(this.#lastRowId, ROWS_MAX - this.#rows.size)
    this.#lastRowId = Math.max(this.#lastRowId, ...rows.map(rowIdOf))
    return this.#follow(rows)
  }

  /** Older rows that were not followed before; they are followed from now on. */
  known(rowIds: readonly number[]): readonly RowChange[] {
    return this.isFull ? [] : this.#follow(this.#readAt(rowIds))
  }

  changes(): readonly RowChange[] {
    const now = new Map(this.#readAt([...this.#rows.keys()]).map((row) => [rowIdOf(row), row]))
    return [...this.#rows].flatMap(([rowId, before]) => {
      const after = now.get(rowId)
      if (after === undefined) return [this.#forget(rowId, before)]
      this.#rows.set(rowId, after)
      const isNew = ({ name }: Column) => !Bun.deepEquals(before[name], after[name])
      return this.#columns.some(isNew) ? [this.#change('update', after, isNew)] : []
    })
  }

  referencesIn(column: string): readonly number[] {
    return [...this.#rows.values()].map((row) => Number(row[column] ?? 0))
  }

  #follow(rows: readonly Row[]): readonly RowChange[] {
    const unknown = rows.filter((row) => !this.#rows.has(rowIdOf(row)))
    for (const row of unknown) this.#rows.set(rowIdOf(row), row)
    const op = this.name.endsWith('_join') ? 'join' : 'insert'
    return unknown.map((row) => this.#change(op, row, () => true))
  }

  /** A table without AUTOINCREMENT may give the highest ROWID again once it is free. */
  #forget(rowId: number, row: Row): RowChange {
    this.#rows.delete(rowId)
    this.#lastRowId = Math.max(this.#startRowId, Math.min(this.#lastRowId, rowId - 1))
    return this.#change('delete', row, () => false)
  }

  #change(op: RowChange['op'], row: Row, isRecorded: (column: Column) => boolean): RowChange {
    const recorded = this.#columns
      .filter((column) => column.isKey || isRecorded(column))
      .map((column) => [column.name, this.#anonymize(column, row[column.name] ?? null)] as const)
    return { op, table: this.name, set: Object.fromEntries(recorded) }
  }

  #readAt(rowIds: readonly number[]): readonly Row[] {
    return rowIds.length === 0 ? [] : this.#at.all(JSON.stringify(rowIds))
  }
}

function rowIdOf(row: Row): number {
  return Number(row[ROW_ID])
}

// A trace is given to other people: of a cell it keeps numbers, lengths, and a few words of Apple. All other text, in
// any column, becomes a token.

/** A cell as SQLite returns it with `safeIntegers`. */
export type Cell = string | bigint | number | Uint8Array | null

export type TraceValue =
  | string
  | number
  | null
  | { readonly bytes: number; readonly decoded?: boolean | undefined }

export type TracedColumn = {
  readonly name: string
  /** True if the column is declared numeric: a number in it is neither an address nor a name. */
  readonly isNumeric: boolean
}

export type Anonymizer = (column: TracedColumn, cell: Cell) => TraceValue

/** Columns with words of Apple, if they match. */
const OWN_WORDS: Readonly<Record<string, RegExp>> = {
  service: /^[A-Za-z]{1,16}$/,
  service_name: /^[A-Za-z]{1,16}$/,
  balloon_bundle_id: /^com\.apple\.[A-Za-z.]{1,64}$/,
  expressive_send_style_id: /^com\.apple\.[A-Za-z.]{1,64}$/,
}

/** Columns whose values begin with a meaningful prefix: `any;-;+1202…`, `E:anna@…`. */
const PREFIXES: Readonly<Record<string, RegExp>> = {
  guid: /^(?:[A-Za-z]{1,16};[-+];|at_\d{1,3}_)/,
  account: /^[A-Za-z]:/,
  account_login: /^[A-Za-z]:/,
  associated_message_guid: /^(?:p:\d{1,3}\/|bp:)/,
}

/** Equal texts become equal tokens, which cannot be reversed without `salt`. */
export function createAnonymizer(salt: Uint8Array): Anonymizer {
  const tokenOf = (text: string) => {
    const hash = createHmac('sha256', salt).update(text).digest('hex')
    return `#${hash.slice(0, 12)}`
  }
  return (column, cell) => {
    if (cell === null) return null
    if (column.name === 'attributedBody') return bodyValue(cell)
    if (cell instanceof Uint8Array) return { bytes: cell.byteLength }
    if (typeof cell === 'string') return anonymousText(column.name, cell, tokenOf)
    return column.isNumeric ? exactNumber(cell) : tokenOf(String(cell))
  }
}

function anonymousText(column: string, text: string, tokenOf: (text: string) => string): string {
  if (text === '' || OWN_WORDS[column]?.test(text) === true) return text
  const prefix = PREFIXES[column]?.exec(text)?.[0] ?? ''
  return prefix + tokenOf(text.slice(prefix.length))
}

function bodyValue(cell: Exclude<Cell, null>): TraceValue {
  const body = cell instanceof Uint8Array ? cell : String(cell)
  return { bytes: Buffer.byteLength(body), decoded: decodeAttributedBody(body).ok }
}

/** Nanoseconds since 2001 exceed the digits that JSON readers keep, so they become a string. */
function exactNumber(cell: bigint | number): number | string {
  const number = Number(cell)
  return typeof cell === 'number' || Number.isSafeInteger(number) ? number : String(cell)
}
