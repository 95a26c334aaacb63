// What is remembered of a row is what is stored of it, whatever becomes of either.

import { expect, test } from 'bun:test'

import { NO_CONTACT } from '../../src/domain/contact-limit.ts'
import type { Handle } from '../../src/domain/handle.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
} from '../../src/domain/ids.ts'
import type { Outbound } from '../../src/domain/message.ts'
import { changeContact, markKnown, readContact } from '../../src/storage/contacts.ts'
import { forgetMessage, openConversation } from '../../src/storage/conversations.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import { messageIdOfGuid, rememberGuid } from '../../src/storage/guids.ts'
import { wakeLimited } from '../../src/storage/message-queue.ts'
import {
  findMessage,
  insertMessage,
  newMessage,
  placeMessage,
  saveMessage,
} from '../../src/storage/message-rows.ts'
import { forgetRows, recentRows } from '../../src/storage/recent-rows.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { Writer } from '../../src/storage/writer.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Stamps } from '../../src/system/stamps.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const LINE = 'line_a' as LineId
const NOW = timestamp(TEST_START)
const LATER = timestamp(TEST_START + 1_000)

function openStore() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [
    { id: 'msg_a', status: 'queued', dueAt: LATER, queuedReason: 'daily_contact_limit' },
  ])
  return { db, writer: new Writer(db, () => {}) }
}

function found(db: Db, id = 'msg_a'): Outbound {
  const message = findMessage(db, id)
  if (message === null) throw new Error('The message is not there.')
  return message
}

/** The message as it is remembered, and as it is stored. */
function bothOf(db: Db, id: string) {
  const remembered = recentRows(db).messages.get(id)
  forgetRows(db)
  return { remembered, stored: findMessage(db, id) }
}

test('a message that was inserted, and one that was saved, is remembered as it is stored', async () => {
  const { db, writer } = openStore()
  const base = {
    id: 'msg_b' as Outbound['id'],
    lineId: LINE,
    conversationId: 'conv_a' as ConversationId,
    phoneNumber: '+12025550101',
    handle: found(db).handle,
    text: 'hello',
    guid: 'GUID',
    source: 'api',
    createdAt: NOW,
  } as const
  await writer.write((tx) => void insertMessage(tx, newMessage(base, { isPinned: true })))
  const inserted = bothOf(db, 'msg_b')
  const changes: Partial<Outbound> = {
    status: 'failed',
    service: 'SMS',
    platformGuid: 'OTHER',
    dueAt: LATER,
    queuedReason: 'retry',
    round: 2,
    refusedBy: [LINE],
    contactHold: 'spent',
    note: 'note',
    passedAt: NOW,
    error: { code: 'line_refused', message: 'No.' },
    sentAt: NOW,
    deliveredAt: NOW,
    readAt: NOW,
  }

  await writer.write((tx) => void saveMessage(tx, { ...found(tx, 'msg_b'), ...changes }, LATER))
  const saved = bothOf(db, 'msg_b')

  expect(inserted.remembered).toEqual(inserted.stored)
  expect(saved.remembered).toEqual(saved.stored)
  expect(saved.stored).toMatchObject({ ...changes, updatedAt: LATER })
})

test('what was rolled back is not remembered', async () => {
  const { db, writer } = openStore()
  const before = found(db)

  const writing = writer.write((tx) => {
    saveMessage(tx, { ...before, status: 'sending' }, LATER)
    throw new Error('no')
  })

  await expect(writing).rejects.toThrow('no')
  expect(findMessage(db, 'msg_a')).toEqual(before)
})

test('what a commit took back is not remembered', async () => {
  const { db, writer } = openStore()
  const before = found(db)
  db.sqlite.run('CREATE TABLE child (id TEXT REFERENCES lines(id) DEFERRABLE INITIALLY DEFERRED)')

  const writing = writer.write((tx) => {
    saveMessage(tx, { ...before, status: 'sending' }, LATER)
    tx.sqlite.run("INSERT INTO child VALUES ('nobody')")
  })

  await expect(writing).rejects.toThrow('FOREIGN KEY')
  expect(findMessage(db, 'msg_a')).toEqual(before)
})

