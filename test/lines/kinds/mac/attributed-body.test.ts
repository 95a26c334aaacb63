// What a message's body says. Damaged and hostile bodies are in attributed-body-damage.test.ts.

import { expect, test } from 'bun:test'

import {
  decodeAttributedBody,
  withoutMarks,
} from '../../../../src/lines/kinds/mac/attributed-body.ts'
import {
  ATTACHMENT_THEN_TEXT,
  BARE_STRING,
  bytesOf,
  END,
  OPEN,
  ONE_RUN,
} from '../../../fixtures/typed-streams.ts'
import {
  encodeAttributedBody,
  type Attributes,
  type EncodeOptions,
} from '../../../support/mac/attributed-body-encoder.ts'
import { SeededRandom } from '../../../support/seeded-random.ts'

const ROOTS = [
  'NSAttributedString',
  'NSMutableAttributedString',
  'NSString',
  'NSMutableString',
] as const
const GUID = '__kIMFileTransferGUIDAttributeName'

test('streams written by hand are read', () => {
  const bodies = [ONE_RUN, ATTACHMENT_THEN_TEXT, BARE_STRING].map(decodeAttributedBody)

  expect(bodies).toEqual([
    { ok: true, text: 'Hi \u{1F600}', attachmentGuids: [] },
    { ok: true, text: '\uFFFClook', attachmentGuids: ['at_0_A'] },
    { ok: true, text: 'n'.repeat(157), attachmentGuids: [] },
  ])
})

test('the encoder of the tests writes what was written by hand', () => {
  const root = 'NSMutableAttributedString'

  const encoded = [
    encodeAttributedBody('Hi \u{1F600}'),
    encodeAttributedBody('\uFFFClook', { root, attachments: ['at_0_A'] }),
    encodeAttributedBody('n'.repeat(157), { root: 'NSString' }),
  ]

  expect(encoded).toEqual([ONE_RUN, ATTACHMENT_THEN_TEXT, BARE_STRING])
})

for (const byteCount of [0, 1, 31, 32, 126, 127, 128, 145, 146, 255, 256, 32_768, 65_535, 65_536]) {
  test(`texts of ${byteCount} bytes come back, whatever the root is`, () => {
    const random = new SeededRandom(byteCount)
    const texts = [random.text(byteCount), random.text(byteCount), 'x'.repeat(byteCount)]

    for (const root of ROOTS) {
      const bodies = texts.map((text) => decodeAttributedBody(encodeAttributedBody(text, { root })))

      expect(bodies).toEqual(texts.map((text) => ({ ok: true, text, attachmentGuids: [] })))
    }
  })
}

/** What is encoded, how, and the guids of its attachments. */
type Body = readonly [text: string, options?: EncodeOptions, guids?: readonly string[]]

const GUIDS = ['at_0_Z', 'at_2_A', '5B9D1A8E-3C4F-4E0B-9A53-0D7C1E2F3A4B']
const NINETEEN = Array.from({ length: 19 }, (_, at) => `at_${at}`)
const SHARED = { [GUID]: 'at_0' }
const ANY_KIND = {
  IMAudioTranscription: 'what was said',
  __kIMDataDetectedAttributeName: bytesOf(['bplist00', 0x84, 0x86, 0x86, 0xff]),
  __kIMBaseWritingDirectionAttributeName: -1,
  __kIMOneTimeCodeAttributeName: 'code',
  wide: -9_000_000_000_000_000_000n,
  ...SHARED,
}

