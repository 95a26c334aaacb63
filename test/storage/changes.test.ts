// What is taken down as changed by moves, restarts and housekeeping, beside the stories of
// `test/http/dashboard-changes.test.ts`.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { forgetMessage } from '../../src/storage/conversations.ts'
import { openDatabase, type Tx } from '../../src/storage/database.ts'
import { restartDelivery } from '../../src/storage/deliveries.ts'
import { exhaustHeldDeliveries, deleteOldMessages } from '../../src/storage/retention.ts'
import { Writer } from '../../src/storage/writer.ts'
import type { Change } from '../../src/system/change-feed.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const NOW = timestamp(TEST_START)
const CLOCK = new ConfirmedClock(new TestClock(), null)

function openWatched() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  const published: Change[] = []
  const changes = {
    isWatched: true,
    publish: (changed: readonly Change[]) => void published.push(...changed),
  }
  const nothing = () => {}
  const writer = new Writer(db, nothing, nothing, changes)
  const changesOf = async (work: (tx: Tx) => unknown): Promise<readonly Change[]> => {
    await writer.write((tx) => void work(tx))
    return published.splice(0)
  }
  return { sqlite: db.sqlite, changesOf }
}

test('a conversation is told when one of its messages moves elsewhere', async () => {
  const { sqlite, changesOf } = openWatched()
  storeMessages(sqlite, [{ id: 'msg_a', status: 'queued' }])

  const changed = await changesOf((tx) => forgetMessage(tx, 'conv_a' as never, 'conv_b' as never)) // Compared only.

  expect(changed).toEqual([{ what: 'conversation', id: 'conv_a' }])
})

test('a conversation is told when housekeeping takes its old messages', async () => {
  const { sqlite, changesOf } = openWatched()
  storeMessages(sqlite, [
    { id: 'msg_a', status: 'read', createdAt: TEST_START - 1 },
    { id: 'msg_b', status: 'read', createdAt: TEST_START - 1 },
  ])

  const changed = await changesOf((tx) => deleteOldMessages(tx, NOW, 500))

  expect(changed).toEqual([{ what: 'conversation', id: 'conv_a' }])
})

test('a delivery is told when it gets its whole schedule again', async () => {
  const { changesOf } = openWatched()

  const changed = await changesOf((tx) =>
    restartDelivery(tx, 'dlv_a' as never, { now: NOW, replayedAt: NOW }),
  ) // Compared only.

  expect(changed).toEqual([{ what: 'delivery', id: 'dlv_a' }])
})

test('a webhook is told when what waited for it too long is given up', async () => {
  const { sqlite, changesOf } = openWatched()
  sqlite.run(
    `INSERT INTO webhooks (id, url, events, is_active, disabled_reason, created_by, created_at,
       updated_at)
     VALUES ('wh_a', 'https://shop.example.com/', '["message.sent"]', 0, 'gone', 'cli', 0, 0)`,
  )

  const changed = await changesOf((tx) => exhaustHeldDeliveries(tx, CLOCK, 500))

  expect(changed).toEqual([{ what: 'webhook', id: 'wh_a' }])
})
