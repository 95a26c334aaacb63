/**
 * A record of a table in CSV, as RFC 4180 has it. A cell that a spreadsheet would run as a formula begins
 * with an apostrophe.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: string): string {
  const text = value.replace(/^[=+\-@\t\r]/, "'$&")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A cell without the apostrophe of `csvRecord`. */
export function withoutGuard(cell: string): string {
  return cell.replace(/^'(?=[=+\-@])/, '')
}

/** Begins a table, so that spreadsheets read it as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'