test('what is written to many messages, or to a part of one, is read afterwards', async () => {
  const { db, writer } = openStore()
  const before = found(db)

  await writer.write((tx) => wakeLimited(tx, LINE, NOW))
  const woken = found(db)
  const place = { lineId: LINE, phoneNumber: '+12025550199', conversationId: before.conversationId }
  await writer.write((tx) => placeMessage(tx, before.seq, place))
  const placed = found(db)
  await writer.write((tx) => void saveMessage(tx, { ...placed, status: 'failed' }, LATER))
  await writer.write((tx) => deleteOldMessages(tx, LATER, 10))

  expect(woken).toEqual({ ...before, dueAt: NOW })
  expect(placed).toEqual({ ...woken, phoneNumber: '+12025550199' })
  expect(findMessage(db, 'msg_a')).toBeNull()
})

test('a contact is remembered as it is stored, and as it was where a change is undone', async () => {
  const { db, writer } = openStore()
  const { handle } = found(db)
  const reserved = { knownAt: null, queued: 1, passed: 0, spentDay: null }
  const read = () => readContact(db, LINE, handle)
  const who = { lineId: LINE, handle }

  const unknown = read()
  await writer.write((tx) => changeContact(tx, who, unknown, reserved))
  const changed = [read(), (forgetRows(db), read())]
  const failing = writer.write((tx) => {
    markKnown(tx, who, NOW)
    throw new Error('no')
  })

  await expect(failing).rejects.toThrow('no')
  expect(unknown).toEqual(NO_CONTACT)
  expect(changed).toEqual([reserved, reserved])
  expect(read()).toEqual(reserved)
})

test('a guid belongs to the message that it was first told of, as it is stored', async () => {
  const { db, writer } = openStore()
  const told = (guid: string) => [
    messageIdOfGuid(db, LINE, guid),
    (forgetRows(db), messageIdOfGuid(db, LINE, guid)),
  ]
  const first = 'msg_a' as MessageId
  const second = 'msg_b' as MessageId

  await writer.write((tx) => rememberGuid(tx, LINE, 'GUID', first))
  await writer.write((tx) => rememberGuid(tx, LINE, 'GUID', second))
  const toldTwice = told('GUID')
  const failing = writer.write((tx) => {
    rememberGuid(tx, LINE, 'UNDONE', second)
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')

  expect(toldTwice).toEqual([first, first])
  expect(told('UNDONE')).toEqual([null, null])
  expect(messageIdOfGuid(db, 'line_b' as LineId, 'GUID')).toBeNull()
})

test('a conversation left empty keeps its id, and one that never came to be is opened anew', async () => {
  const { db, writer } = openStore()
  const stamps = new Stamps(new TestClock(), systemRandom, 0)
  const { handle } = found(db)
  const party = { lineId: LINE, phoneNumber: '+12025550101', handle, now: NOW }
  const open = () => writer.write((tx) => openConversation(tx, stamps, party))
  const isStored = (id: string) =>
    db.sqlite.query('SELECT 1 FROM conversations WHERE id = $id').get({ id }) !== null

  let undone = ''
  const failing = writer.write((tx) => {
    undone = openConversation(tx, stamps, { ...party, handle: 'a@example.org' as Handle })
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  const other = { ...party, handle: 'a@example.org' as Handle }
  const next = await writer.write((tx) => openConversation(tx, stamps, other))
  const first = await open()
  const again = await open()
  await writer.write((tx) => forgetMessage(tx, first, next))
  const anew = await open()

  expect(next).not.toBe(undone as ConversationId)
  expect(again).toBe(first)
  expect(anew).toBe(first)
  expect([undone, next, first].map(isStored)).toEqual([false, true, true])
})

test('no more than the last few hundred messages are remembered', () => {
  const { db } = openStore()
  const ids = Array.from({ length: 400 }, (_, number) => `msg_${number}`)
  storeMessages(
    db.sqlite,
    ids.map((id) => ({ id, status: 'read' })),
  )

  for (const id of ids) findMessage(db, id)

  expect(ids.filter((id) => recentRows(db).messages.get(id) !== null)).toEqual(ids.slice(-256))
})
