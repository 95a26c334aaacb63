// Owner of a row where more than one message would fit: second rows, previews, rows to other people.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { type MessageId, timestamp } from '../../../../src/domain/ids.ts'
import type { Unsettled } from '../../../../src/domain/message.ts'
import type { MessageRow } from '../../../../src/lines/kinds/mac/chat-db-rows.ts'
import {
  type Expectation,
  expectationOf,
  fitOf,
  isGhost,
  isMisrouted,
  noteText,
} from '../../../../src/lines/kinds/mac/expectation.ts'
import { OwnMessages } from '../../../../src/lines/kinds/mac/own-messages.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const OTHER_PERSON = '+15550006666'
const ID = 'msg_1' as MessageId // Taken as it is.
const NOW = TEST_START
const LINK = 'https://example.com/page'
const PREVIEW = { balloon_bundle_id: 'com.apple.messages.URLBalloonProvider' }
const FAILED = { error: 6, is_sent: 0, is_finished: 1 }

/** What was given to Messages, and the rows that it writes. */
class OwnRig extends OpenedChatDb {
  readonly own = new OwnMessages()

  /** A message to FRIEND, which is under way. */
  expect(text: string, more: Partial<Expectation> = {}): void {
    const dates = { from: NOW - 5_000, until: NOW + 600_000, strayUntil: NOW + 60_000 }
    const to = { messageId: ID, handle: deviceHandle(FRIEND), text, afterRowId: 0 }
    this.own.expect({ ...to, ...dates, ...more }, true)
  }

  /** A row of ours `ms` later. */
  row(text: string, values: MessageValues & { readonly to?: string } = {}, ms = 0): MessageRow {
    const { rowId } = writeOwn(this.file, { to: FRIEND, text, ...values, at: NOW + ms })
    return this.#rowAt(rowId)
  }

  /** A row of ours without text and chat. */
  bareRow(handle: string): MessageRow {
    const { file } = this
    const bare = { is_from_me: 1, is_delivered: 0, handle_id: file.addHandle(handle) }
    return this.#rowAt(file.addMessage({ at: NOW, ...bare }).rowId)
  }

  #rowAt(rowId: number): MessageRow {
    const [row] = this.chatDb.rowsAt([rowId])
    if (row === undefined) throw new Error('The row is not there.')
    return row
  }
}

const FOUND = { kind: 'found', messageId: ID, insteadOf: null } as const
const MORE = { kind: 'more' } as const

test('a text in two rows is ours to its end, also when its sender has answered after the first', () => {
  using rig = new OwnRig()
  rig.expect(`look at ${LINK}`)
  const [first, second] = [rig.row('look at'), rig.row(LINK)]

  rig.own.match(first)
  rig.own.finishSend(ID, true)

  expect(rig.own.match(second)).toEqual(MORE)
})

test('the row of a text in two rows is the first of them', () => {
  using rig = new OwnRig()
  rig.expect(`look at ${LINK}`)
  const [first, second] = [rig.row('look at'), rig.row(LINK)]

  for (const row of [first, second]) rig.own.match(row)

  expect(rig.own.rowOf(ID)).toEqual(first)
})

test('the same text to another person is typed by a person if the message already has its row', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  rig.own.match(rig.row('hello'))
  rig.own.finishSend(ID, false)

  expect(rig.own.match(rig.row('hello', { to: OTHER_PERSON }))).toBeNull()
})

test('a message went to another person once: the next such row is typed by a person', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  rig.own.finishSend(ID, false)
  const [wrong, typed] = [0, 1].map(() => rig.row('hello', { to: OTHER_PERSON }))

  const matches = [wrong, wrong, typed].map((row) =>
    row === undefined ? null : rig.own.match(row),
  )

  expect(matches).toEqual([{ kind: 'misrouted', messageId: ID }, MORE, null])
})

test('what a sender sees of other messages is passed to the reporter of events, once', () => {
  using rig = new OwnRig()
  for (const [name, text] of Object.entries({ found: 'hello', misrouted: 'well' })) {
    const messageId = name as MessageId // Taken as it is.
    rig.expect(text, { messageId })
    rig.own.finishSend(messageId, false)
  }
  const rows = [rig.row('hello'), rig.row('well', { to: OTHER_PERSON })]

  for (const row of rows) rig.own.peek(row)
  const first = rows.map((row) => rig.own.match(row)?.kind)
  const second = rows.map((row) => rig.own.match(row)?.kind)

  expect([first, second]).toEqual([
    ['found', 'misrouted'],
    ['more', 'more'],
  ])
})

test('in a database that was rebuilt a row is found below the ROWIDs of before', () => {
  using rig = new OwnRig()
  rig.expect('hello', { afterRowId: 100 })
  rig.own.finishSend(ID, false)
  const row = rig.row('hello')

  const before = rig.own.match(row)
  rig.own.forgetRowIds()

  expect([before, rig.own.match(row)]).toEqual([null, FOUND])
})

