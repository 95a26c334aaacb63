// The figures of a day are those that counting all messages would give, whatever became of them.

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { MESSAGE_STATUSES } from '../../src/domain/message.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { listMessageDays } from '../../src/storage/message-lists.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const DAY_MS = 86_400_000
const TODAY = Math.floor(TEST_START / DAY_MS)

/** Each status that a message can have, once: today's ones, and some of the day before. */
function storeAll(sqlite: Database): void {
  storeLine(sqlite)
  storeMessages(
    sqlite,
    MESSAGE_STATUSES.map((status, place) => ({
      id: `msg_${status}`,
      status,
      direction: status === 'received' ? ('inbound' as const) : ('outbound' as const),
      createdAt: place % 2 === 0 ? TEST_START : TEST_START - DAY_MS,
    })),
  )
}

/** The same, counted one by one. */
function counted(sqlite: Database) {
  return sqlite
    .query(
      `SELECT created_at / ${DAY_MS} AS day, 'line_a' AS lineId,
         sum(status IN ('sent', 'delivered', 'read')) AS sent, sum(status = 'received') AS received,
         sum(status IN ('failed', 'expired')) AS failed, sum(status = 'uncertain') AS uncertain
       FROM messages GROUP BY 1 ORDER BY 1`,
    )
    .all()
}

test('every step that a message can take leaves the figures of its day right', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeAll(db.sqlite)
  const before = counted(db.sqlite)
  const step = db.sqlite.query('UPDATE messages SET status = $to WHERE id = $id')

  expect(listMessageDays(db, 0) as unknown).toEqual(before)
  for (const from of MESSAGE_STATUSES.filter((status) => status !== 'received')) {
    for (const to of MESSAGE_STATUSES.filter((status) => status !== 'received')) {
      step.run({ id: 'msg_queued', to: from })
      step.run({ id: 'msg_queued', to })
      expect([from, to, listMessageDays(db, 0)] as unknown).toEqual([from, to, counted(db.sqlite)])
    }
  }
})

test('a day keeps its figures when retention takes its messages', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeAll(db.sqlite)
  const before = listMessageDays(db, TODAY)

  db.sqlite.run('DELETE FROM messages')

  expect(before.map(({ day }) => day)).toEqual([TODAY])
  expect(listMessageDays(db, TODAY)).toEqual(before)
})
