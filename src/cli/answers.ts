// What the relay answers, read by field name: its own schemas have checked the shapes.

export type Row = Readonly<Record<string, unknown>>

/** The object that an answer is. */
export function rowOf(body: unknown): Row {
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** The rows of a list. */
export function rowsOf(body: unknown): readonly Row[] {
  const { data } = rowOf(body)
  return Array.isArray(data) ? data.map(rowOf) : []
}

/** A field as text; empty where it is null or absent. */
export function textOf(row: Row, name: string): string {
  const value = row[name]
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}

/** Fields as the cells of a table's row. */
export function cellsOf(row: Row, names: readonly string[]): readonly string[] {
  return names.map((name) => textOf(row, name))
}