test('a row from before the one that failed is no second row', () => {
  using rig = new OwnRig()
  rig.expect('hello')
  const [earlier, failed, later] = [rig.row('hello'), rig.row('hello', FAILED), rig.row('hello')]
  rig.own.match(failed)
  rig.own.finishSend(ID, false)

  const matches = [earlier, later].map((row) => rig.own.match(row))

  expect(matches).toEqual([null, { ...FOUND, insteadOf: failed.rowId }])
})

test('the preview of a link is ours if it comes after a message of ours, within five seconds, to the same person', () => {
  using rig = new OwnRig()
  rig.expect(LINK)
  rig.own.match(rig.row(LINK))
  rig.own.finishSend(ID, true)

  const matches = [
    rig.row(LINK, PREVIEW, 0),
    rig.row(LINK, PREVIEW, 5_000),
    rig.row(LINK, PREVIEW, 5_001),
    rig.row(LINK, PREVIEW, -1),
    rig.row(LINK, { ...PREVIEW, to: OTHER_PERSON }, 0),
    rig.row(LINK, {}, 0),
  ].map((row) => rig.own.match(row))

  expect(matches).toEqual([MORE, MORE, null, null, null, null])
})

test('of many messages it is the last whose previews are known', () => {
  using rig = new OwnRig()
  for (let i = 0; i < 30; i += 1) {
    rig.expect(`${LINK}/${i}`)
    rig.own.match(rig.row(`${LINK}/${i}`, {}, i * 10_000))
    rig.own.finishSend(ID, true)
  }

  const matches = [0, 290_000].map((ms) => rig.own.match(rig.row(LINK, PREVIEW, ms)))

  expect(matches).toEqual([null, MORE])
})

// Which rows may be those of a message: by the note of its send, by date, handle and text.

const HERE = { device: 1, inode: 2, bornMs: 3 }

function unsettled(text: string, note: string | null): Unsettled {
  const id = 'msg_1' as MessageId // Taken as it is.
  const to = deviceHandle(FRIEND)
  const message = { id, to, text, createdAt: timestamp(NOW), platformGuid: null }
  return { message, note }
}

/** What is expected of a text that was sent `NOW`, with `rowId` as the newest. */
function expected(text: string, rowId = 0) {
  return expectationOf(unsettled(text, noteText(HERE, rowId, NOW)), HERE)
}

test('the newest ROWID of a note counts in the database that it was written for only', () => {
  const others = [HERE, { ...HERE, device: 9 }, { ...HERE, inode: 9 }, { ...HERE, bornMs: 9 }]

  const rowIds = others.map((identity) => {
    return expectationOf(unsettled('hello', noteText(HERE, 7, NOW)), identity).afterRowId
  })

  expect(rowIds).toEqual([7, 7, 0, 0])
})

test('the row that was the newest before the send is not its row', () => {
  using rig = new OwnRig()
  const [before, after] = [rig.row('hello'), rig.row('hello')]

  const expectation = expected('hello', before.rowId)

  expect([before, after].map((row) => fitOf(expectation, row))).toEqual([null, 'whole'])
})

test('a row is dated from five seconds before the send to ten minutes after it', () => {
  using rig = new OwnRig()

  const fits = [-5_001, -5_000, 600_000, 600_001].map((ms) =>
    fitOf(expected('hello'), rig.row('hello', {}, ms)),
  )

  expect(fits).toEqual([null, 'whole', 'whole', null])
})

test('texts are the same where Unicode composes them otherwise', () => {
  using rig = new OwnRig()

  const row = rig.row('cafe\u0301')

  expect(fitOf(expected('caf\u00e9'), row)).toBe('whole')
})

test('the beginning of a text is a part of it only where a link may follow', () => {
  using rig = new OwnRig()
  const row = rig.row('hello')

  const fits = ['hello there', 'hello https://example.com', 'hello www.example.com'].map((text) =>
    fitOf(expected(text), row),
  )

  expect(fits).toEqual([null, 'part', 'part'])
})

test('the same text to another person was misrouted for a minute, then a person typed it', () => {
  using rig = new OwnRig()

  const misrouted = [60_000, 60_001].map((ms) =>
    isMisrouted(expected('hello'), rig.row('hello', { to: OTHER_PERSON }, ms)),
  )

  expect(misrouted).toEqual([true, false])
})

test('a bare row is the ghost of a message only if it names its recipient', () => {
  using rig = new OwnRig()

  const ghosts = [FRIEND, OTHER_PERSON].map((handle) => {
    return isGhost(expected('hello'), rig.bareRow(handle))
  })

  expect(ghosts).toEqual([true, false])
})
