import { localMinute, parseIsoTime } from '../system/iso-time.ts'
import { printable } from './output.ts'

/** Rows in columns with a head; empty where there are no rows. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null | undefined)[])[],
): readonly string[] {
  if (rows.length === 0) return []
  const cells = [head, ...rows.map((row) => row.map(cell))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? ''))))
  return cells.map((row) =>
    row
      .map((text, i) => padded(text, widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

export function fields(pairs: readonly (readonly [string, string | number | null])[]): string[] {
  const longest = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(longest)}  ${cell(value)}`)
}

export function timeCell(iso: string | null): string {
  const at = parseIsoTime(iso ?? '')
  return at === null ? '' : localMinute(at)
}

/** `53 MB`: powers of 1,000. */
export function sizeCell(bytes: number): string {
  const steps = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), steps.length - 1)
  return `${Math.round(bytes / 1_000 ** step)} ${steps[step]}`
}

function cell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  // Cleaned here too, because removed characters take no width.
  return printable(String(value))
}

function width(text: string): number {
  return Bun.stringWidth(text)
}

function padded(text: string, to: number): string {
  return text + ' '.repeat(Math.max(to - width(text), 0))
}
