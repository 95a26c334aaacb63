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
 * Rows in columns with a head; empty if there are no rows. In a narrow terminal, ids are shortened, then the
 * columns in `least` are dropped in this order, then the widest of the others shrink. The first column never
 * shrinks; if the rest still doesn't fit, it goes on a line above the others.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  least: readonly string[] = [],
): Part {
  return (look) => {
    if (rows.length === 0) return []
    const columns = look.columns ?? Infinity
    const drawnRows = rows.map((row) => head.map((_, column) => drawn(row[column], look)))
    const whole = [head.map((text) => drawn(text, look)), ...drawnRows]
    const cells = fittingColumns(whole, { head, least, columns })
    const widths = widthsOf(cells)
    const lineOf = (row: readonly Drawn[], within: readonly number[]) => {
      const line = row.map((cell, column) => padded(cell, within[column] ?? 0, look)).join('  ')
      return Bun.sliceAnsi(line.trimEnd(), 0, look.columns ?? undefined, '…')
    }
    const fitting = fitted(widths, columns)
    if (excessOf(fitting, columns) <= 0) return cells.map((row) => lineOf(row, fitting))
    const indented = fitted([0, ...widths.slice(1)], columns)
    return cells.flatMap((row) => [
      lineOf(row.slice(0, 1), widths),
      lineOf([{ text: '', tone: null }, ...row.slice(1)], indented),
    ])
  }
}

type Rows = readonly (readonly Drawn[])[]

/** The rows with short ids, and without the columns of `least` for which there is no room. */
function fittingColumns(
  rows: Rows,
  given: {
    readonly head: readonly string[]
    readonly least: readonly string[]
    readonly columns: number
  },
): Rows {
  const { head, least, columns } = given
  if (excessOf(widthsOf(rows), columns) <= 0) return rows
  let [fitting, names] = [withShortIds(rows), head]
  for (const name of least) {
    if (excessOf(widthsOf(fitting), columns) <= 0) break
    const at = names.indexOf(name)
    fitting = fitting.map((row) => row.filter((_, column) => column !== at))
    names = names.filter((_, column) => column !== at)
  }
  return fitting
}

function widthsOf(rows: Rows): readonly number[] {
  const [first = []] = rows
  return first.map((_, column) =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[column]?.text ?? ''))),
  )
}

/** Such as `wh_01m8k2q8rkfxn8t2w9r4day27n`, which is long and ends randomly. */
const ID = /^([a-z]+_)[0-9a-z]{26}$/
/** Letters of a short id: `wh_…ay27n` is one of 33 million. */
const SHORT_ID_LETTERS = 5

/** Commands take these ids, too. They stay whole in a column in which two would be the same. */
function withShortIds(rows: Rows): Rows {
  const short = (text: string) => text.replace(ID, `$1…${text.slice(-SHORT_ID_LETTERS)}`)
  const [first = []] = rows
  const isUnique = first.map((_, column) => {
    const ids = new Set(rows.map((row) => row[column]?.text ?? ''))
    return new Set([...ids].map(short)).size === ids.size
  })
  return rows.map((row) =>
    row.map((cell, column) =>
      isUnique[column] === true ? { ...cell, text: short(cell.text) } : cell,
    ),
  )
}

function excessOf(widths: readonly number[], columns: number): number {
  return widths.reduce((sum, width) => sum + width + 2, -2) - columns
}

/** Shrinks the widest columns but the first until all fit into `columns`, or are at their minimum. */
function fitted(widths: readonly number[], columns: number): readonly number[] {
  const fitting = [...widths]
  for (let excess = excessOf(fitting, columns); excess > 0; excess -= 1) {
    const widest = Math.max(...fitting.slice(1))
    if (widest <= COLUMN_WIDTH_MIN) break
    fitting[fitting.lastIndexOf(widest)] = widest - 1
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
