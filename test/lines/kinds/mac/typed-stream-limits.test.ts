// What the reader of typedstreams refuses: what makes no sense, and every limit from both sides.

import { expect, test } from 'bun:test'

import { BLOB_BYTES_MAX, readTypedStream } from '../../../../src/lines/kinds/mac/typed-stream.ts'
import {
  AT,
  bytesOf,
  CLASS_A,
  END,
  HEADER,
  ONE_RUN,
  OPEN,
  type Parts,
} from '../../../fixtures/typed-streams.ts'

const REFUSED: Readonly<Record<string, readonly [parts: Parts, problem: string]>> = {
  'nothing at all': [[], 'this is no typedstream'],
  'another streamer version': [[3, 11, 'streamtyped'], 'this is no typedstream'],
  'another signature': [[4, 11, 'streamTyped', 1], 'this is no typedstream'],
  'half a signature': [[4, 11, 'stream'], 'this is no typedstream'],
  'the big-endian form': [[4, 11, 'typedstream', 0x81, 3, 0xe8], 'the stream is big-endian'],
  'no group': [HEADER, 'the stream ends too early'],
  'values without a type': [[...HEADER, 0x85], 'values have no type'],
  'an object without a class': [[...HEADER, 0x84, 1, '@', 0x84, 0x85], 'an object has no class'],
  'a class without a name': [[...HEADER, 0x84, 1, '#', 0x84, 0x85], 'a class has no name'],
  'a tag in place of an integer': [[...HEADER, 0x84, 1, 'i', 0x86], 'a tag stands for an integer'],
  'an unknown tag': [[...HEADER, 0x84, 1, 'i', 0x91], 'a tag stands for an integer'],
  'a string that is not there': [[...HEADER, 0x93], 'a reference names no string'],
  'a string from before the first': [[...HEADER, 0x81, 0, 0x80], 'a reference names no string'],
  'an object that is not there': [
    [...OPEN, AT, 0x94, END],
    'a reference names nothing that is known yet',
  ],
  'a class that is its own parent': [
    [...HEADER, 0x84, 1, '#', 0x84, 0x84, 1, 'A', 0, 0x92],
    'a reference names nothing that is known yet',
  ],
  'an object whose class is itself': [
    [...HEADER, 0x84, 1, '@', 0x84, 0x92],
    'a reference names nothing that is known yet',
  ],
  'a class in place of an object': [[...OPEN, AT, CLASS_A, END], 'a reference names no object'],
  'an object in place of a class': [[...OPEN, AT, 0x84, 0x92], 'a reference names no class'],
  'an object in place of a C string': [
    [...OPEN, 0x84, 1, '*', 0x92],
    'a reference names no C string',
  ],
  'a length beyond the end': [
    [...OPEN, 0x84, 1, '+', 0x82, 0xff, 0xff, 0xff, 0x7f],
    'the stream ends too early',
  ],
}

for (const [what, [parts, problem]] of Object.entries(REFUSED)) {
  test(`${what} is refused`, () => {
    expect(problemOf(bytesOf(parts))).toBe(problem)
  })
}

const BAD_ENCODINGS: Readonly<Record<string, string>> = {
  '[': 'an array in a type encoding has no length that can be',
  '[8': 'a type encoding has an unknown letter',
  '[8c': 'an array in a type encoding is open',
  '[8cc]': 'an array in a type encoding is open',
  '[c]': 'an array in a type encoding has no length that can be',
  '[-1c]': 'an array in a type encoding has no length that can be',
  '[99999999c]': 'an array in a type encoding has no length that can be',
  '[9999999c]': 'the stream ends too early',
  '[9999999i]': 'an array is too long',
  '[8{': 'a struct in a type encoding is open',
  '{': 'a struct in a type encoding is open',
  '{name': 'a type encoding has an unknown letter',
  '{name=': 'a struct in a type encoding is open',
  '{name=i': 'a struct in a type encoding is open',
  '{name=i]': 'a type encoding has an unknown letter',
  ']': 'a type encoding has an unknown letter',
  '}': 'a type encoding has an unknown letter',
  '^v': 'a type encoding has an unknown letter',
  ['['.repeat(100)]: 'an array in a type encoding has no length that can be',
  ['[1'.repeat(100)]: 'a type encoding is nested too deep',
  ['{'.repeat(100)]: 'a type encoding is nested too deep',
}

for (const [encoding, problem] of Object.entries(BAD_ENCODINGS)) {
  test(`the type ${encoding.slice(0, 12)} is refused`, () => {
    const stream = bytesOf([...OPEN, 0x84, encoding.length, encoding, 1, 1, 1, END])

    expect(problemOf(stream)).toBe(problem)
  })
}

const OBJECT: Parts = [AT, 0x84, CLASS_A]

/** Of how many what a stream may have, and not one more. */
const LIMITS: Readonly<
  Record<string, readonly [max: number, streamOf: (count: number) => Parts, problem: string]>
> = {
  'levels of values': [
    64,
    (count) => [...repeated(count - 1, OBJECT), ...repeated(count - 1, [END])],
    'values are nested too deep',
  ],
  'levels of structs and arrays': [
    64,
    (count) => {
      const encoding = `${'{?='.repeat(count - 1)}${'}'.repeat(count - 1)}`
      return [0x84, 0x81, encoding.length % 256, encoding.length >> 8, encoding]
    },
    'values are nested too deep',
  ],
  'objects and classes': [
    20_000,
    (count) => repeated(count - 2, [...OBJECT, END]),
    'there are too many objects',
  ],
  // The root takes six steps, the first group without a value two, and each that is like it one.
  steps: [
    100_000,
    (count) => [0x84, 0, ...repeated(count - 8, [0x94])],
    'the stream takes too much work',
  ],
}

function repeated(count: number, parts: Parts): Parts {
  return Array.from({ length: count }, () => parts).flat()
}

for (const [what, [max, streamOf, problem]] of Object.entries(LIMITS)) {
  test(`a stream may have ${max} ${what}, and not one more`, () => {
    const problems = [max, max + 1].map((count) =>
      problemOf(bytesOf([...OPEN, ...streamOf(count), END])),
    )

    expect(problems).toEqual([null, problem])
  })
}

test('a class may have 15 above it, and not 16, whether they come at once or by reference', () => {
  const chain = (length: number) => Array.from({ length }, () => [0x84, 0x84, 1, 'B', 0]).flat()
  const atOnce = (length: number) => bytesOf([...HEADER, 0x84, 1, '#', ...chain(length), 0x85])
  const byReference = (length: number) =>
    bytesOf([...HEADER, 0x84, 2, '##', ...chain(8), 0x85, ...chain(length - 8), 0x92])

  const problems = [atOnce(16), atOnce(17), byReference(16), byReference(17)].map(problemOf)

  const tooMany = 'a class has too many above it'
  expect(problems).toEqual([null, tooMany, null, tooMany])
})

test('a stream may have 1 MiB, and not a byte more', () => {
  const stream = new Uint8Array(BLOB_BYTES_MAX + 1)
  stream.set(ONE_RUN)

  const problems = [stream.subarray(1), stream.subarray(0, -1), stream].map(problemOf)

  expect(BLOB_BYTES_MAX).toBe(1_048_576)
  expect(problems).toEqual(['this is no typedstream', null, 'the stream is too long'])
})

/** Why a stream is refused, without the place; null where it is not. */
function problemOf(stream: Uint8Array): string | null {
  try {
    readTypedStream(stream)
    return null
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TypedStreamError') throw error
    return error.message.replace(/, at byte \d+ of \d+$/, '')
  }
}
