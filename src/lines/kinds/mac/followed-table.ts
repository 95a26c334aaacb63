import type { Database, Statement } from 'bun:sqlite'

import type { Cell, Disguise, TraceValue, TracedColumn } from './disguise.ts'

/** What happened to a row; of an `update`, `set` holds its key and what is new, of a `delete` its key. */
export type RowChange = {
  readonly op: 'insert' | 'join' | 'update' | 'delete'
  readonly table: string
  readonly set: Readonly<Record<string, TraceValue>>
}

/** How many rows of one table are followed: ten messages need a few dozen. */
const ROWS_MAX = 500

type Column = TracedColumn & { readonly isKey: boolean }
/** The cells are in the order of the columns. */
type Row = { readonly rowId: number; readonly cells: readonly Cell[] }

/** One table of chat.db: which of its rows are followed, and what stood in them last. */
export class FollowedTable {
  readonly name: string
  readonly #columns: readonly Column[]
  readonly #disguise: Disguise
  readonly #after: Statement
  readonly #at: Statement
  readonly #rows = new Map<number, Row>()
  readonly #startRowId: number
  #lastRowId: number

  private constructor(db: Database, name: string, columns: readonly Column[], disguise: Disguise) {
    this.name = name
    this.#columns = columns
    this.#disguise = disguise
    const select = `SELECT rowid, ${columns.map((column) => quoted(column.name)).join()} FROM ${name}`
    this.#after = db.prepare(`${select} WHERE rowid > ? ORDER BY rowid LIMIT ?`)
    this.#at = db.prepare(`${select} WHERE rowid IN (SELECT value FROM json_each(?))`)
    this.#startRowId = Number(db.prepare(`SELECT max(rowid) FROM ${name}`).values()[0]?.[0] ?? 0)
    this.#lastRowId = this.#startRowId
  }

  /** What comes into a table from now on; null where the database has no such table. */
  static fromNow(db: Database, name: string, disguise: Disguise): FollowedTable | null {
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
    return new FollowedTable(db, name, columns, disguise)
  }

  /** Whether rows may have come that are not followed. */
  get isFull(): boolean {
    return this.#rows.size >= ROWS_MAX
  }

  /** The rows that are new since the last call; they are followed from here on. */
  arrivals(): readonly RowChange[] {
    const rows = rowsOf(this.#after.values(this.#lastRowId, ROWS_MAX - this.#rows.size))
    this.#lastRowId = rows.at(-1)?.rowId ?? this.#lastRowId
    return this.#follow(rows)
  }

  /** Those of the rows that are not followed so far; they are from here on. */
  known(rowIds: readonly number[]): readonly RowChange[] {
    const missing = new Set(rowIds.filter((rowId) => !this.#rows.has(rowId)))
    return this.isFull ? [] : this.#follow(this.#readAt([...missing]))
  }

  /** What changed in the rows that are followed. */
  changes(): readonly RowChange[] {
    const now = new Map(this.#readAt([...this.#rows.keys()]).map((row) => [row.rowId, row]))
    return [...this.#rows.values()].flatMap((before) => {
      const after = now.get(before.rowId)
      if (after === undefined) return [this.#forget(before)]
      this.#rows.set(after.rowId, after)
      const isNew = (index: number) => !isSame(before.cells[index], after.cells[index])
      if (!this.#columns.some((_, index) => isNew(index))) return []
      return [this.#change('update', after, isNew)]
    })
  }

  /** What the rows that are followed hold in a column of ROWIDs. */
  referencesIn(column: string): readonly number[] {
    const at = this.#columns.findIndex(({ name }) => name === column)
    return [...this.#rows.values()].map((row) => Number(row.cells[at] ?? 0))
  }

  #follow(rows: readonly Row[]): readonly RowChange[] {
    const unknown = rows.filter(({ rowId }) => !this.#rows.has(rowId))
    for (const row of unknown) this.#rows.set(row.rowId, row)
    const op = this.name.endsWith('_join') ? 'join' : 'insert'
    return unknown.map((row) => this.#change(op, row, () => true))
  }

  /** A table without AUTOINCREMENT gives the highest ROWID to another row once it is free. */
  #forget(row: Row): RowChange {
    this.#rows.delete(row.rowId)
    this.#lastRowId = Math.max(this.#startRowId, Math.min(this.#lastRowId, row.rowId - 1))
    return this.#change('delete', row, () => false)
  }

  #change(op: RowChange['op'], row: Row, isTold: (index: number) => boolean): RowChange {
    const told = this.#columns.flatMap((column, index) =>
      column.isKey || isTold(index)
        ? [[column.name, this.#disguise(column, row.cells[index] ?? null)] as const]
        : [],
    )
    return { op, table: this.name, set: Object.fromEntries(told) }
  }

  #readAt(rowIds: readonly number[]): readonly Row[] {
    return rowIds.length === 0 ? [] : rowsOf(this.#at.values(JSON.stringify(rowIds)))
  }
}

function rowsOf(values: ReturnType<Statement['values']>): readonly Row[] {
  return values.map(([rowId, ...cells]) => ({
    rowId: Number(rowId),
    cells: cells as readonly Cell[], // SQLite has no booleans.
  }))
}

function isSame(a: Cell | undefined, b: Cell | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  return a === b
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
