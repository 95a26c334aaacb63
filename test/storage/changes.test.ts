// What is taken down as changed by moves, restarts and maintenance, beside the stories of
// `test/http/dashboard-changes.test.ts`.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { forgetMessage } from '../../src/storage/conversations.ts'
import { openDatabase, type Tx } from '../../src/storage/database.ts'
import { restartDelivery } from '../../src/storage/deliveries.ts'
import { deleteOldMessages, heldDeliveriesPurge } from '../../src/storage/retention.ts'
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

const OLD = { status: 'read', createdAt: TEST_START - 1 } as const

type Told = readonly [what: string, told: Change, work: (tx: Tx) => unknown]

// Ids are compared only.
const TOLD: readonly Told[] = [
  [
    'a conversation is told when one of its messages moves elsewhere',
    { what: 'conversation', id: 'conv_a' },
    (tx) => forgetMessage(tx, 'conv_a' as never, 'conv_b' as never),
  ],
  [
    'a conversation is told when housekeeping takes its old messages',
    { what: 'conversation', id: 'conv_a' },
    (tx) => deleteOldMessages(tx, NOW, 500),
  ],
  [
    'a delivery is told when it gets its whole schedule again',
    { what: 'delivery', id: 'dlv_a' },
    (tx) => restartDelivery(tx, 'dlv_a' as never, { now: NOW, replayedAt: NOW }),
  ],
  [
    'a webhook is told when what waited for it too long is given up',
    { what: 'webhook', id: 'wh_a' },
    (tx) => heldDeliveriesPurge()(tx, CLOCK, 500),
  ],
]

for (const [what, told, work] of TOLD) {
  test(what, async () => {
    const { sqlite, changesOf } = openWatched()
    storeMessages(sqlite, [
      { id: 'msg_a', ...OLD },
      { id: 'msg_b', ...OLD },
    ])
    sqlite.run(
      `INSERT INTO webhooks (id, url, events, is_active, disabled_reason, created_by, created_at,
         updated_at)
       VALUES ('wh_a', 'https://shop.example.com/', '["message.sent"]', 0, 'gone', 'cli', 0, 0)`,
    )

    expect(await changesOf(work)).toEqual([told])
  })
}
