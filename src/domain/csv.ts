// Writes CSV. The package papaparse 5.7.1 would save six lines here, and be 50 kB that each start of a relay loads.

/** Characters that begin a spreadsheet formula, also in full width, or that spreadsheets skip before one. */
const FORMULA = '[=+\\-@\\t\\r\\n＝＋－＠]'
const BEGINS_FORMULA = new RegExp(`^${FORMULA}`)
const GUARDED = new RegExp(`^'(?=${FORMULA})`)

/**
 * A CSV record (RFC 4180). A cell that a spreadsheet would run as a formula gets an apostrophe in front.
 */
export function csvRecord(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: string): string {
  const text = value.replace(BEGINS_FORMULA, "'$&")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Removes the apostrophe that `csvRecord` added. */
export function withoutGuard(cell: string): string {
  return cell.replace(GUARDED, '')
}

/** Begins a CSV file, so that spreadsheets read it as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'
