// Whose a row is where more than one answer would do: second rows, previews, rows to somebody else.

import { expect, test } from 'bun:test'

import type { MessageId } from '../../../../src/domain/ids.ts'
import type { MessageRow } from '../../../../src/lines/kinds/mac/chat-db-rows.ts'
import type { Expectation } from '../../../../src/lines/kinds/mac/expectations.ts'
import { OwnMessages } from '../../../../src/lines/kinds/mac/own-messages.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const SOMEBODY_ELSE = '+15550006666'
const ID = 'msg_1' as MessageId // Taken as it is.
const NOW = TEST_START
const LINK = 'https://example.com/page'
const PREVIEW = { balloon_bundle_id: 'com.apple.messages.URLBalloonProvider' }
const FAILED = { error: 6, is_sent: 0, is_finished: 1 }

/** What was given to Messages, and the rows that it writes. */
class OwnRig implements Disposable {
  readonly own = new OwnMessages(() => false)
  readonly #opened = new OpenedChatDb({ schema: 'macos26a', options: {} })

  /** A message to FRIEND, which is under way. */
  expect(text: string, more: Partial<Expectation> = {}): void {
    const dates = { from: NOW - 5_000, until: NOW + 600_000 }
    const to = { messageId: ID, handle: FRIEND, text, afterRowId: 0 }
    this.own.expect({ ...to, ...dates, ...more }, true)
  }

  /** A row of ours `ms` later. */
  row(text: string, values: MessageValues & { readonly to?: string } = {}, ms = 0): MessageRow {
    const { rowId } = writeOwn(this.#opened.file, { to: FRIEND, text, ...values, at: NOW + ms })
    const [row] = this.#opened.chatDb.rowsAt([rowId])
    if (row === undefined) throw new Error('The row is not there.')
    return row
  }

  [Symbol.dispose](): void {
    this.#opened[Symbol.dispose]()
  }
}

const FOUND = { claim: 'found', messageId: ID, insteadOf: null } as const
const MORE = { claim: 'more' } as const

test('a text in two rows is ours to its end, also when its sender has answered after the first', () => {
  using rig = new OwnRig()
  rig.expect(`look at ${LINK}`)
  const [first, second] = [rig.row('look at'), rig.row(LINK)]

  rig.own.claim(first)
  rig.own.land(ID, true)

  expect(rig.own.claim(second)).toEqual(MORE)
})

test('the row of a text in two rows is the first of them', () => {
  using rig = new OwnRig()
  rig.expect(`look at ${LINK}`)
  const [first, second] = [rig.row('look at'), rig.row(LINK)]

  for (const row of [first, second]) rig.own.claim(row)

  expect(rig.own.rowOf(ID)).toEqual(first)
})

test('the same text to somebody else is typed by a person where the message has its row', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  rig.own.claim(rig.row('hello'))
  rig.own.land(ID, false)

  expect(rig.own.claim(rig.row('hello', { to: SOMEBODY_ELSE }))).toBeNull()
})

test('a message went to somebody else once: the next such row is typed by a person', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  rig.own.land(ID, false)
  const [wrong, typed] = [0, 1].map(() => rig.row('hello', { to: SOMEBODY_ELSE }))

  const claims = [wrong, wrong, typed].map((row) => (row === undefined ? null : rig.own.claim(row)))

  expect(claims).toEqual([{ claim: 'misrouted', messageId: ID }, MORE, null])
})

test('what a sender sees of other messages is said to whoever tells it, once', () => {
  using rig = new OwnRig()
  for (const [name, text] of Object.entries({ found: 'hello', misrouted: 'well' })) {
    const messageId = name as MessageId // Taken as it is.
    rig.expect(text, { messageId })
    rig.own.land(messageId, false)
  }
  const rows = [rig.row('hello'), rig.row('well', { to: SOMEBODY_ELSE })]

  for (const row of rows) rig.own.glimpse(row)
  const first = rows.map((row) => rig.own.claim(row)?.claim)
  const second = rows.map((row) => rig.own.claim(row)?.claim)

  expect([first, second]).toEqual([
    ['found', 'misrouted'],
    ['more', 'more'],
  ])
})

test('in a database that was rebuilt a row is found below the ROWIDs of before', () => {
  using rig = new OwnRig()
  rig.expect('hello', { afterRowId: 100 })
  rig.own.land(ID, false)
  const row = rig.row('hello')

  const before = rig.own.claim(row)
  rig.own.rebase()

  expect([before, rig.own.claim(row)]).toEqual([null, FOUND])
})

test('a row from before the one that failed is no second row', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  const [earlier, failed, later] = [rig.row('hello'), rig.row('hello', FAILED), rig.row('hello')]
  rig.own.claim(failed)
  rig.own.land(ID, false)

  const claims = [earlier, later].map((row) => rig.own.claim(row))

  expect(claims).toEqual([null, { ...FOUND, insteadOf: failed.rowId }])
})

test('the preview of a link is ours where it comes after a message of ours, within five seconds, to the same person', () => {
  using rig = new OwnRig()
  rig.expect(LINK)
  rig.own.claim(rig.row(LINK))
  rig.own.land(ID, true)

  const claims = [
    rig.row(LINK, PREVIEW, 0),
    rig.row(LINK, PREVIEW, 5_000),
    rig.row(LINK, PREVIEW, 5_001),
    rig.row(LINK, PREVIEW, -1),
    rig.row(LINK, { ...PREVIEW, to: SOMEBODY_ELSE }, 0),
    rig.row(LINK, {}, 0),
  ].map((row) => rig.own.claim(row))

  expect(claims).toEqual([MORE, MORE, null, null, null, null])
})

test('of many messages it is the last whose previews are known', () => {
  using rig = new OwnRig()
  for (let i = 0; i < 30; i += 1) {
    rig.expect(`${LINK}/${i}`)
    rig.own.claim(rig.row(`${LINK}/${i}`, {}, i * 10_000))
    rig.own.land(ID, true)
  }

  const claims = [0, 290_000].map((ms) => rig.own.claim(rig.row(LINK, PREVIEW, ms)))

  expect(claims).toEqual([null, MORE])
})
