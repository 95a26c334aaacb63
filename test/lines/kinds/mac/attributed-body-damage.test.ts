// Bodies that are damaged, or made to hurt: each is answered, in time, and costs little memory.

import { expect, test } from 'bun:test'

import { decodeAttributedBody } from '../../../../src/lines/kinds/mac/attributed-body.ts'
import { BLOB_BYTES_MAX } from '../../../../src/lines/kinds/mac/typed-stream.ts'
import {
  AT,
  ATTACHMENT_THEN_TEXT,
  BARE_STRING,
  bytesOf,
  CLASS_A,
  END,
  HEADER,
  ONE_RUN,
  OPEN,
  type Parts,
} from '../../../fixtures/typed-streams.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'
import { SeededRandom } from '../../../support/seeded-random.ts'
import { mutated } from './mutations.ts'

const DECODE_MS_MAX = 250
const MEMORY_BYTES_MAX = 200 * 1_048_576
const MUTATED_STREAMS = 100_000

const WHOLE = [
  ONE_RUN,
  ATTACHMENT_THEN_TEXT,
  BARE_STRING,
  encodeAttributedBody(''),
  encodeAttributedBody('\uFFFCa\uFFFCb', { attachments: ['at_0', 'at_2'], references: 'int16' }),
  encodeAttributedBody('x'.repeat(300), { root: 'NSMutableString' }),
  encodeAttributedBody('\u{1F600} \u0623\u0647', { padding: 12, references: 'int32' }),
]

test('a body of more than a million letters is not looked at', () => {
  const problems = ['x'.repeat(BLOB_BYTES_MAX), 'x'.repeat(BLOB_BYTES_MAX + 1)].map((body) => {
    const decoded = decodeAttributedBody(body)
    return decoded.ok ? null : decoded.problem
  })

  expect(problems).toEqual([null, 'the body is too long'])
})

test('a stream that is cut short anywhere is no message', () => {
  for (const stream of WHOLE) {
    const whole = decodeAttributedBody(stream)
    const cut = Array.from(stream, (_, length) => decodeAttributedBody(stream.subarray(0, length)))

    expect(whole.ok).toBe(true)
    expect(cut.filter((body) => body.ok)).toEqual([])
  }
})

test('whatever is changed in a stream, the answer comes in time', () => {
  const random = new SeededRandom(1)
  const memoryBefore = process.memoryUsage.rss()
  const slow: string[] = []
  const problems = new Set<string>()

  for (let left = MUTATED_STREAMS; left > 0; left -= 1) {
    const stream = mutated(random.of(WHOLE), random)
    const started = performance.now()
    const body = decodeAttributedBody(stream)
    const isSlow = performance.now() - started > DECODE_MS_MAX
    if (isSlow && fastestMs(stream) > DECODE_MS_MAX) slow.push(Buffer.from(stream).toString('hex'))
    if (!body.ok) problems.add(body.problem.replace(/, at byte.*/, ''))
  }

  expect(slow).toEqual([])
  expect(problems.size).toBeGreaterThan(20)
  expect([...problems]).not.toContain('the reader itself failed')
  // What a hundred thousand streams have left behind is not what one of them needs.
  Bun.gc(true)
  expect(process.memoryUsage.rss() - memoryBefore).toBeLessThan(MEMORY_BYTES_MAX)
}, 180_000)

/** The start of an NSAttributedString; then of its text, object 3, of which the length comes next. */
const ROOT: Parts = [
  [...HEADER, 0x84, 1, '@', 0x84, 0x84, 0x84, 18, 'NSAttributedString', 0],
  [0x84, 0x84, 8, 'NSObject', 0, 0x85],
].flat()
const STRING: Parts = [...ROOT, AT, 0x84, 0x84, 0x84, 8, 'NSString', 1, 0x94]
const ATTRIBUTED: Parts = [...STRING, 0x84, 1, '+']

/** After `A_TEXT`: the type of runs, and the class NSDictionary with the count of its pairs. */
const RUN: Parts = [0x84, 2, 'iI']
const PAIRS: Parts = [AT, 0x84, 0x84, 0x84, 12, 'NSDictionary', 0, 0x94, 0x84, 1, 'i']
const A_TEXT: Parts = [...ATTRIBUTED, 1, 'a', END]

test('a run may have nil for its set', () => {
  const stream = bytesOf([...A_TEXT, ...RUN, 1, 1, AT, 0x85, END])

  expect(decodeAttributedBody(stream)).toEqual({ ok: true, text: 'a', attachmentGuids: [] })
})

test('even a fault of the reader is an answer', () => {
  const body = ONE_RUN.slice()
  structuredClone(body.buffer, { transfer: [body.buffer] })

  // Memory that was handed away cannot be read, which no reader of bytes reckons with.
  expect(decodeAttributedBody(body)).toEqual({ ok: false, problem: 'the reader itself failed' })
})

const BROKEN: Readonly<Record<string, readonly [parts: Parts, problem: string]>> = {
  'no text': [ROOT, 'the attributed string has no text'],
  'nil for a text': [[...ROOT, AT, 0x85], 'the attributed string has no text'],
  'a text without letters': [[...STRING, END], 'a string has no text'],
  'a text that is no UTF-8': [
    [...ATTRIBUTED, 1, 0xff, END, ...RUN, 1, 1, AT, 0x85],
    'the text is not well-formed',
  ],
  'no runs': [A_TEXT, 'the runs do not fit the text'],
  'a run without a set': [[...A_TEXT, ...RUN, 1, 1], 'a run has no attributes'],
  'a set that is a string': [[...A_TEXT, ...RUN, 1, 1, AT, 0x95], 'a run has no attributes'],
  'an object in place of a run': [
    [...A_TEXT, AT, 0x85],
    'something else stands where a run should be',
  ],
  'numbers that are no run': [
    [...A_TEXT, 0x84, 2, 'II', 1, 1, AT, 0x85],
    'something else stands where a run should be',
  ],
  'a run longer than can be': [
    [...A_TEXT, ...RUN, 1, 0x87, 0, 0, 0, 0, 0, 0, 0, 0x80],
    'something else stands where a run should be',
  ],
  'a dictionary that lacks a pair': [
    [...A_TEXT, ...RUN, 1, 1, ...PAIRS, 2, AT, 0x95, AT, 0x85, END],
    'a dictionary does not have as many pairs as it says',
  ],
}

