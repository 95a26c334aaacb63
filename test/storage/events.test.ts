import { expect, test } from 'bun:test'

import { timestamp, type EventId, type MessageId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { insertEvent, noteUntoldEvent, readEvent, tellEvent } from '../../src/storage/events.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'

const event = (id: string, body: string) => ({
  id: id as EventId,
  name: 'message.sent' as const,
  messageId: null,
  conversationId: null,
  body,
  createdAt: timestamp(TEST_START),
})

const untold = (messageId: string) => ({
  name: 'message.sent' as const,
  messageId: messageId as MessageId,
  createdAt: timestamp(TEST_START),
})

test('an event that is known already has no new seq, and stays as it was', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})

  const seqs = await writer.write((tx) => [
    insertEvent(tx, event('evt_a', 'first')),
    insertEvent(tx, event('evt_b', 'other')),
    insertEvent(tx, event('evt_a', 'second')),
  ])

  expect(seqs).toEqual([1, 2, null])
  expect(readEvent(db, 1)).toEqual({ id: 'evt_a' as EventId, body: 'first' })
})

test('told and untold events have one order, also after a new start', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const first = openDatabase(path, { version: 'test' }).db
  await new Writer(first, () => {}).write((tx) => {
    insertEvent(tx, event('evt_a', 'first'))
    noteUntoldEvent(tx, untold('msg_b'))
  })
  closeDatabase(first)
  const { db } = openDatabase(path, { version: 'test' })

  const seq = await new Writer(db, () => {}).write((tx) => insertEvent(tx, event('evt_c', 'third')))

  expect(seq).toBe(3)
  closeDatabase(db)
})

test('an event that was untold keeps its place, and one that was told already is not told again', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})

  const isNew = await writer.write((tx) => {
    noteUntoldEvent(tx, untold('msg_a'))
    insertEvent(tx, event('evt_b', 'second'))
    noteUntoldEvent(tx, untold('msg_b'))
    return [tellEvent(tx, 1, event('evt_a', 'first')), tellEvent(tx, 3, event('evt_b', 'again'))]
  })

  expect(isNew).toEqual([true, false])
  expect([1, 2, 3].map((seq) => readEvent(db, seq)?.body)).toEqual(['first', 'second', undefined])
  expect(db.sqlite.query('SELECT seq FROM untold_events').all()).toEqual([])
})
