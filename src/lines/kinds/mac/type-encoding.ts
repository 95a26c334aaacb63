// What values are made of, in the letters of Objective-C's type encodings: `iI` is two integers,
// `[8c]` eight bytes, `{_NSPoint=ff}` a struct of two floats.

import { TypedStreamError } from './typed-stream-bytes.ts'

export type Shape =
  | { readonly shape: 'char' | 'integer'; readonly isSigned: boolean }
  | { readonly shape: 'decimal'; readonly sizeBytes: 4 | 8 }
  | { readonly shape: 'object' | 'class' | 'c_string' | 'shared_string' | 'counted_bytes' }
  /** Chars in a row are written as they are, without heads. */
  | { readonly shape: 'bytes'; readonly length: number }
  | { readonly shape: 'array'; readonly length: number; readonly element: Shape }
  | { readonly shape: 'struct'; readonly fields: readonly Shape[] }

/** Arrays and structs within each other. */
const NESTING_MAX = 64
const LENGTH_DIGITS_MAX = 7

const SIMPLE: Readonly<Record<string, Shape>> = {
  c: { shape: 'char', isSigned: true },
  C: { shape: 'char', isSigned: false },
  B: { shape: 'char', isSigned: false },
  s: { shape: 'integer', isSigned: true },
  S: { shape: 'integer', isSigned: false },
  i: { shape: 'integer', isSigned: true },
  I: { shape: 'integer', isSigned: false },
  l: { shape: 'integer', isSigned: true },
  L: { shape: 'integer', isSigned: false },
  q: { shape: 'integer', isSigned: true },
  Q: { shape: 'integer', isSigned: false },
  f: { shape: 'decimal', sizeBytes: 4 },
  d: { shape: 'decimal', sizeBytes: 8 },
  '@': { shape: 'object' },
  '#': { shape: 'class' },
  '*': { shape: 'c_string' },
  ':': { shape: 'shared_string' },
  '%': { shape: 'shared_string' },
  '+': { shape: 'counted_bytes' },
}

type Cursor = { readonly text: string; at: number }

/** The shapes in an encoding, one after the other. Throws a `TypedStreamError`. */
export function shapesOf(encoding: string): readonly Shape[] {
  const cursor = { text: encoding, at: 0 }
  const shapes: Shape[] = []
  while (cursor.at < encoding.length) shapes.push(readShape(cursor, 0))
  return shapes
}

/** Reads one shape and leaves the cursor behind it: it always goes on by at least one letter. */
function readShape(cursor: Cursor, nesting: number): Shape {
  if (nesting > NESTING_MAX) throw new TypedStreamError('a type encoding is nested too deep')
  const letter = cursor.text[cursor.at] ?? ''
  cursor.at += 1
  if (letter === '[') return readArray(cursor, nesting + 1)
  if (letter === '{') return readStruct(cursor, nesting + 1)
  const simple = SIMPLE[letter]
  if (simple === undefined) throw new TypedStreamError('a type encoding has an unknown letter')
  return simple
}

function readArray(cursor: Cursor, nesting: number): Shape {
  const start = cursor.at
  while (/^\d$/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1
  const digits = cursor.text.slice(start, cursor.at)
  if (digits === '' || digits.length > LENGTH_DIGITS_MAX) {
    throw new TypedStreamError('an array in a type encoding has no length that can be')
  }
  const element = readShape(cursor, nesting)
  if (cursor.text[cursor.at] !== ']')
    throw new TypedStreamError('an array in a type encoding is open')
  cursor.at += 1
  const length = Number(digits)
  return element.shape === 'char' ? { shape: 'bytes', length } : { shape: 'array', length, element }
}

function readStruct(cursor: Cursor, nesting: number): Shape {
  skipStructName(cursor)
  const fields: Shape[] = []
  while (cursor.at < cursor.text.length) {
    if (cursor.text[cursor.at] === '}') {
      cursor.at += 1
      return { shape: 'struct', fields }
    }
    fields.push(readShape(cursor, nesting))
  }
  throw new TypedStreamError('a struct in a type encoding is open')
}

/** The name and its `=` may be left out; then the first field comes at once. */
function skipStructName(cursor: Cursor): void {
  const name = /[^=[\]{}]*=/y
  name.lastIndex = cursor.at
  if (name.test(cursor.text)) cursor.at = name.lastIndex
}
