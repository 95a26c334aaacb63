// Reads CSV files of contacts as spreadsheets, Google and Outlook export them. The packages papaparse 5.7.1 and
// csv-parse 7.0.3 lose the rows that follow a quote that is never closed.

import { CONTACT_FIELDS, CONTACT_FIELD_NAMES, contactFields } from '../domain/contact-fields.ts'
import { withoutGuard } from '../domain/csv.ts'
import type { Card, ContactFile } from './card.ts'

type Record = {
  /** From 1, including the header. */
  readonly row: number
  readonly cells: readonly string[]
  readonly end: number
}

const DELIMITERS = [',', ';', '\t'] as const
/** A quoted cell that is longer has an unclosed quote; other cells are cut. */
const CELL_LENGTH_MAX = 8_192
/** Further cells of a row are ignored. */
const CELLS_MAX = 500
const RECIPIENT_LENGTH_MAX = 255
/** The reader may pause after so many empty rows. */
const EMPTY_ROWS_MAX = 1_000

/** The first match decides what a column means. */
const COLUMNS = [
  { of: 'label', name: /\b(?:label|type|typ)\b/ },
  {
    of: 'recipient',
    name: /phone|mobile|mobil|handy|telefon|cell|\btel\b|telephone|e-?mail|handle/,
  },
  { of: 'recipient', name: /^(?:number|nummer|rufnummer)$/ },
  { of: 'given', name: /^(?:first|given)[ _]?name$|^vorname$/ },
  { of: 'family', name: /^(?:last|family)[ _]?name$|^(?:surname|nachname|familienname)$/ },
  { of: 'company', name: /^(?:company|organi[sz]ation(?: name| 1 - name)?|firma)$/ },
  ...CONTACT_FIELD_NAMES.map((of) => ({ of, name: CONTACT_FIELDS[of].csv })),
] as const
type Meaning = (typeof COLUMNS)[number]['of'] | null

/** The cards of a table. Without a header row, columns are recognized by their content. */
export function csvCards(given: string): ContactFile {
  const text = given.replace(/^\uFEFF/, '')
  const offset = given.length - text.length
  const delimiter = delimiterOf(text)
  const [first] = records(text, delimiter)
  const names = first === undefined ? [] : first.cells.map(meaningOf)
  const hasNames = names.includes('recipient') && !first?.cells.some(isRecipient)
  return {
    head: hasNames ? given.slice(0, offset + (first?.end ?? 0)) : '',
    cards: cardsOf(text, delimiter, hasNames ? names : null, offset),
  }
}

function* cardsOf(
  text: string,
  delimiter: string,
  names: readonly Meaning[] | null,
  offset: number,
): Generator<Card | null> {
  for (const { row, cells, end } of records(text, delimiter)) {
    const isOfNames = names !== null && row === 1
    if (isOfNames || cells.every((cell) => cell.trim() === '')) {
      if (row % EMPTY_ROWS_MAX === 0) yield null
      continue
    }
    yield { row, end: offset + end, ...fieldsOf(cells, names ?? guessed(cells)) }
  }
}

/** The most frequent delimiter of the first line, outside quotes. */
function delimiterOf(text: string): string {
  const line = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

function meaningOf(column: string): Meaning {
  const name = column.trim().toLowerCase()
  return COLUMNS.find((known) => known.name.test(name))?.of ?? null
}

/** Without a header: recipients by their form, the first other cell is the name, the next a note. */
function guessed(cells: readonly string[]): readonly Meaning[] {
  const textMeanings: Meaning[] = ['name', 'note']
  return cells.map((cell) => {
    if (isRecipient(cell)) return 'recipient'
    return cell.trim() === '' ? null : (textMeanings.shift() ?? null)
  })
}

function isRecipient(cell: string): boolean {
  const text = cell.trim()
  if (text.length > RECIPIENT_LENGTH_MAX) return false
  return /^\+?[\d\s()./-]{5,}$/.test(text) || /^\S+@\S+\.\S+$/.test(text)
}

function fieldsOf(cells: readonly string[], meanings: readonly Meaning[]) {
  const values = (meaning: Meaning) =>
    cells
      .filter((cell, place) => meanings[place] === meaning && cell.trim() !== '')
      .map((cell) => withoutGuard(cell.trim()))
  const full = [...values('given'), ...values('family')].join(' ')
  return {
    ...contactFields(({ kind }, field) => {
      if (field === 'name') return [...values(field), full, ...values('company')]
      return kind === 'list' ? values(field).flatMap(listIn) : values(field)
    }),
    // Google writes several values into one cell.
    recipients: values('recipient').flatMap((value) => value.split(/ ::: |;/)),
  }
}

/** Splits a cell with several values; Google's own groups begin with a star. */
function listIn(cell: string): readonly string[] {
  return cell.split(/[,;|]| ::: /).map((text) => text.trim().replace(/^\* ?/, ''))
}

/** The records of a CSV text (RFC 4180). An unclosed quote is an ordinary character. */
function* records(text: string, delimiter: string): Generator<Record> {
  let at = 0
  for (let row = 1; at < text.length; row += 1) {
    const cells: string[] = []
    for (;;) {
      const cell = quotedCell(text, at, delimiter) ?? plainCell(text, at, delimiter)
      cells.push(cell.value)
      at = cell.end
      if (text[at] !== delimiter) break
      at += 1
      if (cells.length === CELLS_MAX) {
        at = endOfLine(text, at)
        break
      }
    }
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    yield { row, cells, end: at }
  }
}

function endOfLine(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found === -1 ? text.length : found
}

type Cell = { readonly value: string; readonly end: number }

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') {
    end += 1
  }
  return { value: text.slice(start, Math.min(end, start + CELL_LENGTH_MAX)), end }
}

/** Null if the cell isn't quoted, or the quote isn't closed before a delimiter. */
function quotedCell(text: string, start: number, delimiter: string): Cell | null {
  if (text[start] !== '"') return null
  const last = Math.min(text.length, start + CELL_LENGTH_MAX)
  for (let at = text.indexOf('"', start + 1); at !== -1 && at < last; at = text.indexOf('"', at)) {
    const next = text[at + 1]
    if (next === '"') {
      at += 2
      continue
    }
    const isClosed = next === undefined || next === delimiter || next === '\n' || next === '\r'
    if (!isClosed) return null
    return { value: text.slice(start + 1, at).replaceAll('""', '"'), end: at + 1 }
  }
  return null
}
