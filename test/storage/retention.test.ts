import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { openDatabase, type Tx } from '../../src/storage/database.ts'
import {
  deleteOldIdempotency,
  deleteOldMessages,
  deleteRejectedEvents,
  deleteWaitingReceipts,
  refreshStatistics,
} from '../../src/storage/retention.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000
const CLOCK = new ConfirmedClock(new TestClock(), null)
const at = (days: number) => TEST_START - days * DAY_MS

function openStore() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  const writer = new Writer(db, () => {})
  const write = (work: (tx: Tx) => number) => writer.write((tx) => work(tx))
  const read = (sql: string): unknown => db.sqlite.query(sql).values()
  return { sqlite: db.sqlite, writer, write, read }
}

test('old messages go, newer and unfinished ones stay, and conversations keep count', async () => {
  const { sqlite, write, read } = openStore()
  storeMessages(sqlite, [
    { id: 'old_read', status: 'read', createdAt: at(40) },
    { id: 'old_queued', status: 'queued', createdAt: at(40) },
    { id: 'old_uncertain', status: 'uncertain', createdAt: at(40) },
    { id: 'old_sending', status: 'sending', createdAt: at(40), conversation: 'conv_b' },
    { id: 'old_failed', status: 'failed', createdAt: at(40), conversation: 'conv_b' },
    { id: 'old_inbound', status: 'received', createdAt: at(40), conversation: 'conv_gone' },
    { id: 'new', status: 'read', createdAt: at(20) },
  ])

  const deleted = await write((tx) => deleteOldMessages(tx, timestamp(at(30)), 500))

  expect(deleted).toBe(3)
  expect(read('SELECT id FROM messages ORDER BY seq')).toEqual([
    ['old_queued'],
    ['old_uncertain'],
    ['old_sending'],
    ['new'],
  ])
  expect(
    read(`SELECT c.id, message_count, m.id FROM conversations c
      LEFT JOIN messages m ON m.seq = last_seq ORDER BY c.id`),
  ).toEqual([
    ['conv_a', 3, 'new'],
    ['conv_b', 1, 'old_sending'],
  ])
})

test('no more than the limit goes at once, the oldest first', async () => {
  const { sqlite, write, read } = openStore()
  storeMessages(sqlite, [
    { id: 'second', status: 'read', createdAt: at(41) },
    { id: 'first', status: 'read', createdAt: at(42) },
    { id: 'third', status: 'read', createdAt: at(40) },
  ])
  const step = () => write((tx) => deleteOldMessages(tx, timestamp(at(30)), 2))

  const first = await step()
  const left = read('SELECT id FROM messages')

  expect([first, left, await step(), await step()]).toEqual([2, [['third']], 1, 0])
})

test('idempotency records are kept for 7 days, receipts for an hour, refusals for 30 days', async () => {
  const { sqlite, write, read } = openStore()
  const HOUR_MS = DAY_MS / 24
  for (const age of [6.9, 7.1]) {
    sqlite.run(
      `INSERT INTO idempotency VALUES ('owner', '${age}', 'f', 'm', NULL, NULL, ${at(age)})`,
    )
  }
  for (const [guid, age] of [
    ['fresh', 0.9 * HOUR_MS],
    ['stale', 1.1 * HOUR_MS],
  ] as const) {
    sqlite.run(
      `INSERT INTO waiting_receipts (line_id, guid, kind, at, recorded_at)
       VALUES ('l', '${guid}', 'read', 0, ${TEST_START - age})`,
    )
  }
  for (const age of [29, 31]) {
    sqlite.run(`INSERT INTO rejected_events VALUES (NULL, 'l', '${age}', ${at(age)})`)
  }

  const counts = [
    await write((tx) => deleteOldIdempotency(tx, CLOCK, 500)),
    await write((tx) => deleteWaitingReceipts(tx, CLOCK, 500)),
    await write((tx) => deleteRejectedEvents(tx, CLOCK, 500)),
  ]

  expect(counts).toEqual([1, 1, 1])
  expect([
    read('SELECT key FROM idempotency'),
    read('SELECT guid FROM waiting_receipts'),
    read('SELECT reason FROM rejected_events'),
  ]).toEqual([[['6.9']], [['fresh']], [['29']]])
})

test('statistics are refreshed inside a transaction', async () => {
  const { writer } = openStore()

  expect(await writer.write((tx) => refreshStatistics(tx))).toBeUndefined()
})

test('the ids that stand for a conversation go with it when its last message does', async () => {
  const { sqlite, write, read } = openStore()
  storeMessages(sqlite, [
    { id: 'old', status: 'read', createdAt: at(40), conversation: 'conv_now' },
    { id: 'other', status: 'read', createdAt: at(20), conversation: 'conv_other' },
  ])
  sqlite.run(
    `INSERT INTO conversations (id, line_id, phone_number, handle, service, message_count, last_seq,
       moved_to, created_at, updated_at)
     SELECT 'conv_before', line_id, phone_number, '+1', service, 0, 0, seq, 0, 0
     FROM conversations WHERE id = 'conv_now'`,
  )

  await write((tx) => deleteOldMessages(tx, timestamp(at(30)), 500))

  expect(read('SELECT id FROM conversations')).toEqual([['conv_other']])
})
