import { expect, test } from 'bun:test'

import { timestamp, type EventId, type MessageId, type WebhookId } from '../../src/domain/ids.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import {
  insertEvent,
  listReplayableEvents,
  readEvent,
  writeEventBody,
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

/** What would be replayed to a webhook that has no delivery. */
const replayable = (db: Db, fromSeq: number, limit = 100) =>
  listReplayableEvents(db, 'wh_any' as WebhookId, fromSeq, limit).map(
    ({ id, hasBody, lineId }) => `${id} ${hasBody} ${lineId}`,
  )

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
  const before = [readEvent(db, 1), ...replayable(db, 1)]

  await writer.write((tx) => writeEventBody(tx, 1, FIRST))

  expect(before).toEqual([null, 'evt_a 0 null', 'evt_b 1 null'])
  expect([readEvent(db, 1)?.body, ...replayable(db, 1)]).toEqual([
    FIRST,
    'evt_a 1 line_a',
    'evt_b 1 null',
  ])
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

  expect(replayable(db, 2, 1)).toEqual(['evt_b 0 null'])
  expect(replayable(db, 4)).toEqual([])
  expect([-1, 0, 1, 5, 6, 9].map(since)).toEqual([1, 1, 2, 2, 3, 3])
  expect(since(10)).toBe(Number.MAX_SAFE_INTEGER)
})
