// Bodies that are made to hurt: as long as any that is read, of few bytes that could mean endless work.

import { BLOB_BYTES_MAX } from '../../../../src/lines/kinds/mac/typed-stream.ts'
import {
  AT,
  bytesOf,
  CLASS_A,
  END,
  HEADER,
  OPEN,
  type Parts,
} from '../../../fixtures/typed-streams.ts'

/** The start of an NSAttributedString; then of its text, object 3, of which the length comes next. */
export const ROOT: Parts = [
  [...HEADER, 0x84, 1, '@', 0x84, 0x84, 0x84, 18, 'NSAttributedString', 0],
  [0x84, 0x84, 8, 'NSObject', 0, 0x85],
].flat()
export const STRING: Parts = [...ROOT, AT, 0x84, 0x84, 0x84, 8, 'NSString', 1, 0x94]
export const ATTRIBUTED: Parts = [...STRING, 0x84, 1, '+']

/** After `A_TEXT`: the type of runs, and the class NSDictionary with the count of its pairs. */
export const RUN: Parts = [0x84, 2, 'iI']
export const PAIRS: Parts = [AT, 0x84, 0x84, 0x84, 12, 'NSDictionary', 0, 0x94, 0x84, 1, 'i']
export const A_TEXT: Parts = [...ATTRIBUTED, 1, 'a', END]

/** 90,000 and 983,040, as the lengths of what follows them. */
const LENGTH_90000: Parts = [0x82, 0x90, 0x5f, 0x01, 0x00]
const LENGTH_983040: Parts = [0x82, 0x00, 0x00, 0x0f, 0x00]
const NESTED = 60

/** Each with why it is refused, and how far it was read then. */
export const HOSTILE: Readonly<Record<string, readonly [stream: Uint8Array, problem: string]>> = {
  'a million arrays': [
    filled([...OPEN, 0x84, 4, '[0i]'], [0x94]),
    'the stream takes too much work, at byte 33361 of 1048576',
  ],
  'a million types without a letter': [
    filled(OPEN, [0x84, 0]),
    'the stream takes too much work, at byte 100021 of 1048576',
  ],
  'a million objects': [
    filled(OPEN, [AT, 0x84, CLASS_A, END]),
    'there are too many objects, at byte 80020 of 1048576',
  ],
  'a million objects in each other': [
    filled(OPEN, [AT, 0x84, CLASS_A]),
    'values are nested too deep, at byte 218 of 1048576',
  ],
  'a million classes': [
    filled([...OPEN, 0x84, 1, '#', 0x84, 0x84, 1, 'B', 0, 0x85], [0x94, 0x84, 0x95, 0, 0x85]),
    'there are too many objects, at byte 100022 of 1048576',
  ],
  'a million references to the root': [
    filled(OPEN, [AT, AT]),
    'the stream takes too much work, at byte 100021 of 1048576',
  ],
  'arrays of a million in each other': [
    filled(
      [...OPEN, 0x84, 0x81, 0xe3, 0x01, '[999999'.repeat(NESTED), '{=}', ']'.repeat(NESTED)],
      [0],
    ),
    'the stream takes too much work, at byte 513 of 1048576',
  ],
  'many empty structs, again and again': [
    filled([...OPEN, 0x84, 0x81, 0xd0, 0x07, '{}'.repeat(1_000)], [0x94]),
    'the stream takes too much work, at byte 2078 of 1048576',
  ],
  'a type of a million letters': [
    filled([...OPEN, 0x84, ...LENGTH_983040], ['c']),
    'the stream takes too much work, at byte 983072 of 1048576',
  ],
  'ninety thousand structs in each other': [
    filled([...OPEN, 0x84, ...LENGTH_90000], ['{']),
    'a type encoding is nested too deep',
  ],
  'ninety thousand structs side by side': [
    filled([...OPEN, 0x84, ...LENGTH_90000], ['{c}']),
    'the stream takes too much work, at byte 93362 of 1048576',
  ],
  'a struct of ninety thousand fields': [
    filled([...OPEN, 0x84, ...LENGTH_90000, '{'], ['c']),
    'a struct in a type encoding is open',
  ],
  'a long text that is no UTF-8': [
    bytesOf([...ATTRIBUTED, ...LENGTH_983040, '\xff'.repeat(983_040), END, END]),
    'the text is not well-formed',
  ],
  'a million runs of one set': [
    filled([...ATTRIBUTED, 0, END, ...RUN, 1, 0, AT, 0x85], [0x97, 1, 0]),
    'the stream takes too much work, at byte 100060 of 1048576',
  ],
  'a million odd letters of UTF-16': [
    filled([0xff, 0xfe], [0x00, 0xd8]),
    'the text is not well-formed',
  ],
  'a million zeros': [filled([], [0]), 'this is no typedstream'],
}

/** `start`, then `rest` over and over, up to the longest stream that is read at all. */
function filled(start: Parts, rest: Parts): Uint8Array {
  const stream = new Uint8Array(BLOB_BYTES_MAX)
  const head = bytesOf(start)
  stream.set(head)
  const piece = bytesOf(rest)
  for (let at = head.length; at < stream.length; at += 1) {
    stream[at] = piece[(at - head.length) % piece.length] ?? 0
  }
  return stream
}
