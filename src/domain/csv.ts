/** What a formula of a spreadsheet begins with, in full width too, and the spaces that one skips before it. */
const FORMULA = '[=+\\-@\\t\\r\\n＝＋－＠]'
const BEGINS_FORMULA = new RegExp(`^${FORMULA}`)
const GUARDED = new RegExp(`^'(?=${FORMULA})`)

/**
 * A record of a table in CSV, as RFC 4180 has it. A cell that a spreadsheet would run as a formula begins
 * with an apostrophe.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: string): string {
  const text = value.replace(BEGINS_FORMULA, "'$&")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A cell without the apostrophe of `csvRecord`. */
export function withoutGuard(cell: string): string {
  return cell.replace(GUARDED, '')
}

/** Begins a table, so that spreadsheets read it as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'