const BODIES: Readonly<Record<string, Body>> = {
  'whose length is a printable byte': ['The length of this is 0x20: ok?!'],
  'from the supplementary planes': ['\u{1D58D}\u{1D58A}\u{1D591}\u{1D591}\u{1D594}'],
  'of emoji that are joined': [
    '\u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u{1F1E8}\u{1F1ED} \u{1F44D}\u{1F3FD}',
  ],
  'from right to left': ['\u0623\u0647\u0644\u0627\u064B \u200F\u05E9\u05DC\u05D5\u05DD'],
  'with all kinds of line ends': ['a\rb\nc\r\nd\u2028e\u2029f'],
  'with blanks that do not break': [' a\u00A0b\u202Fc '],
  'that begins with a byte order mark': ['\uFEFFa'],
  'with a NUL and other controls': ['a\0b\u0001\u001B[0m'],
  'with the words of the format': ['NSString NSObject streamtyped + iI @ \u0084\u0085\u0086\u0092'],
  'that is the head of a stream': ['\u0004\u000Bstreamtyped\u0081'],
  'with marks that are no attachments': ['a\uFFFCb\uFFFC'],
  // In UTF-8 these have 0x80 to 0x9F as their second byte, after 0xC2; 0x2B is "+".
  'of the bytes of the tags': [
    Array.from({ length: 32 }, (_, at) => `+${String.fromCodePoint(0x80 + at)}`).join(''),
  ],
  'with attachments, in the order of the text': [
    '\uFFFCfirst\uFFFC\uFFFClast',
    { attachments: GUIDS },
    GUIDS,
  ],
  'of nineteen attachments and no word': ['\uFFFC'.repeat(19), { attachments: NINETEEN }, NINETEEN],
  'with a guid of 255 bytes': ['\uFFFC', { attachments: ['x'.repeat(255)] }, ['x'.repeat(255)]],
  'with an attachment whose run is split, or comes up again': [
    '\uFFFC'.repeat(4),
    {
      runs: [
        { length: 1, attributes: SHARED },
        { length: 1, attributes: { [GUID]: 'at_1' } },
        { length: 1, attributes: { ...SHARED, __kIMTextBoldAttributeName: 1 } },
        { length: 1, attributes: SHARED },
      ],
    },
    ['at_0', 'at_1'],
  ],
  'with attributes of any kind': ['\uFFFC', one(ANY_KIND), ['at_0']],
  // What names no attachment, and keeps its text.
  'with a name as long as the right one': [
    '\uFFFC',
    one({ [GUID.replace('GUID', 'NAME')]: 'at_0' }),
  ],
  'with the right name as a value': ['\uFFFC', one({ note: GUID, other: 'at_0' })],
  'with a guid that is a number': ['\uFFFC', one({ [GUID]: 7 })],
  'with a guid of 256 bytes': ['\uFFFC', one({ [GUID]: 'x'.repeat(256) })],
}

function one(attributes: Attributes): EncodeOptions {
  return { runs: [{ length: 1, attributes }] }
}

for (const [what, [text, options, attachmentGuids = []]] of Object.entries(BODIES)) {
  test(`a text ${what} comes back`, () => {
    const body = decodeAttributedBody(encodeAttributedBody(text, options))

    expect(body).toEqual({ ok: true, text, attachmentGuids })
  })
}

test('UTF-16 with a byte order mark is read as such', () => {
  const text = 'a\u00E9\u{1F600}\uFFFC'
  const body = new Uint8Array([0xff, 0xfe, ...Buffer.from(text, 'utf16le')])

  expect(decodeAttributedBody(body)).toEqual({ ok: true, text, attachmentGuids: [] })
  expect(decodeAttributedBody(body.subarray(0, -1))).toEqual({
    ok: false,
    problem: 'the text is not well-formed',
  })
})

test('a column of type TEXT is the text itself', () => {
  const texts = ['', 'plain', '\uFFFC \u{1F600}', 'streamtyped']

  expect(texts.map(decodeAttributedBody)).toEqual(
    texts.map((text) => ({ ok: true, text, attachmentGuids: [] })),
  )
})

test('a stream in a column of type TEXT is read where its bytes are still there', () => {
  const letters = String.fromCharCode(...ONE_RUN)
  const lossy = new TextDecoder().decode(ONE_RUN)

  expect([letters, lossy].map(decodeAttributedBody)).toEqual([
    { ok: true, text: 'Hi \u{1F600}', attachmentGuids: [] },
    { ok: false, problem: 'the stream was stored as text' },
  ])
})

test('a stream that holds something else is no message', () => {
  expect(decodeAttributedBody(bytesOf([...OPEN, END]))).toEqual({
    ok: false,
    problem: 'the stream holds no text',
  })
})

test.each([-1, 1])('a run that is off by %d does not fit the text', (by) => {
  const text = 'a\u{1F600}'
  const runs = [{ length: text.length + by, attributes: {} }]

  expect(decodeAttributedBody(encodeAttributedBody(text, { runs }))).toEqual({
    ok: false,
    problem: 'the runs do not fit the text',
  })
})

test('marks are taken out of a text, and nothing else', () => {
  expect(withoutMarks('\uFFFC a\uFFFC\uFFFC\r\n \uFFFD ')).toBe(' a\r\n \uFFFD ')
})

test('a picture in the middle of a line is distinguished from one in a bubble of its own', () => {
  const part = { __kIMMessagePartAttributeName: 0 }
  const guid = { __kIMFileTransferGUIDAttributeName: 'at_1' }
  const runs = (isEmoji: number) => [
    { length: 3, attributes: part },
    { length: 1, attributes: { ...part, ...guid, __kIMEmojiImageAttributeName: isEmoji } },
  ]
  const body = (isEmoji: number) => encodeAttributedBody('hi \uFFFC', { runs: runs(isEmoji) })

  const decoded = { ok: true, text: 'hi \uFFFC', attachmentGuids: ['at_1'] } as const
  expect(decodeAttributedBody(body(1))).toEqual({
    ...decoded,
    inlineEmoji: [{ at: 3, guid: 'at_1' }],
  })
  expect(decodeAttributedBody(body(0))).toEqual(decoded)
})
