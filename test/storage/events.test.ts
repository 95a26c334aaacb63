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

/** Bodies are JSON. */
const FIRST = '{"phone_line_id":"line_a"}'
const SECOND = '{"n":2}'

const event = (id: string, body: string | null, afterMs = 0): NewEvent => ({
  id: id as EventId,
  name: 'message.sent',
  messageId: 'msg_a' as MessageId,
  conversationId: null,
  body,
  createdAt: timestamp(TEST_START + afterMs),
})

const ALL = { names: null, lineIds: null }
const LINE_A = { names: null, lineIds: ['line_a' as LineId] }

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

test('events are found from any place or moment among them', async () => {
  const { db, writer } = openEvents()
  await writer.write((tx) => {
    for (const [id, afterMs] of [
      ['evt_a', 0],
      ['evt_b', 5],
      ['evt_c', 9],
    ] as const) {
      insertEvent(tx, event(id, null, afterMs))
    }
  })

  const since = (ms: number) => firstSeqSince(db, 'events', TEST_START + ms)

  expect(listed(db, 1, 1)).toEqual(['evt_b null'])
  expect(listed(db, 3)).toEqual([])
  expect([-1, 0, 1, 5, 6, 9].map(since)).toEqual([1, 1, 2, 2, 3, 3])
  expect(since(10)).toBe(Number.MAX_SAFE_INTEGER)
})
