// Bodies that are damaged, or made to hurt: each is answered, after few bytes or few steps. What the worst of
// them takes, scripts/bench/mac-reading.ts measures.

import { expect, spyOn, test } from 'bun:test'

import { decodeAttributedBody } from '../../../../src/lines/kinds/mac/attributed-body.ts'
import { BLOB_BYTES_MAX } from '../../../../src/lines/kinds/mac/typed-stream.ts'
import { AT, bytesOf, END, ONE_RUN, type Parts } from '../../../fixtures/typed-streams.ts'
import { A_TEXT, ATTRIBUTED, HOSTILE, PAIRS, ROOT, RUN, STRING } from './hostile-bodies.ts'
import { problemsOfDamaged, WHOLE } from './mutations.ts'

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

test('whatever is changed in a stream, there is an answer, and the reader knows what is wrong', () => {
  const problems = problemsOfDamaged(5_000, 1)

  expect(problems.size).toBeGreaterThan(20)
  expect([...problems]).not.toContain('the reader itself failed')
})

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

for (const [what, [stream, problem]] of Object.entries(HOSTILE)) {
  test(`so far it is read that this is no message: ${what}`, () => {
    expect(decodeAttributedBody(stream)).toEqual({ ok: false, problem })
  })
}

const REPEATED = 1_000
const NAME_LENGTH = '__kIMFileTransferGUIDAttributeName'.length

test('a thousand sets that are one dictionary of a thousand pairs are searched once', () => {
  const text = 'x'.repeat(NAME_LENGTH)
  const sets = setsOfOneDictionary([NAME_LENGTH])
  const stream = bytesOf([...ATTRIBUTED, NAME_LENGTH, text, END, ...sets])

  const { body, byteCount } = decoded(stream)

  // Each pair has a name that is as long as the one that is wanted.
  expect(body).toEqual({ ok: true, text, attachmentGuids: [] })
  expect(byteCount).toBeLessThan(REPEATED * NAME_LENGTH + 1_000)
})

test('a long text that is also the name of a thousand attributes is read once', () => {
  const text = 'x'.repeat(0x0e_0000)
  const length = [0x82, 0x00, 0x00, 0x0e, 0x00]
  const stream = bytesOf([...ATTRIBUTED, ...length, text, END, ...setsOfOneDictionary(length)])

  const { body, byteCount } = decoded(stream)

  expect(body).toEqual({ ok: true, text, attachmentGuids: [] })
  expect(byteCount).toBeLessThan(text.length + 1_000)
})

/** A body, and of how many bytes letters were made to read it. */
function decoded(stream: Uint8Array) {
  using decode = spyOn(TextDecoder.prototype, 'decode')
  const body = decodeAttributedBody(stream)
  const sizes = decode.mock.calls.map(([bytes]) => bytes?.byteLength ?? 0)
  return { body, byteCount: sizes.reduce((sum, size) => sum + size, 0) }
}

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
