import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import {
  createAnonymizer,
  type Cell,
  type TraceValue,
  type Anonymizer,
  FollowedTable,
} from '../../../../src/lines/kinds/mac/trace.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'

const SALT = new Uint8Array(32).fill(7)

const anonymize = createAnonymizer(SALT)

test('a text becomes a token: the same within a trace, another in the next one', () => {
  const next = createAnonymizer(new Uint8Array(32).fill(8))

  const first = text('id', '+12025550123')

  expect(first).toBe(token('+12025550123'))
  expect(text('destination_caller_id', '+12025550123')).toBe(first)
  expect(text('id', '+12025550124')).not.toBe(first)
  expect(next({ name: 'id', isNumeric: false }, '+12025550123')).not.toBe(first)
})

const TOLD: readonly (readonly [
  column: string,
  cell: string,
  published: string,
  hidden: string,
])[] = [
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

for (const [column, cell, published, hidden] of TOLD) {
  test(`of ${JSON.stringify(cell)} in ${column}, ${JSON.stringify(published)} is published`, () => {
    expect(text(column, cell)).toBe(hidden === '' ? published : published + token(hidden))
  })
}

test('numbers are recorded as they are, those too long for a reader of JSON as text', () => {
  expect(number('is_sent', 1n)).toBe(1)
  expect(number('sort_id', 1.5)).toBe(1.5)
  expect(number('date', 816_948_000_123_456_789n)).toBe('816948000123456789')
  expect(number('date_read', null)).toBeNull()
})

test('a number where text belongs may be a phone number: it becomes a token', () => {
  expect(text('id', 12_025_550_123n)).toBe(token('12025550123'))
})

test('a text where a number belongs becomes a token', () => {
  expect(number('date', '+12025550123')).toBe(token('+12025550123'))
})

test('of a blob its length is recorded, and of a body whether it can be read', () => {
  const body = encodeAttributedBody('hello')

  expect(text('payload_data', Buffer.from('hello'))).toEqual({ bytes: 5 })
  expect(text('attributedBody', body)).toEqual({ bytes: body.length, decoded: true })
  expect(text('attributedBody', Uint8Array.of(4, 11, 1))).toEqual({ bytes: 3, decoded: false })
  expect(text('attributedBody', 'h\u00E9llo')).toEqual({ bytes: 6, decoded: true })
})

function text(name: string, cell: Cell): TraceValue {
  return anonymize({ name, isNumeric: false }, cell)
}

function number(name: string, cell: Cell): TraceValue {
  return anonymize({ name, isNumeric: true }, cell)
}

function token(text: string): string {
  return `#${createHmac('sha256', SALT).update(text).digest('hex').slice(0, 12)}`
}

// Rows of a table that a trace follows; each of their changes is recorded once.

const plain: Anonymizer = (_, cell) => (typeof cell === 'bigint' ? Number(cell) : null)

/** A table with three rows from before, and what follows it. */
class TableRig implements Disposable {
  readonly db = new Database(':memory:', { safeIntegers: true })
  readonly table: FollowedTable

  constructor() {
    this.db.run('CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER)')
    this.insert(3)
    const table = FollowedTable.fromNow(this.db, 'item', plain)
    if (table === null) throw new Error('The table is not there.')
    this.table = table
  }

  insert(count: number): void {
    const insertion = this.db.prepare('INSERT INTO item (size) VALUES (7)')
    this.db.transaction(() => {
      for (let i = 0; i < count; i += 1) insertion.run()
    })()
  }

  /** What changed, then what came, each as its kind and key. */
  look(): readonly (readonly [op: string, id: unknown])[] {
    const published = [...this.table.changes(), ...this.table.arrivals()]
    return published.map(({ op, set }) => [op, set['id']] as const)
  }

  [Symbol.dispose](): void {
    this.db.close()
  }
}

test('a row from before that is followed and goes makes no other one new', () => {
  using rig = new TableRig()

  const known = rig.table.known([1]).length
  rig.db.run('DELETE FROM item WHERE id = 1')

  expect([known, rig.look(), rig.look()]).toEqual([1, [['delete', 1]], []])
})

test('a row that goes makes those that came after it not new again', () => {
  using rig = new TableRig()
  rig.insert(2)
  const came = rig.look()

  rig.db.run('DELETE FROM item WHERE id = 4')

  expect(came).toEqual([
    ['insert', 4],
    ['insert', 5],
  ])
  expect(rig.look()).toEqual([['delete', 4]])
})

test('five hundred rows are followed, however they came, and none besides', () => {
  using rig = new TableRig()
  const counts: number[] = []

  for (let i = 0; i < 3; i += 1) {
    rig.insert(300)
    counts.push(rig.look().length)
  }
  counts.push(rig.table.known([1]).length)

  expect(counts).toEqual([300, 200, 0, 0])
  expect(rig.table.isFull).toBe(true)
})
