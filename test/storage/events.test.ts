import { expect, test } from 'bun:test'

import { timestamp, type EventId, type MessageId, type WebhookId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase, type Db } from '../../src/storage/database.ts'
import {
  firstEventSince,
  insertEvent,
  listReplayableEvents,
  noteUntoldEvent,
  readEvent,
  tellEvent,
} from '../../src/storage/events.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'

/** Bodies are JSON. */
const FIRST = '{"n":1}'
const SECOND = '{"n":2}'

const event = (id: string, body: string) => ({
  id: id as EventId,
  name: 'message.sent' as const,
  messageId: 'msg_told' as MessageId,
  conversationId: null,
  body,
  createdAt: timestamp(TEST_START),
})

const untold = (messageId: string, afterMs = 0) => ({
  name: 'message.sent' as const,
  messageId: messageId as MessageId,
  createdAt: timestamp(TEST_START + afterMs),
})

/** What one would replay to a webhook: places, and messages of what is untold. */
const replayable = (db: Db, fromSeq: number, limit = 100) =>
  listReplayableEvents(db, 'wh_any' as WebhookId, fromSeq, limit).map(
    ({ seq, isUntold, messageId }) => (isUntold ? `${seq} ${messageId}` : `${seq} told`),
  )

test('an event that is known already has no new seq, and stays as it was', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})

  const seqs = await writer.write((tx) => [
    insertEvent(tx, event('evt_a', FIRST)),
    insertEvent(tx, event('evt_b', SECOND)),
    insertEvent(tx, event('evt_a', SECOND)),
  ])

  expect(seqs).toEqual([1, 2, null])
  expect(readEvent(db, 1)).toEqual({ id: 'evt_a' as EventId, body: FIRST })
})

test('an event that was undone is not read again, though it was read before', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})
  const bodies: unknown[] = []

  const undone = writer.write((tx) => {
    const seq = insertEvent(tx, event('evt_a', FIRST)) ?? 0
    bodies.push(readEvent(tx, seq)?.body, readEvent(tx, seq)?.body)
    throw new Error('undone')
  })

  await expect(undone).rejects.toThrow('undone')
  await writer.write((tx) => insertEvent(tx, event('evt_b', SECOND)))
  expect(bodies).toEqual([FIRST, FIRST])
  expect([1, 2].map((seq) => readEvent(db, seq)?.body)).toEqual([undefined, SECOND])
})

test('told and untold events have one order, also after a new start', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const first = openDatabase(path, { version: 'test' }).db
  await new Writer(first, () => {}).write((tx) => {
    insertEvent(tx, event('evt_a', FIRST))
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
    insertEvent(tx, event('evt_b', SECOND))
    noteUntoldEvent(tx, untold('msg_b'))
    return [tellEvent(tx, 1, event('evt_a', FIRST)), tellEvent(tx, 3, event('evt_b', SECOND))]
  })

  expect(isNew).toEqual([true, false])
  expect([1, 2, 3].map((seq) => readEvent(db, seq)?.body)).toEqual([FIRST, SECOND, undefined])
  expect(replayable(db, 1)).toEqual(['1 told', '2 told', '3 msg_b'])
})

test('what is untold of one commit is one row, and is found from any place or moment among it', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})
  const note = (messageId: string, afterMs: number) =>
    writer.write((tx) => noteUntoldEvent(tx, untold(messageId, afterMs)), 'repeatable')
  await Promise.all([note('msg_a', 0), note('msg_b', 5), note('msg_c', 9)])
  await note('msg_d', 20)

  const rows = db.sqlite.query<{ seq: number }, []>('SELECT seq FROM untold_events').all()
  expect(rows).toEqual([{ seq: 1 }, { seq: 4 }])
  expect(replayable(db, 1)).toEqual(['1 msg_a', '2 msg_b', '3 msg_c', '4 msg_d'])
  expect(replayable(db, 2, 2)).toEqual(['2 msg_b', '3 msg_c'])
  expect(replayable(db, 5)).toEqual([])
  const since = (ms: number) => firstEventSince(db, timestamp(TEST_START + ms))
  expect([-1, 0, 1, 5, 6, 9, 10, 20].map(since)).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
  expect(since(21)).toBe(Number.MAX_SAFE_INTEGER)
})

test('what a work noted goes with it when it is undone, and leaves the rest of the group', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})
  const note = (messageId: string, isBad = false) =>
    writer.write((tx) => {
      noteUntoldEvent(tx, untold(messageId))
      if (isBad) throw new Error('undone')
    }, 'repeatable')

  const ends = await Promise.allSettled([note('msg_a'), note('msg_b', true), note('msg_c')])

  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const messages = replayable(db, 1).map((text) => text.replace(/^\d+ /, ''))
  expect(messages).toEqual(['msg_a', 'msg_c'])
})
