// The reader of typedstreams: what each type is read as, and what references reach. What it refuses is
// in typed-stream-limits.test.ts, what the values of a message mean in attributed-body.test.ts.

import { expect, test } from 'bun:test'

import { isKindOf, readTypedStream } from '../../../../src/lines/kinds/mac/typed-stream.ts'
import {
  AT,
  bytesOf,
  CLASS_A,
  END,
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