for (const [what, [parts, problem]] of Object.entries(BROKEN)) {
  test(`an attributed string with ${what} is no message`, () => {
    expect(decodeAttributedBody(bytesOf([...parts, END]))).toEqual({ ok: false, problem })
  })
}

/** 90,000 and 983,040, as the lengths of what follows them. */
const LENGTH_90000: Parts = [0x82, 0x90, 0x5f, 0x01, 0x00]
const LENGTH_983040: Parts = [0x82, 0x00, 0x00, 0x0f, 0x00]
const NESTED = 60

const HOSTILE: Readonly<Record<string, Uint8Array>> = {
  'a million arrays': filled([...OPEN, 0x84, 4, '[0i]'], [0x94]),
  'a million types without a letter': filled(OPEN, [0x84, 0]),
  'a million objects': filled(OPEN, [AT, 0x84, CLASS_A, END]),
  'a million objects in each other': filled(OPEN, [AT, 0x84, CLASS_A]),
  'a million classes': filled(
    [...OPEN, 0x84, 1, '#', 0x84, 0x84, 1, 'B', 0, 0x85],
    [0x94, 0x84, 0x95, 0, 0x85],
  ),
  'a million references to the root': filled(OPEN, [AT, AT]),
  'arrays of a million in each other': filled(
    [...OPEN, 0x84, 0x81, 0xe3, 0x01, '[999999'.repeat(NESTED), '{=}', ']'.repeat(NESTED)],
    [0],
  ),
  'many empty structs, again and again': filled(
    [...OPEN, 0x84, 0x81, 0xd0, 0x07, '{}'.repeat(1_000)],
    [0x94],
  ),
  'a type of a million letters': filled([...OPEN, 0x84, ...LENGTH_983040], ['c']),
  'ninety thousand structs in each other': filled([...OPEN, 0x84, ...LENGTH_90000], ['{']),
  'ninety thousand structs side by side': filled([...OPEN, 0x84, ...LENGTH_90000], ['{c}']),
  'a struct of ninety thousand fields': filled([...OPEN, 0x84, ...LENGTH_90000, '{'], ['c']),
  'a long text that is no UTF-8': bytesOf([
    ...ATTRIBUTED,
    ...LENGTH_983040,
    '\xff'.repeat(983_040),
    END,
    END,
  ]),
  'a million runs of one set': filled(
    [...ATTRIBUTED, 0, END, ...RUN, 1, 0, AT, 0x85],
    [0x97, 1, 0],
  ),
  'a million odd letters of UTF-16': filled([0xff, 0xfe], [0x00, 0xd8]),
  'a million zeros': filled([], [0]),
}

for (const [what, stream] of Object.entries(HOSTILE)) {
  test(`it is known in time that this is no message: ${what}`, () => {
    const memoryBefore = process.memoryUsage.rss()

    const body = decodeAttributedBody(stream)

    expect(body.ok).toBe(false)
    expect(fastestMs(stream)).toBeLessThan(DECODE_MS_MAX)
    expect(process.memoryUsage.rss() - memoryBefore).toBeLessThan(MEMORY_BYTES_MAX)
  })
}

const REPEATED = 10_000

test('ten thousand sets that are one dictionary of ten thousand pairs are read in time', () => {
  const stream = bytesOf([...ATTRIBUTED, 0, END, ...setsOfOneDictionary([0])])

  expect(decodeAttributedBody(stream)).toEqual({ ok: true, text: '', attachmentGuids: [] })
  expect(fastestMs(stream)).toBeLessThan(DECODE_MS_MAX)
})

test('a long text that is also the name of ten thousand attributes is read in time', () => {
  const text = 'x'.repeat(0x0f_0000 - 0x1_0000)
  const length = [0x82, 0x00, 0x00, 0x0e, 0x00]
  const stream = bytesOf([...ATTRIBUTED, ...length, text, END, ...setsOfOneDictionary(length)])

  expect(decodeAttributedBody(stream)).toEqual({ ok: true, text, attachmentGuids: [] })
  expect(fastestMs(stream)).toBeLessThan(DECODE_MS_MAX)
})

/**
 * Runs of which the first has `length` and the others are empty, each with a set of its own. All sets are
 * object 5, in which each name is the text, and each value nil.
 */
function setsOfOneDictionary(length: Parts): Parts {
  const count = [0x81, REPEATED & 0xff, REPEATED >> 8]
  const sets = Array.from({ length: REPEATED }, (_, at) => [
    0x97,
    0x81,
    (at + 2) & 0xff,
    (at + 2) >> 8,
    0,
    AT,
    0x97,
  ])
  const pairs = Array.from({ length: REPEATED }, () => [AT, 0x95, AT, 0x85])
  return [
    [...RUN, 1, ...length, ...PAIRS, ...count],
    [...pairs.flat(), END, ...sets.flat(), END],
  ].flat()
}

/** The fastest of five: other programs on the machine may have slowed some down. */
function fastestMs(stream: Uint8Array): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now()
    decodeAttributedBody(stream)
    return performance.now() - started
  })
  return Math.min(...times)
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
