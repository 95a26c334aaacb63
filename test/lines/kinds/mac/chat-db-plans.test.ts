// No statement of the reader reads a table through: with 1.5 million messages that is half a second.

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { probeSchema } from '../../../../src/lines/kinds/mac/chat-db-open.ts'
import { queriesOf } from '../../../../src/lines/kinds/mac/chat-db-queries.ts'
import { VARIANTS } from '../../../support/mac/chat-db-mutations.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'

/** One row; the lists that we ask for; the chats of what was deleted; what a step of the same plan found. */
const SMALL = /^SCAN (sqlite_sequence\b|json_each\b|recoverable_chat\b|CONSTANT ROW\b|\(subquery)/

for (const variant of VARIANTS) {
  test(`${variant.name}: no statement scans a table, be it empty or large`, () => {
    using rig = new OpenedChatDb(variant)
    const { db } = rig.file
    const queries = Object.entries(queriesOf(schemaOf(db)))

    const young = queries.flatMap(([name, sql]) => scansOf(db, name, sql))
    fill(db)
    const old = queries.flatMap(([name, sql]) => scansOf(db, name, sql))

    expect(queries.length).toBe(28)
    expect({ young, old }).toEqual({ young: [], old: [] })
  })
}

test('whatever is read by date, by handle or in order of ROWID is sorted by its index', () => {
  using rig = new OpenedChatDb('macos26b')
  const { db } = rig.file
  fill(db)
  const queries = Object.entries(queriesOf(schemaOf(db)))

  const sorting = queries.filter(([, sql]) => plan(db, sql).some((step) => step.includes('B-TREE')))

  // The chats of one handle, at most twice the limit of messages, the files of some, a group's members, and
  // the latest 10,000 messages by their addresses, once in ten minutes.
  expect(sorting.map(([name]) => name)).toEqual([
    'directChats',
    'lastWith',
    'filesAt',
    'membersOf',
    'usesOfEach',
  ])
})

test('a statement that scans is found', () => {
  using rig = new OpenedChatDb('macos26b')
  const sql = 'SELECT ROWID FROM message WHERE date_read > $ms'

  expect(scansOf(rig.file.db, 'slow', sql)).toEqual(['slow: SCAN message'])
})

function schemaOf(db: Database) {
  const probe = probeSchema(db)
  if (!probe.ok) throw new Error(probe.problem)
  return probe.schema
}

function scansOf(db: Database, name: string, sql: string): readonly string[] {
  return plan(db, sql)
    .filter((step) => step.startsWith('SCAN') && !SMALL.test(step))
    .map((step) => `${name}: ${step}`)
}

function plan(db: Database, sql: string): readonly string[] {
  const steps = db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all()
  return steps.map(({ detail }) => detail)
}

/** Rows enough, and the statistics of them that Messages keeps too. */
function fill(db: Database): void {
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  db.run(
    `INSERT INTO handle (id, service) ${numbers(50)} SELECT 'h' || (i / 2), 's' || (i % 2) FROM n`,
  )
  db.run(
    `INSERT INTO chat (guid, style, chat_identifier) ${numbers(50)}
     SELECT 'c' || i, iif(i % 5, 45, 43), 'h' || (i / 2) FROM n`,
  )
  db.run(
    `INSERT INTO message (guid, handle_id, date, service, is_from_me, is_sent, is_finished)
     ${numbers(1_000)} SELECT 'm' || i, i % 50, 7e17 + i * 1e10, 'iMessage', i % 2, i % 2, 1 FROM n`,
  )
  db.run(
    'INSERT INTO chat_message_join (chat_id, message_id) SELECT 1 + handle_id, ROWID FROM message',
  )
  db.run('ANALYZE')
}
