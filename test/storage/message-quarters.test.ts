// The figures of a quarter are those that counting all messages would give, whatever became of them.

import { expect, test } from 'bun:test'

import { MESSAGE_STATUSES } from '../../src/domain/message.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import { messageCounts } from '../../src/storage/stats.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const QUARTER_MS = 900_000
const START = Math.floor(TEST_START / QUARTER_MS) * QUARTER_MS
const SENT = "status IN ('sent', 'delivered', 'read')"

/** Each status that a message can have, once, reached from the queue, with sendings of many lengths. */
function storeAll({ sqlite }: Db): void {
  storeLine(sqlite)
  const end = sqlite.query('UPDATE messages SET status = $status, sent_at = $at WHERE id = $id')
  for (const [place, status] of MESSAGE_STATUSES.entries()) {
    const createdAt = START + (place % 2) * QUARTER_MS
    const isReceived = status === 'received'
    const direction = isReceived ? ('inbound' as const) : ('outbound' as const)
    const first = isReceived ? status : ('queued' as const)
    storeMessages(sqlite, [{ id: `msg_${status}`, status: first, direction, createdAt }])
    if (!isReceived) end.run({ id: `msg_${status}`, status, at: createdAt + 800 * 6 ** place })
  }
}

/** The same, counted one by one. */
function counted({ sqlite }: Db, from: number) {
  const within = (ms: number) => `sum(${SENT} AND sent_at - created_at <= ${ms}) AS ms${ms}`
  return sqlite
    .query(
      `SELECT 'line_a' AS lineId, sum(${SENT}) AS sent, sum(status = 'received') AS received,
         sum(status IN ('failed', 'expired')) AS failed, sum(status = 'uncertain') AS uncertain,
         coalesce(sum(error_code = 'canceled'), 0) AS canceled,
         sum(${SENT}) AS timed, sum(iif(${SENT}, sent_at - created_at, 0)) AS timedMs,
         ${[1_000, 5_000, 30_000, 300_000].map(within).join(', ')}
       FROM messages WHERE created_at / ${QUARTER_MS} = ${from / QUARTER_MS}`,
    )
    .all()
}

const bothOf = (of: (from: number) => unknown) => [of(START), of(START + QUARTER_MS)]

test('every step that a message can take leaves the figures of its quarter right', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeAll(db)
  const read = () => bothOf((from) => messageCounts(db, from, from + QUARTER_MS))
  const step = db.sqlite.query(
    `UPDATE messages SET status = $to, sent_at = $at, error_code = iif($to = 'failed', 'canceled', NULL)
     WHERE id = $id`,
  )

  expect(read()).toEqual(bothOf((from) => counted(db, from)))
  const steps = MESSAGE_STATUSES.filter((status) => status !== 'received')
  for (const from of steps) {
    for (const [place, to] of steps.entries()) {
      const at = START + 700 * 5 ** place
      step.run({ id: 'msg_queued', to: from, at })
      step.run({ id: 'msg_queued', to, at })
      expect([from, to, read()]).toEqual([from, to, bothOf((start) => counted(db, start))])
      step.run({ id: 'msg_queued', to: 'queued', at: null })
    }
  }
})

test('a quarter keeps its figures when retention takes its messages', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeAll(db)
  const before = messageCounts(db, 0, START + 2 * QUARTER_MS)

  db.sqlite.run('DELETE FROM messages')

  expect(before).toMatchObject([{ received: 1, uncertain: 1 }])
  expect(messageCounts(db, 0, START + 2 * QUARTER_MS)).toEqual(before)
})
