// What a page of the timeline reads, and what retention leaves of it.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { MESSAGE_STATUSES } from '../../src/domain/message.ts'
import { ALL_LINES } from '../../src/domain/routing.ts'
import { openDatabase, type Db, type Tx } from '../../src/storage/database.ts'
import { deleteOldAudit } from '../../src/storage/retention.ts'
import { EXAMINED_MAX } from '../../src/storage/scan.ts'
import { TIMELINE_PURGES, mark } from '../../src/storage/timeline.ts'
import { createTimeline } from '../../src/timeline/timeline.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const DAY = 86_400_000
const page = { limit: 200, cursor: null }
const range = { since: timestamp(TEST_START - 500 * DAY) }

/** A timeline over a database, and the number of rows that it has read. */
function open(may: (scope: string) => boolean = () => true) {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const count = { rows: 0 }
  const counting: Db = {
    ...db,
    rows: ((sql, values) => {
      const rows = db.rows<never>(sql, values)
      count.rows += rows.length
      return rows
    }) satisfies Db['rows'],
  }
  const core = {
    db: counting,
    clock: { now: () => TEST_START },
    settings: { get: () => 'UTC' },
  } as unknown as Parameters<typeof createTimeline>[0] // All that it uses.
  const read = createTimeline(core, { titleOf: (reason) => reason })
  const caller = {
    lines: null,
    limits: ALL_LINES,
    may: ({ scope }: { readonly scope: string }) => may(scope),
  }
  const tx = { ...db, changes: null } as Tx
  return { db, tx, count, read: (asked = page) => read(caller, range, asked) }
}

function addAudit(db: Db, count: number, at = TEST_START - DAY): void {
  db.sqlite.run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO audit (id, at, last_at, count, actor_kind, action, about_kind)
    SELECT 'aud_' || i || '_' || ${at}, ${at} + i, ${at} + i, 1, 'cli', 'finding.snoozed', 'finding' FROM n`)
}

test('a page examines at most 5,000 rows, whatever it shows, and the pages together show everything', () => {
  const { db, tx, count, read } = open((scope) => scope !== 'audit:read')
  addAudit(db, 20_000)
  mark(tx, { at: timestamp(TEST_START - 2 * DAY), kind: 'opt_out', about: '+1', detail: {} })

  const found: string[] = []
  const most: number[] = []
  let cursor: string | null = null
  do {
    count.rows = 0
    const answer = read({ ...page, cursor: cursor as never })
    found.push(...answer.data.map(({ kind }) => kind))
    most.push(count.rows)
    cursor = answer.next_cursor
  } while (cursor !== null)

  expect(found).toEqual(['opt_out'])
  expect(most.length).toBeGreaterThan(3)
  expect(Math.max(...most)).toBeLessThanOrEqual(EXAMINED_MAX)
})

test('no page is read by a scan or a sort of what grows', () => {
  const { db, count, read } = open()
  const texts: string[] = []
  const rows = db.rows.bind(db)
  Object.assign(db, {
    rows: (sql: string, values = {}) => {
      texts.push(sql)
      return rows(sql, values)
    },
  })
  read()

  const plans = texts.flatMap((sql) =>
    db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail),
  )
  const bad = plans.filter((step) => /TEMP B-TREE|^SCAN (?!l\b)/.test(step))
  expect({ bad, count: count.rows }).toEqual({ bad: [], count: 0 })
})

test('changes beyond 100,000 are counted by the hour in the transaction that deletes them', () => {
  const { db, tx, read } = open()
  addAudit(db, 100_003)
  const age = { now: () => TEST_START, ago: (ms: number) => TEST_START - ms, ageOf: () => 0 }

  const steps = [deleteOldAudit(tx, age, 2), deleteOldAudit(tx, age, 10)]
  const counted = db.rows('SELECT changes, others FROM timeline_hours')
  const left = db.row('SELECT count(*) AS n FROM audit')

  expect(steps).toEqual([2, 1])
  expect(counted).toEqual([{ changes: 3, others: 0 }])
  expect(left).toEqual({ n: 100_000 })
  expect(read().data.some(({ text }) => text.includes('finding'))).toBe(false)
})

test('every step that a message can take is counted, and a step to the same status is none', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'queued', direction: 'outbound' }])
  const step = db.sqlite.query('UPDATE messages SET status = $to, updated_at = $at')
  const statuses = MESSAGE_STATUSES.filter((status) => status !== 'received')
  const isSent = (status: string) => /^(?:sent|delivered|read)$/.test(status)
  for (const from of statuses) {
    for (const to of statuses) {
      step.run({ to: from, at: TEST_START })
      db.sqlite.run('DELETE FROM timeline_hours')
      step.run({ to, at: TEST_START + 7_200_000 })

      const is = (status: string) => (from !== to && to === status ? 1 : 0)
      const confirmed = isSent(to) && /^(?:failed|uncertain)$/.test(from) ? 1 : 0
      const counts = [is('failed'), is('expired'), is('uncertain'), confirmed]
      const hour = Math.floor(TEST_START / 3_600_000) + 2
      const rows = db.rows('SELECT hour, failed, expired, uncertain, confirmed FROM timeline_hours')
      expect([from, to, rows.map((row) => Object.values(row as object))]).toEqual([
        from,
        to,
        counts.includes(1) ? [[hour, ...counts]] : [],
      ])
    }
  }
})

test('marks and counts are deleted after 400 days, and not before', () => {
  const { db, tx } = open()
  const kept = { 399: 1, 401: 0 }
  for (const days of Object.keys(kept)) {
    const at = timestamp(TEST_START - Number(days) * DAY)
    mark(tx, { at, kind: 'backup.made', detail: {} })
    db.sqlite.run(
      `INSERT INTO timeline_hours VALUES (${Math.floor(at / 3_600_000)}, 1, 1, 0, 0, 0, 0, 0)`,
    )
  }
  const age = { now: () => TEST_START, ago: (ms: number) => TEST_START - ms, ageOf: () => 0 }
  for (const purge of TIMELINE_PURGES) purge(tx, age, 100)

  const at = TEST_START - 399 * DAY
  expect(db.rows('SELECT at FROM timeline')).toEqual([{ at }])
  expect(db.rows('SELECT hour FROM timeline_hours')).toEqual([{ hour: Math.floor(at / 3_600_000) }])
})
