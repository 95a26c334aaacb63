// Which rows may be those of a message: by the note of its send, by date, handle and text.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { timestamp, type MessageId } from '../../../../src/domain/ids.ts'
import type { Unsettled } from '../../../../src/domain/message.ts'
import type { MessageRow } from '../../../../src/lines/kinds/mac/chat-db-rows.ts'
import {
  expectationOf,
  fitOf,
  isGhost,
  isMisrouted,
  noteText,
} from '../../../../src/lines/kinds/mac/expectations.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const SOMEBODY_ELSE = '+15550006666'
const NOW = TEST_START
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

/** A row of ours `ms` after the send. */
function ownRow(
  db: OpenedChatDb,
  text: string,
  ms = 0,
  values: MessageValues & { to?: string } = {},
) {
  const { rowId } = writeOwn(db.file, { to: FRIEND, text, ...values, at: NOW + ms })
  return rowAt(db, rowId)
}

function rowAt({ chatDb }: OpenedChatDb, rowId: number): MessageRow {
  const [row] = chatDb.rowsAt([rowId])
  if (row === undefined) throw new Error('The row is not there.')
  return row
}

function opened(): OpenedChatDb {
  return new OpenedChatDb({ schema: 'macos26a', options: {} })
}

test('the newest ROWID of a note counts in the database that it was written for only', () => {
  const others = [HERE, { ...HERE, device: 9 }, { ...HERE, inode: 9 }, { ...HERE, bornMs: 9 }]

  const rowIds = others.map((identity) => {
    return expectationOf(unsettled('hello', noteText(HERE, 7, NOW)), identity).afterRowId
  })

  expect(rowIds).toEqual([7, 7, 0, 0])
})

test('the row that was the newest before the send is not its row', () => {
  using db = opened()
  const [before, after] = [ownRow(db, 'hello'), ownRow(db, 'hello')]

  const expectation = expected('hello', before.rowId)

  expect([before, after].map((row) => fitOf(expectation, row))).toEqual([null, 'whole'])
})

test('a row is dated from five seconds before the send to ten minutes after it', () => {
  using db = opened()

  const fits = [-5_001, -5_000, 600_000, 600_001].map((ms) =>
    fitOf(expected('hello'), ownRow(db, 'hello', ms)),
  )

  expect(fits).toEqual([null, 'whole', 'whole', null])
})

test('texts are the same where Unicode composes them otherwise', () => {
  using db = opened()

  const row = ownRow(db, 'cafe\u0301')

  expect(fitOf(expected('caf\u00e9'), row)).toBe('whole')
})

test('the beginning of a text is a part of it only where a link may follow', () => {
  using db = opened()
  const row = ownRow(db, 'hello')

  const fits = ['hello there', 'hello https://example.com', 'hello www.example.com'].map((text) =>
    fitOf(expected(text), row),
  )

  expect(fits).toEqual([null, 'part', 'part'])
})

test('the same text to somebody else was misrouted for a minute, then a person typed it', () => {
  using db = opened()

  const misrouted = [60_000, 60_001].map((ms) =>
    isMisrouted(expected('hello'), ownRow(db, 'hello', ms, { to: SOMEBODY_ELSE })),
  )

  expect(misrouted).toEqual([true, false])
})

test('a bare row is the ghost of a message only where it names its recipient', () => {
  using db = opened()

  const ghosts = [FRIEND, SOMEBODY_ELSE].map((handle) => {
    const bare = { is_from_me: 1, is_delivered: 0, handle_id: db.file.addHandle(handle) }
    const { rowId } = db.file.addMessage({ at: NOW, ...bare })
    return isGhost(expected('hello'), rowAt(db, rowId))
  })

  expect(ghosts).toEqual([true, false])
})
