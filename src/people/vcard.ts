// Reads vCards 2.1, 3.0 and 4.0: names and recipients.

import { CONTACT_FIELDS, contactFields } from '../domain/contact-fields.ts'
import type { Card } from './card.ts'

type Property = { readonly name: string; readonly parameters: string; readonly value: string }

/** Longest property that is read: photos have millions of characters. */
const VALUE_LENGTH_MAX = 20_000
/** Most properties read per card. */
const PROPERTIES_MAX = 1_000
/** The reader may pause after so many lines. */
const LINES_MAX = 1_000
const OF_FIELDS = Object.values(CONTACT_FIELDS).map(({ vcard }) => vcard)
const NAMES = ['N', 'ORG', 'NICKNAME', 'TEL', 'EMAIL', ...OF_FIELDS].join('|')
const WANTED = new RegExp(String.raw`^(?:[\w-]+\.)?(?:${NAMES})[;:]`, 'i')

type Line = { readonly text: string; readonly end: number }

const MARK = /^\s*(BEGIN|END):VCARD\s*$/i

type Block = { readonly properties: readonly Property[]; readonly end: number }

/** Yields each card. A card that begins within another one ends it, as in a truncated file. */
export function* vcardCards(text: string): Generator<Card | null> {
  let row = 0
  for (const block of blocks(text)) {
    if (block !== null) row += 1
    yield block && cardOf(block.properties, row, block.end)
  }
}

function* blocks(text: string): Generator<Block | null> {
  let open: { readonly properties: Property[]; end: number } | null = null
  for (const unfolded of unfoldedLines(text)) {
    if (unfolded === null) {
      yield null
      continue
    }
    const { text: line, end } = unfolded
    const mark = MARK.exec(line)?.[1]?.toUpperCase()
    if (mark !== undefined) {
      if (mark === 'END' && open !== null) yield { ...open, end }
      else yield* cutOff(open)
      open = mark === 'BEGIN' ? { properties: [], end } : null
    } else if (open !== null) {
      const isRead = open.properties.length < PROPERTIES_MAX && WANTED.test(line)
      if (isRead) open.properties.push(propertyOf(line))
      open.end = end
    }
  }
  yield* cutOff(open)
}

/** A card without an end, if it has any properties. */
function cutOff(open: Block | null): readonly Block[] {
  return open === null || open.properties.length === 0 ? [] : [open]
}

/** Joins continuation lines: after a blank, or after `=` in quoted-printable. */
function* unfoldedLines(text: string): Generator<Line | null> {
  let pieces: string[] = []
  let [count, length, end] = [0, 0, 0]
  let [isQuoted, isSoft] = [false, false]
  for (const line of physicalLines(text)) {
    count += 1
    if (count % LINES_MAX === 0) yield null
    const continued = pieces.length === 0 ? null : continuationOf(line.text, isSoft)
    if (continued === null) {
      if (pieces.length > 0) yield { text: pieces.join(''), end }
      pieces = []
      length = 0
      isQuoted = isQuotedPrintable(line.text)
    }
    const more = continued ?? line.text
    isSoft = isQuoted && more.endsWith('=')
    if (length < VALUE_LENGTH_MAX) pieces.push(isSoft ? more.slice(0, -1) : more)
    length += 1 + more.length
    end = line.end
  }
  if (pieces.length > 0) yield { text: pieces.join(''), end }
}

/** The text that a line adds to the previous one; null if it starts a new one. */
function continuationOf(line: string, isSoft: boolean): string | null {
  if (isSoft) return line.trimStart()
  return /^[ \t]/.test(line) ? line.slice(1) : null
}

function* physicalLines(text: string): Generator<Line> {
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found + 1
    const last = Math.min(end, start + VALUE_LENGTH_MAX)
    yield { text: text.slice(start, last).replace(/\r?\n$/, ''), end }
    start = end
  }
}

function isQuotedPrintable(line: string): boolean {
  return /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i.test(line)
}

function propertyOf(line: string): Property {
  const at = line.search(/[;:]/)
  const name = line.slice(0, at).replace(/^.*\./, '').toUpperCase()
  const colon = endOfParameters(line, at)
  const parameters = line.slice(at, colon)
  const value = line.slice(colon + 1)
  return { name, parameters, value: isQuotedPrintable(line) ? unquoted(value, parameters) : value }
}

/** The colon after the parameters; quoted parameters may contain others. */
function endOfParameters(line: string, from: number): number {
  let isQuoted = false
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted
    else if (line[at] === ':' && !isQuoted) return at
  }
  return line.indexOf(':', from)
}

function unquoted(value: string, parameters: string): string {
  const encoder = new TextEncoder()
  const bytes = value.split(/((?:=[0-9A-F]{2})+)/i).flatMap((piece, place) => {
    return place % 2 === 0
      ? [...encoder.encode(piece)]
      : [...Buffer.from(piece.replaceAll('=', ''), 'hex')]
  })
  const isLatin = /CHARSET="?(?:ISO-8859-1|WINDOWS-1252)/i.test(parameters)
  return new TextDecoder(isLatin ? 'windows-1252' : 'utf-8').decode(new Uint8Array(bytes))
}

function cardOf(properties: readonly Property[], row: number, end: number): Card {
  const values = (name: string) =>
    properties.filter((property) => property.name === name).map(({ value }) => value)
  const [formatted = ''] = values('FN')
  const [structured = ''] = values('N')
  const [organisation = ''] = values('ORG')
  const [nickname = ''] = values('NICKNAME')
  const [family = '', given = '', middle = ''] = parts(structured, ';')
  const full = [given, middle, family].filter((part) => part !== '').join(' ')
  const names = [plain(formatted), full, parts(organisation, ';')[0] ?? '', plain(nickname)]
  return {
    row,
    end,
    ...contactFields(({ kind, vcard }, field) => {
      if (field === 'name') return names
      return values(vcard).flatMap((value) => (kind === 'list' ? parts(value, ',') : plain(value)))
    }),
    recipients: [...values('TEL').map(numberIn), ...values('EMAIL').map((value) => plain(value))],
  }
}

/** The number of a TEL, which may be a URI: `tel:+49-170-1234567;ext=5`. */
function numberIn(value: string): string {
  return /^tel:/i.test(value) ? (value.slice('tel:'.length).split(';')[0] ?? '') : plain(value)
}

/** Unescapes a value. */
function plain(value: string): string {
  return value.replaceAll(/\\([\s\S])/g, (_, next: string) => (/n/i.test(next) ? '\n' : next))
}

/** Splits a value and unescapes each part. */
function parts(value: string, separator: ';' | ','): readonly string[] {
  const found = ['']
  for (const piece of value.match(/\\[\s\S]|[\s\S]/g) ?? []) {
    if (piece === separator) found.push('')
    else found[found.length - 1] += piece
  }
  return found.map((part) => plain(part).trim())
}
