// The list of conversations over many lines, each of which has its own order in the database.

import { expect, test } from 'bun:test'

import { narrowed } from '../../src/domain/permissions.ts'
import { listConversations } from '../../src/storage/conversations.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

const LINES = ['line_a', 'line_b', 'line_gone']
const COUNT = 20

/** Conversations `conv_1` to `conv_20`, of the lines in turns; the later the number, the later the message. */
function openTalks() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  db.sqlite.run(
    `INSERT INTO lines (id, driver, device_key, phone_number, daily_contact_limit, is_enabled,
       relay_sms, created_at, deleted_at)
     VALUES ('line_b', 'simulated', '2', '+12025550102', 50, 1, 0, 1, NULL),
       ('line_gone', 'simulated', '3', '+12025550103', 50, 1, 0, 1, 2)`,
  )
  for (let number = 1; number <= COUNT; number += 1) {
    storeMessages(db.sqlite, [
      { id: `msg_${number}`, status: 'read', conversation: `conv_${number}` },
    ])
    db.sqlite
      .query('UPDATE conversations SET line_id = $line WHERE id = $id')
      .run({ line: LINES[number % LINES.length] ?? '', id: `conv_${number}` })
  }
  return db
}

const NEWEST_FIRST = Array.from({ length: COUNT }, (_, index) => `conv_${COUNT - index}`)

test('the conversations of all lines come in one order, page by page, also those of a deleted line', () => {
  const db = openTalks()
  const listed: string[] = []
  let before: number | null = null

  for (;;) {
    const { rows: page }: ReturnType<typeof listConversations> = listConversations(
      db,
      { type: 'direct', lineIds: null, conversationIds: null },
      { limit: 3, before },
    )
    listed.push(...page.map(({ id }) => id))
    before = page.at(-1)?.lastSeq ?? null
    if (page.length < 3) break
  }

  expect(listed).toEqual(NEWEST_FIRST)
})

test('those of one line, or with one handle, come in the same order', () => {
  const db = openTalks()
  const listed = (filter: { readonly handle?: string; readonly lineId?: string }) => {
    const { handle, lineId } = filter
    const lineIds = narrowed(null, lineId)
    const page = { limit: COUNT, before: null }
    const { rows } = listConversations(
      db,
      { handle, lineIds, conversationIds: null, type: 'all' },
      page,
    )
    return rows.map(({ id }): string => id)
  }

  const ofLine = NEWEST_FIRST.filter((id) => Number(id.slice('conv_'.length)) % 3 === 1)
  expect(listed({ lineId: 'line_b' })).toEqual(ofLine)
  expect(listed({ handle: 'conv_7' })).toEqual(['conv_7'])
  expect(listed({ handle: 'conv_7', lineId: 'line_a' })).toEqual([])
  expect(listed({ lineId: 'line_unknown' })).toEqual([])
})
