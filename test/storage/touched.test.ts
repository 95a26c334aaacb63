// What is taken down as changed by moves, restarts and housekeeping, beside the stories of
// `test/http/dashboard-changes.test.ts`.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { forgetMessage } from '../../src/storage/conversations.ts'
import { openDatabase, type Tx } from '../../src/storage/database.ts'
import { exhaustHeldDeliveries } from '../../src/storage/delivery-retention.ts'
import { restartDelivery } from '../../src/storage/replayed-deliveries.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { Writer } from '../../src/storage/writer.ts'
import type { Change } from '../../src/system/changes.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const NOW = timestamp(TEST_START)
const CLOCK = new ConfirmedClock(new TestClock(), null)

function openWatched() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  const told: Change[] = []
  const changes = {
    isWatched: true,
    tell: (changed: readonly Change[]) => void told.push(...changed),
  }
  const nothing = () => {}
  const writer = new Writer(db, nothing, nothing, changes)
  const touched = async (work: (tx: Tx) => unknown): Promise<readonly Change[]> => {
    await writer.write((tx) => void work(tx))
    return told.splice(0)
  }
  return { sqlite: db.sqlite, touched }
}

test('a conversation is told when one of its messages moves elsewhere', async () => {
  const { sqlite, touched } = openWatched()
  storeMessages(sqlite, [{ id: 'msg_a', status: 'queued' }])

  const told = await touched((tx) => forgetMessage(tx, 'conv_a' as never, 'conv_b' as never)) // Compared only.

  expect(told).toEqual([{ what: 'conversation', id: 'conv_a' }])
})

test('a conversation is told when housekeeping takes its old messages', async () => {
  const { sqlite, touched } = openWatched()
  storeMessages(sqlite, [
    { id: 'msg_a', status: 'read', createdAt: TEST_START - 1 },
    { id: 'msg_b', status: 'read', createdAt: TEST_START - 1 },
  ])

  const told = await touched((tx) => deleteOldMessages(tx, NOW, 500))

  expect(told).toEqual([{ what: 'conversation', id: 'conv_a' }])
})

test('a delivery is told when it gets its whole schedule again', async () => {
  const { touched } = openWatched()

  const told = await touched((tx) =>
    restartDelivery(tx, 'dlv_a' as never, { now: NOW, replayedAt: NOW }),
  ) // Compared only.

  expect(told).toEqual([{ what: 'delivery', id: 'dlv_a' }])
})

test('a webhook is told when what waited for it too long is given up', async () => {
  const { sqlite, touched } = openWatched()
  sqlite.run(
    `INSERT INTO webhooks (id, url, events, is_active, disabled_reason, created_by, created_at,
       updated_at)
     VALUES ('wh_a', 'https://shop.example.com/', '["message.sent"]', 0, 'gone', 'cli', 0, 0)`,
  )

  const told = await touched((tx) => exhaustHeldDeliveries(tx, CLOCK, 500))

  expect(told).toEqual([{ what: 'webhook', id: 'wh_a' }])
})
