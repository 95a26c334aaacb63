// What may be told of a cell of chat.db in a trace that somebody gives away: numbers, lengths, and a few
// words of Apple's own. All other text, whatever column it is in, becomes a token.

import { createHmac } from 'node:crypto'

import { decodeAttributedBody } from './attributed-body.ts'

/** A cell as SQLite hands it out with `safeIntegers`. */
export type Cell = string | bigint | number | Uint8Array | null

export type TraceValue =
  | string
  | number
  | null
  | { readonly bytes: number; readonly decoded?: boolean | undefined }

export type TracedColumn = {
  readonly name: string
  /** Whether it is declared for numbers: no address or name stands in it as one. */
  readonly isNumeric: boolean
}

export type Disguise = (column: TracedColumn, cell: Cell) => TraceValue

const TOKEN_LETTERS = 12

/** Columns whose words are Apple's, as far as they look like such. */
const OWN_WORDS: Readonly<Record<string, RegExp>> = {
  service: /^[A-Za-z]{1,16}$/,
  service_name: /^[A-Za-z]{1,16}$/,
  balloon_bundle_id: /^com\.apple\.[A-Za-z.]{1,64}$/,
  expressive_send_style_id: /^com\.apple\.[A-Za-z.]{1,64}$/,
}

/** Columns whose values begin with a sign that a reader must see: `any;-;+1202…`, `E:anna@…`. */
const PREFIXES: Readonly<Record<string, RegExp>> = {
  guid: /^(?:[A-Za-z]{1,16};[-+];|at_\d{1,3}_)/,
  account: /^[A-Za-z]:/,
  account_login: /^[A-Za-z]:/,
  associated_message_guid: /^(?:p:\d{1,3}\/|bp:)/,
}

/** Equal texts become equal tokens, which nobody can turn back who does not know `salt`. */
export function createDisguise(salt: Uint8Array): Disguise {
  const tokenOf = (text: string) => {
    const hash = createHmac('sha256', salt).update(text).digest('hex')
    return `#${hash.slice(0, TOKEN_LETTERS)}`
  }
  return (column, cell) => {
    if (cell === null) return null
    if (column.name === 'attributedBody') return bodyValue(cell)
    if (cell instanceof Uint8Array) return { bytes: cell.byteLength }
    if (typeof cell === 'string') return disguisedText(column.name, cell, tokenOf)
    return column.isNumeric ? exactNumber(cell) : tokenOf(String(cell))
  }
}

function disguisedText(column: string, text: string, tokenOf: (text: string) => string): string {
  if (text === '' || OWN_WORDS[column]?.test(text) === true) return text
  const prefix = PREFIXES[column]?.exec(text)?.[0] ?? ''
  return prefix + tokenOf(text.slice(prefix.length))
}

function bodyValue(cell: Exclude<Cell, null>): TraceValue {
  const body = cell instanceof Uint8Array ? cell : String(cell)
  return { bytes: Buffer.byteLength(body), decoded: decodeAttributedBody(body).ok }
}

/** Nanoseconds since 2001 need more digits than JSON's readers keep, so they are told as a string. */
function exactNumber(cell: bigint | number): number | string {
  const number = Number(cell)
  return typeof cell === 'number' || Number.isSafeInteger(number) ? number : String(cell)
}
