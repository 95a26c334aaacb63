// The reader of typedstreams: what each type is read as, what references reach, and what it refuses. What the
// values of a message mean is in attributed-body.test.ts.

import { expect, test } from 'bun:test'

import {
  BLOB_BYTES_MAX,
  isKindOf,
  readTypedStream,
} from '../../../../src/lines/kinds/mac/typed-stream.ts'
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

const OBJECT = { kind: 'class', names: ['NSObject'] } as const

test('a stream written by hand is read whole', () => {
  const group: unknown = readTypedStream(ONE_RUN)

  expect(group).toEqual({
    encoding: '@',
    values: [
      object(['NSAttributedString', ...OBJECT.names], {
        '@': [string('Hi \u{1F600}')],
        iI: [1, 5],
        '@ of the run': [
          object(['NSDictionary', ...OBJECT.names], {
            i: [1],
            '@ that is the key': [string('__kIMMessagePartAttributeName')],
            '@ that is the value': [
              object(['NSNumber', 'NSValue', ...OBJECT.names], { '*': ['i'], i: [0] }),
            ],
          }),
        ],
      }),
    ],
  })
})

const VALUES: readonly (readonly [encoding: string, written: Parts, values: readonly unknown[]])[] =
  [
    ['c', [0x84], [-124]],
    ['C', [0x84], [132]],
    ['B', [1], [1]],
    ['i', [0x92], [-110]],
    ['i', [0x7f], [127]],
    ['I', [0xc8], [200]],
    ['s', [0x81, 0x00, 0x80], [-32_768]],
    ['S', [0x81, 0xff, 0xff], [65_535]],
    ['l', [0x82, 0x00, 0x00, 0x00, 0x80], [-2_147_483_648]],
    ['L', [0x82, 0xff, 0xff, 0xff, 0xff], [4_294_967_295]],
    ['q', [0x87, 0x00, 0xe6, 0x8e, 0xe7, 0xfd, 0xff, 0xff, 0xff], [-9_000_000_000]],
    ['q', [0x87, 0, 0, 0, 0, 0, 0, 0, 0x80], [-9_223_372_036_854_775_808n]],
    ['Q', [0x87, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [18_446_744_073_709_551_615n]],
    ['f', [0x83, 0x00, 0x00, 0xc0, 0x3f], [1.5]],
    ['d', [0x83, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf], [-1.5]],
    ['d', [0x81, 0xe8, 0x03], [1_000]],
    ['+', [3, 'abc'], [bytesOf(['abc'])]],
    ['+', [0xc8, 'x'.repeat(200)], [bytesOf(['x'.repeat(200)])]],
    ['+', [0x82, 2, 0, 0, 0, 'ab'], [bytesOf(['ab'])]],
    ['*', [0x84, 0x84, 2, 'ab'], ['ab']],
    ['**', [0x84, 0x84, 2, 'ab', 0x94], ['ab', 'ab']],
    ['**', [0x84, 0x84, 2, 'ab', 0x81, 0x94, 0xff], ['ab', 'ab']],
    ['**', [0x84, 0x84, 2, 'ab', 0x82, 0x94, 0xff, 0xff, 0xff], ['ab', 'ab']],
    ['*', [0x85], [null]],
    [':', [0x84, 5, 'init:'], ['init:']],
    ['%', [0x85], [null]],
    ['#', [CLASS_A], [{ kind: 'class', names: ['A'] }]],
    [
      '##',
      [0x84, 0x84, 1, 'B', 0, CLASS_A, 0x94],
      [
        { kind: 'class', names: ['B', 'A'] },
        { kind: 'class', names: ['B', 'A'] },
      ],
    ],
    ['@', [0x85], [null]],
    ['iI', [1, 2], [1, 2]],
    ['[4c]', [0x84, 0x85, 0x86, 0], [bytesOf([0x84, 0x85, 0x86, 0])]],
    ['[0C]', [], [bytesOf([])]],
    ['[3i]', [1, 2, 0x81, 3, 0], [[1, 2, 3]]],
    [
      '[2[2s]]',
      [1, 2, 3, 4],
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ],
    ['{_NSPoint=ff}', [1, 2], [[1, 2]]],
    ['{ii}', [1, 2], [[1, 2]]],
    ['{?={?=i}[2c]}', [1, 'ab'], [[[1], bytesOf(['ab'])]]],
  ]

for (const [encoding, written, values] of VALUES) {
  test(`the type ${encoding} is read from ${hex(written)}`, () => {
    const group = { encoding, values }

    expect(contentOf([0x84, encoding.length, encoding, ...written])).toEqual([group])
  })
}

test('an object may contain itself', () => {
  const { values } = readTypedStream(bytesOf([...OPEN, AT, 0x92, END]))

  const [root] = values
  expect(isKindOf(root, 'A') && root.groups[0]?.values[0] === root).toBe(true)
})

test('an object is numbered before its class and its content', () => {
  const inner: Parts = [AT, 0x84, 0x84, 0x84, 1, 'B', 0, CLASS_A, AT, 0x85, END]

  // Object 2 is the inner object, object 3 its class.
  const groups = contentOf([...inner, AT, 0x94, AT, 0x84, 0x95, END])

  const first = object(['B', 'A'], { '@': [null] })
  expect(groups).toEqual([
    { encoding: '@', values: [first] },
    { encoding: '@', values: [first] },
    { encoding: '@', values: [object(['B', 'A'], {})] },
  ])
})

const FAR: readonly (readonly [number: number, reference: Parts])[] = [
  [109, [0xff]],
  [110, [0x00]],
  [237, [0x7f]],
  [238, [0x81, 0x80, 0x00]],
  [2_000, [0x81, 0x62, 0x07]],
  [2_000, [0x82, 0x62, 0x07, 0x00, 0x00]],
]

for (const [number, reference] of FAR) {
  test(`object ${number} is referred to by ${hex(reference)}`, () => {
    const before = Array.from({ length: number - 2 }, () => [AT, 0x84, CLASS_A, END]).flat()

    const groups = contentOf([...before, AT, 0x84, CLASS_A, AT, 0x85, END, AT, ...reference])

    expect(groups.at(-1)).toEqual({
      encoding: '@',
      values: [object(['A'], { '@': [null] })],
    })
  })
}

test('what follows the first group is not looked at', () => {
  const stream = bytesOf([...OPEN, END, 0x91, 0x91, 'rubbish'])

  expect(readTypedStream(stream).values).toHaveLength(1)
})

test('a stream may be a part of a larger buffer', () => {
  const whole = new Uint8Array([1, 2, 3, ...ONE_RUN, 4, 5, 6])

  expect(readTypedStream(whole.subarray(3, -3))).toEqual(readTypedStream(ONE_RUN))
})

/** What stands in an object of class A. */
function contentOf(parts: Parts): readonly unknown[] {
  const [root] = readTypedStream(bytesOf([...OPEN, ...parts, END])).values
  return isKindOf(root, 'A') ? root.groups : []
}

function string(text: string): unknown {
  return object(['NSString', ...OBJECT.names], { '+': [new TextEncoder().encode(text)] })
}

/** Groups by their encoding; the part after a blank distinguishes groups of the same types. */
function object(
  names: readonly string[],
  groups: Readonly<Record<string, readonly unknown[]>>,
): unknown {
  const all = Object.entries(groups).map(([key, values]) => ({
    encoding: key.replace(/ .*/, ''),
    values,
  }))
  return { kind: 'object', class: { kind: 'class', names }, groups: all }
}

function hex(parts: Parts): string {
  const [...bytes] = bytesOf(parts).subarray(0, 12)
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ') || 'nothing'
}

// What is refused: what makes no sense, and every limit from both sides.

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

const OBJECT_A: Parts = [AT, 0x84, CLASS_A]

/** Of how many what a stream may have, and not one more. */
const LIMITS: Readonly<
  Record<string, readonly [max: number, streamOf: (count: number) => Parts, problem: string]>
> = {
  'levels of values': [
    64,
    (count) => [...repeated(count - 1, OBJECT_A), ...repeated(count - 1, [END])],
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
    (count) => repeated(count - 2, [...OBJECT_A, END]),
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

/** Why a stream is refused, without the place; null if it is not. */
function problemOf(stream: Uint8Array): string | null {
  try {
    readTypedStream(stream)
    return null
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TypedStreamError') throw error
    return error.message.replace(/, at byte \d+ of \d+$/, '')
  }
}
