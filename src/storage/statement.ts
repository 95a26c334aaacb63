import type { Changes, Database, Statement } from 'bun:sqlite'

import { getTableColumns } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

// SQLite prepares a statement again whenever a bound value might change its plan: a value compared on a table with
// partial indexes, or a LIMIT. That costs ten times as much as running it (measured with SQLite 3.54: 3 µs instead of
// 0.2). A unary plus hides a value from the planner, so hot queries write `+$name`.

/** Values of a raw statement, by the names of its parameters. */
export type Values = Record<string, string | number | boolean | Uint8Array | null>

/** The values that aren't undefined. */
export function given(values: Readonly<Record<string, Values[string] | undefined>>): Values {
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/* oxlint-disable typescript/no-unnecessary-type-parameters -- As Bun's `query` has it. */
/** Raw queries. A statement is kept by its text, so the text must be the same in every call: pass values by name. */
export type Queries = {
  row<Row>(sql: string, values?: Values): Row | null
  rows<Row>(sql: string, values?: Values): readonly Row[]
  /** Reads rows only as far as the caller iterates; until then, nothing else may run the same query. */
  each<Row>(sql: string, values?: Values): Iterable<Row>
}
/* oxlint-enable typescript/no-unnecessary-type-parameters */

export type Execute = (sql: string, values?: Values) => Changes

/** Prepares each statement only once, because that costs four times as much as running it. */
export function statementsOf(sqlite: Database): Queries & { readonly execute: Execute } {
  // Rows have the type `never`: only the caller knows the columns of its query.
  const statements = new Map<string, Statement<never, [Values]>>()
  const prepared = (sql: string) => {
    const statement = statements.get(sql) ?? sqlite.prepare<never, [Values]>(sql)
    statements.set(sql, statement)
    return statement
  }
  return {
    row: (sql, values = {}) => prepared(sql).get(values),
    rows: (sql, values = {}) => prepared(sql).all(values),
    each: (sql, values = {}) => prepared(sql).iterate(values),
    execute: (sql, values = {}) => prepared(sql).run(values),
  }
}

/** A row of a table as a raw statement gives it. */
export type RawRow<T extends SQLiteTable> = {
  readonly [K in keyof T['$inferSelect']]: RawValue<T['$inferSelect'][K]>
}

/** SQLite stores a boolean as 0 or 1, and JSON as text. */
type RawValue<V> = V extends boolean
  ? 0 | 1
  : V extends string | number | Uint8Array
    ? V
    : V extends object
      ? string
      : V

type Key<T extends SQLiteTable> = keyof T['$inferSelect'] & string

/** The schema's names for a table's columns, without those in `except`. */
export function columnsOf<T extends SQLiteTable>(
  table: T,
  except: readonly Key<T>[] = [],
): readonly Key<T>[] {
  const names = Object.keys(getTableColumns(table)) as Key<T>[] // The names that `$inferSelect` has.
  return names.filter((name) => !except.includes(name))
}

/** `m.due_at AS dueAt, …`: columns for a SELECT; `prefix` is `m.` here. */
export function selected<T extends SQLiteTable>(
  table: T,
  names: readonly Key<T>[] = columnsOf(table),
  prefix = '',
): string {
  return names.map((name) => `${prefix}"${sqlName(table, name)}" AS "${name}"`).join(', ')
}

/** `(due_at, …) VALUES ($dueAt, …)`: columns for an INSERT, from the parameter of that name or from `computed`. */
export function inserted<T extends SQLiteTable>(
  table: T,
  names: readonly Key<T>[] = columnsOf(table),
  computed: Readonly<Record<string, string>> = {},
): string {
  const columns = names.map((name) => `"${sqlName(table, name)}"`)
  const values = names.map((name) => computed[name] ?? `$${name}`)
  return `(${columns.join(', ')}) VALUES (${values.join(', ')})`
}

/** `due_at = $dueAt, …`: columns for an UPDATE, from the parameter of that name. */
export function assigned<T extends SQLiteTable>(table: T, names: readonly Key<T>[]): string {
  return names.map((name) => `"${sqlName(table, name)}" = $${name}`).join(', ')
}

function sqlName(table: SQLiteTable, name: string): string {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`The table has no column ${name}.`)
  return column.name
}

/** Names, each followed by a space, for a test by `instr`, which scans no table. */
export function namesIn(names: readonly string[]): string {
  return names.map((name) => `${name} `).join('')
}

// A message's row has the `seq` of its line and conversation, so that its indexes are small; everything else
// uses their ids. These parts of queries convert between them.

/** Ids of the line and conversation, in a query of `messages`. */
export const LINE_ID = '(SELECT l.id FROM lines l WHERE l.seq = line_seq)'
export const CONVERSATION_ID = '(SELECT c.id FROM conversations c WHERE c.seq = conversation_seq)'

/** The `seq` of `$lineId` and `$conversationId`; NULL, which equals nothing, if there is none. */
export const LINE_SEQ = '(SELECT l.seq FROM lines l WHERE l.id = $lineId)'
export const CONVERSATION_SEQ = '(SELECT c.seq FROM conversations c WHERE c.id = $conversationId)'

/** The `seq` of each of the lines `$lineIds`, a JSON list made by `limitValue`. */
export const LINE_SEQS =
  '(SELECT l.seq FROM lines l WHERE l.id IN (SELECT value FROM json_each($lineIds)))'

/** The `seq` of the conversation of each of `$conversationIds`, a JSON list made by `limitValue`. */
export const CONVERSATION_SEQS = `(SELECT coalesce(k.moved_to, k.seq) FROM conversations k
   WHERE k.id IN (SELECT value FROM json_each($conversationIds)))`

export function limitValue(limit: readonly string[] | null): string | null {
  return limit && JSON.stringify(limit)
}

/** SQL: whether `column` is the id of one of `$lineIds`, or there is no limit. Needs no scan. */
export function isOfLines(column: string): string {
  return `(+$lineIds IS NULL OR instr(+$lineIds, '"' || ${column} || '"') > 0)`
}
