import { expect, test } from 'bun:test'

import { maskHandle, parseRecipient } from '../../src/domain/handle.ts'
import {
  derivedId,
  guidFromBytes,
  idFromBytes,
  parseId,
  siblingId,
  timestamp,
  uuidV7,
} from '../../src/domain/ids.ts'
import { TEST_START } from '../support/test-clock.ts'

const zeros = new Uint8Array(10)

test('an id is its prefix and 26 characters that sort by time', () => {
  const early = idFromBytes('msg', uuidV7(timestamp(1_700_000_000_000), zeros))
  const late = idFromBytes('msg', uuidV7(timestamp(1_700_000_000_001), zeros))

  expect(early).toMatch(/^msg_[0-9a-hjkmnp-tv-z]{26}$/)
  expect(early < late).toBe(true)
})

test('the bytes of an id are a UUID of version 7', () => {
  const bytes = uuidV7(timestamp(0x0123456789ab), new Uint8Array(10).fill(0xff))

  expect(guidFromBytes(bytes)).toBe('01234567-89AB-7FFF-BFFF-FFFFFFFFFFFF')
})

test('an id of 16 bytes is their number in base 32', () => {
  const bytes = new Uint8Array(16)
  bytes[15] = 33

  expect(idFromBytes('evt', bytes)).toBe('evt_00000000000000000000000011' as never)
  expect(idFromBytes('evt', new Uint8Array(16).fill(255))).toBe(
    'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz' as never,
  )
})

test.each([0, 5, TEST_START, 2 ** 47 + 12_345, 2 ** 48 - 1])(
  'an id made beside one of the moment %d is the one derived from that moment',
  (at) => {
    const hash = Uint8Array.from({ length: 32 }, (_, index) => index * 37)
    const message = derivedId('msg', timestamp(at), new Uint8Array(32).fill(201))

    expect(siblingId('evt', message, hash)).toBe(derivedId('evt', timestamp(at), hash))
  },
)

test('what is cut short, too long or of another kind is no id of a message', () => {
  const texts = ['msg_', 'msg_0123456789abcdefghjkmnpqr', 'conv_0123456789abcdefghjkmnpqrs', 'x']

  expect(texts.map((text) => parseId('msg', text))).toEqual([null, null, null, null])
})

test('a recipient is a number with its country, or an e-mail address', () => {
  const phones = ['+12025550101', '+1234567', '+123456789012345']
  const emails = ['anna@example.com', 'Anna.B+x@Example.CO.UK']
  const others = [
    '',
    '12025550101',
    '+0123456789',
    '+123456',
    '+1234567890123456',
    '+1 202 555 0101',
    '+1202555010a',
    '-x@example.com',
    'a@b',
    'a b@example.com',
    '@example.com',
  ]
  const kinds = [phones, emails, others].map((texts) =>
    texts.map((text) => parseRecipient(text)?.kind),
  )

  expect(kinds).toEqual([
    phones.map(() => 'phone'),
    emails.map(() => 'email'),
    others.map(() => undefined),
  ])
})

test('a masked handle shows four characters at most', () => {
  expect(maskHandle('+12025550101')).toBe('…0101')
  expect(maskHandle('1234')).toBe('…')
})
