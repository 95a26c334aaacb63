// Tables, rows and cells, laid out when they are printed: at a terminal within its width, with colors and
// spoken times; in a pipe plain and whole, with times in ISO 8601.

import { timestamp, type Timestamp } from '../domain/ids.ts'
import { DAY_MS, MINUTE_MS } from '../domain/time.ts'
import { isoTime, localMinute, localTime, parseIsoTime } from '../system/iso-time.ts'

export type Look = {
  /** The width of the terminal; null in a pipe. */
  readonly columns: number | null
  readonly hasColour: boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Plain text, or a part that is laid out when it is printed. */
export type Line = string | Part
export type Part = (look: Look) => readonly string[]

export type Tone = 'good' | 'warning' | 'bad' | 'dim'

export type Cell =
  | string
  | number
  | boolean
  | null
  | undefined
  | { readonly time: string; readonly isClock?: true }
  | { readonly text: string; readonly tone: Tone | null }

/** No column is shortened below this width. */
const COLUMN_WIDTH_MIN = 8
const SGR: Readonly<Record<Tone, number>> = { good: 32, warning: 33, bad: 31, dim: 2 }
const TONES: readonly (readonly [Tone, string])[] = [
  ['good', 'active delivered fixed online read ready received running sent succeeded'],
  ['warning', 'disabled expired failing paused pending queued removed sending uncertain warning'],
  ['bad', 'error exhausted failed offline revoked stopped'],
  ['dim', 'info'],
]

/** Removes characters that control the terminal: texts come from strangers. */
export function laidOut(lines: readonly Line[], look: Look): readonly string[] {
  return lines.flatMap((line) => (typeof line === 'string' ? [printable(line)] : line(look)))
}

/**
 * Rows in columns with a head; empty if there are no rows. In a narrow terminal, the columns in `least` shrink
 * first, then the others from last to second. The first column, the id, never shrinks; if the rest still doesn't
 * fit, the id goes on a line above the others.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  least: readonly string[] = [],
): Part {
  return (look) => {
    if (rows.length === 0) return []
    const cells = [head, ...rows].map((row) => head.map((_, column) => drawn(row[column], look)))
    const widths = head.map((_, column) =>
      Math.max(...cells.map((row) => Bun.stringWidth(row[column]?.text ?? ''))),
    )
    const order = [...least, ...head.slice(1).toReversed()].map((name) => head.indexOf(name))
    const columns = look.columns ?? Infinity
    const lineOf = (row: readonly Drawn[], within: readonly number[]) => {
      const line = row.map((cell, column) => padded(cell, within[column] ?? 0, look)).join('  ')
      return Bun.sliceAnsi(line.trimEnd(), 0, look.columns ?? undefined, '…')
    }
    const fitting = fitted(widths, order, columns)
    if (excessOf(fitting, columns) <= 0) return cells.map((row) => lineOf(row, fitting))
    const indented = fitted([0, ...widths.slice(1)], order, columns)
    return cells.flatMap((row) => [
      lineOf(row.slice(0, 1), widths),
      lineOf([{ text: '', tone: null }, ...row.slice(1)], indented),
    ])
  }
}

function excessOf(widths: readonly number[], columns: number): number {
  return widths.reduce((sum, width) => sum + width + 2, -2) - columns
}

/** Shrinks widths in `order` until they fit into `columns`, or are at their minimum. */
function fitted(
  widths: readonly number[],
  order: readonly number[],
  columns: number,
): readonly number[] {
  const fitting = [...widths]
  for (const column of order) {
    const excess = excessOf(fitting, columns)
    const width = fitting[column] ?? 0
    if (excess > 0) fitting[column] = Math.max(width - excess, Math.min(width, COLUMN_WIDTH_MIN))
  }
  return fitting
}

export function fields(pairs: readonly (readonly [string, Cell])[], indent = ''): Part {
  const longest = Math.max(...pairs.map(([name]) => name.length))
  return (look) =>
    pairs.map(([name, value]) => {
      return `${indent}${name.padEnd(longest)}  ${coloured(drawn(value, look), look)}`
    })
}

export function row(...cells: readonly Cell[]): Part {
  return (look) => [cells.map((cell) => coloured(drawn(cell, look), look)).join('  ')]
}

export function timeCell(iso: string | null | undefined): Cell {
  return iso ? { time: iso } : null
}

/** The time of day, to the second. */
export function clockCell(ms: number): Cell {
  return { time: isoTime(timestamp(ms)), isClock: true }
}

/** Colors a state by its first word, unless `tone` is given. */
export function stateCell(text: string, tone?: Tone): Cell {
  const word = /^\w*/.exec(text)?.[0] ?? ''
  const found = TONES.find(([, words]) => words.split(' ').includes(word))
  return { text, tone: tone ?? found?.[0] ?? null }
}

/** Such as `53 MB`, in powers of 1,000. */
export function sizeCell(bytes: number): string {
  const steps = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), steps.length - 1)
  return `${Math.round(bytes / 1_000 ** step)} ${steps[step]}`
}

/** Control characters except the tab, and marks that change the text direction. */
const STEERING = /(?:[^\P{Cc}\t]|[\u202A-\u202E\u2066-\u2069])+/gu

export function printable(line: string): string {
  return line.replaceAll(STEERING, ' ')
}

type Drawn = { readonly text: string; readonly tone: Tone | null }

function drawn(cell: Cell, look: Look): Drawn {
  if (cell === null || cell === undefined || cell === '') return { text: '-', tone: null }
  if (typeof cell !== 'object') return { text: printable(String(cell)), tone: null }
  if ('text' in cell) return { text: printable(cell.text), tone: cell.tone }
  const at = look.columns === null ? null : parseIsoTime(cell.time)
  if (at === null) return { text: printable(cell.time), tone: 'dim' }
  return { text: cell.isClock ? localTime(at) : spokenTime(at, look.now()), tone: 'dim' }
}

/** Such as "3 min ago", "today 14:02", "tomorrow 03:10" or "2026-11-21 09:41". */
function spokenTime(at: Timestamp, now: number): string {
  const minutes = Math.floor(Math.abs(now - at) / MINUTE_MS)
  if (minutes === 0) return at > now ? 'in a moment' : 'just now'
  if (minutes < 60) return at > now ? `in ${minutes} min` : `${minutes} min ago`
  const [day = '', time] = localMinute(at).split(' ')
  const days = dayNumber(day) - dayNumber(localMinute(timestamp(now)).slice(0, 10))
  return `${['yesterday', 'today', 'tomorrow'][days + 1] ?? day} ${time}`
}

function dayNumber(day: string): number {
  return (parseIsoTime(`${day}T00:00:00Z`) ?? 0) / DAY_MS
}

function padded(cell: Drawn, width: number, look: Look): string {
  const text = Bun.sliceAnsi(cell.text, 0, width, '…')
  return coloured({ ...cell, text }, look) + ' '.repeat(Math.max(width - Bun.stringWidth(text), 0))
}

function coloured({ text, tone }: Drawn, { hasColour }: Look): string {
  return tone !== null && hasColour ? `\u001B[${SGR[tone]}m${text}\u001B[0m` : text
}
