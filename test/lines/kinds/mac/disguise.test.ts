import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import {
  createDisguise,
  type Cell,
  type TraceValue,
} from '../../../../src/lines/kinds/mac/disguise.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'

const SALT = new Uint8Array(32).fill(7)

const disguise = createDisguise(SALT)

test('a text becomes a token: the same within a trace, another in the next one', () => {
  const next = createDisguise(new Uint8Array(32).fill(8))

  const first = text('id', '+12025550123')

  expect(first).toBe(token('+12025550123'))
  expect(text('destination_caller_id', '+12025550123')).toBe(first)
  expect(text('id', '+12025550124')).not.toBe(first)
  expect(next({ name: 'id', isNumeric: false }, '+12025550123')).not.toBe(first)
})

const TOLD: readonly (readonly [column: string, cell: string, told: string, hidden: string])[] = [
  ['guid', 'any;-;+12025550123', 'any;-;', '+12025550123'],
  ['guid', 'iMessage;+;chat1234', 'iMessage;+;', 'chat1234'],
  ['guid', 'at_0_B7E1D0A4', 'at_0_', 'B7E1D0A4'],
  ['guid', 'B7E1D0A4', '', 'B7E1D0A4'],
  ['account', 'E:anna@example.com', 'E:', 'anna@example.com'],
  ['account_login', 'P:+12025550123', 'P:', '+12025550123'],
  ['associated_message_guid', 'p:0/B7E1D0A4', 'p:0/', 'B7E1D0A4'],
  ['associated_message_guid', 'bp:B7E1D0A4', 'bp:', 'B7E1D0A4'],
  ['service', 'iMessage', 'iMessage', ''],
  ['service', 'Anna says', '', 'Anna says'],
  [
    'balloon_bundle_id',
    'com.apple.messages.URLBalloonProvider',
    'com.apple.messages.URLBalloonProvider',
    '',
  ],
  ['balloon_bundle_id', 'com.example.dating:0000000', '', 'com.example.dating:0000000'],
  ['text', 'p:0/a text', '', 'p:0/a text'],
  ['text', 'E:a text', '', 'E:a text'],
  ['subject', 'iMessage;-;a subject', '', 'iMessage;-;a subject'],
  ['cache_roomnames', '', '', ''],
]

for (const [column, cell, told, hidden] of TOLD) {
  test(`of ${JSON.stringify(cell)} in ${column}, ${JSON.stringify(told)} is told`, () => {
    expect(text(column, cell)).toBe(hidden === '' ? told : told + token(hidden))
  })
}

test('numbers are told as they are, those too long for a reader of JSON as text', () => {
  expect(number('is_sent', 1n)).toBe(1)
  expect(number('sort_id', 1.5)).toBe(1.5)
  expect(number('date', 816_948_000_123_456_789n)).toBe('816948000123456789')
  expect(number('date_read', null)).toBeNull()
})

test('a number where text belongs may be somebody: it becomes a token', () => {
  expect(text('id', 12_025_550_123n)).toBe(token('12025550123'))
})

test('a text where a number belongs becomes a token', () => {
  expect(number('date', '+12025550123')).toBe(token('+12025550123'))
})

test('of a blob its length is told, and of a body whether it can be read', () => {
  const body = encodeAttributedBody('hello')

  expect(text('payload_data', Buffer.from('hello'))).toEqual({ bytes: 5 })
  expect(text('attributedBody', body)).toEqual({ bytes: body.length, decoded: true })
  expect(text('attributedBody', Uint8Array.of(4, 11, 1))).toEqual({ bytes: 3, decoded: false })
  expect(text('attributedBody', 'h\u00E9llo')).toEqual({ bytes: 6, decoded: true })
})

function text(name: string, cell: Cell): TraceValue {
  return disguise({ name, isNumeric: false }, cell)
}

function number(name: string, cell: Cell): TraceValue {
  return disguise({ name, isNumeric: true }, cell)
}

function token(text: string): string {
  return `#${createHmac('sha256', SALT).update(text).digest('hex').slice(0, 12)}`
}
