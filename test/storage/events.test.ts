import { expect, test } from 'bun:test'

import { timestamp, type EventId, type LineId, type MessageId } from '../../src/domain/ids.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import {
  insertEvent,
  listEvents,
  readEvent,
  writeEventBody,
  type EventFilter,
  type NewEvent,
} from '../../src/storage/events.ts'
import { firstSeqSince } from '../../src/storage/seq-by-time.ts'
import { Writer } from '../../src/storage/writer.ts'
import { TEST_START } from '../support/test-clock.ts'

const NONE = Number.MAX_SAFE_INTEGER

/** Bodies are JSON. */
const FIRST = '{"phone_line_id":"line_a"}'
const SECOND = '{"n":2}'

const event = (id: string, body: string | null): NewEvent => ({
  id: id as EventId,
  name: 'message.sent',
  messageId: 'msg_a' as MessageId,
  conversationId: null,
  body,
  createdAt: timestamp(TEST_START),
})

const ALL = { names: null, lineIds: null, conversationIds: null }
const LINE_A = { names: null, lineIds: ['line_a' as LineId], conversationIds: null }

const listed = (db: Db, after: number, limit = 100, filter: EventFilter = ALL) =>
  listEvents(db, after, filter, limit).events.map(({ id, body }) => `${id} ${body}`)

function openEvents() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  return { db, writer: new Writer(db, () => {}) }
}

test('an event that is known already has no new seq, and stays as it was', async () => {
  const { db, writer } = openEvents()

  const seqs = await writer.write((tx) => [
    insertEvent(tx, event('evt_a', FIRST)),
    insertEvent(tx, event('evt_b', SECOND)),
    insertEvent(tx, event('evt_a', SECOND)),
  ])

  expect(seqs).toEqual([1, 2, null])
  expect(readEvent(db, 1)).toMatchObject({ id: 'evt_a' as EventId, body: FIRST })
})

test('an event without a body is not sent until it gets one, at its place', async () => {
  const { db, writer } = openEvents()
  await writer.write((tx) => {
    insertEvent(tx, event('evt_a', null))
    insertEvent(tx, event('evt_b', SECOND))
  })
  const before = [readEvent(db, 1), ...listed(db, 0), ...listed(db, 0, 9, LINE_A)]

  await writer.write((tx) => writeEventBody(tx, 1, FIRST))

  expect(before).toEqual([null, 'evt_a null', `evt_b ${SECOND}`])
  expect(readEvent(db, 1)?.body).toBe(FIRST)
  expect(listed(db, 0, 9, LINE_A)).toEqual([`evt_a ${FIRST}`])
})

test('events are found from any place among them', async () => {
  const { db, writer } = openEvents()
  await writer.write((tx) => {
    for (const id of ['evt_a', 'evt_b', 'evt_c']) insertEvent(tx, event(id, null))
  })

  expect(listed(db, 1, 1)).toEqual(['evt_b null'])
  expect(listed(db, 3)).toEqual([])
})

test('the first row of a moment is found, whatever was deleted before and after', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const stored = [3, 4, 9, 10, 11, 40, 41, 1_000]
  const insert = db.sqlite.prepare(
    "INSERT INTO events (seq, id, name, created_at) VALUES (?, ?, 'message.sent', ?)",
  )
  // Two events of each moment.
  const timeOf = (seq: number) => Math.floor(stored.indexOf(seq) / 2) * 10
  for (const seq of stored) insert.run(seq, `evt_${seq}`, timeOf(seq))

  const found = [-5, 0, 1, 10, 11, 25, 30, 31].map((since) => firstSeqSince(db, 'events', since))

  expect(found).toEqual([3, 3, 9, 9, 11, 41, 41, NONE])
})

test('in a table without rows no moment is found', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })

  expect(firstSeqSince(db, 'messages', 0)).toBe(NONE)
})
