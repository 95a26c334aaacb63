// A message names its line and its conversation by numbers, where it named them by their ids before.

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { listMessages } from '../../src/storage/message-lists.ts'
import { findMessage } from '../../src/storage/message-rows.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.includes('numbered_parties'))
const OLDER = MIGRATIONS.slice(0, BEFORE)

/** Two lines, and conversations whose rows do not begin at the first place. */
function write(sqlite: Database): void {
  storeLine(sqlite)
  storeMessages(sqlite, [
    { id: 'msg_gone', status: 'read', conversation: 'conv_gone' },
    { id: 'msg_b', status: 'queued', conversation: 'conv_b', dueAt: 1 },
    { id: 'msg_a', status: 'uncertain', conversation: 'conv_a' },
    { id: 'msg_c', status: 'received', direction: 'inbound', conversation: 'conv_b' },
    { id: 'msg_d', status: 'read', conversation: 'conv_d' },
  ])
  sqlite.run("DELETE FROM messages WHERE id = 'msg_gone'")
  sqlite.run("DELETE FROM conversations WHERE id = 'conv_gone'")
  sqlite.run("UPDATE lines SET id = 'line_z', device_key = '2' WHERE id = 'line_a'")
  storeLine(sqlite)
  sqlite.run("UPDATE conversations SET line_id = 'line_z' WHERE id <> 'conv_d'")
  sqlite.run("UPDATE messages SET line_id = 'line_z' WHERE id <> 'msg_d'")
}

test('messages stay with their lines and conversations, and every other word of them stays', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const older = openDatabase(path, { version: '1', migrations: OLDER }).db
  older.sqlite.run('PRAGMA foreign_keys = OFF')
  write(older.sqlite)
  const before = (sql: string) => older.sqlite.query<Record<string, unknown>, []>(sql).all()
  const messages = before('SELECT * FROM messages ORDER BY seq')
  const conversations = before('SELECT * FROM conversations ORDER BY id')
  const lines = before('SELECT * FROM lines ORDER BY id')
  closeDatabase(older)

  const { db, migratedFrom } = openDatabase(path, { version: '2' })

  const after = (sql: string) => db.sqlite.query<Record<string, unknown>, []>(sql).all()
  expect(migratedFrom).toBe(BEFORE)
  expect(messages).toHaveLength(4)
  expect(
    after(`SELECT m.*, l.id AS line_id, c.id AS conversation_id FROM messages m
      JOIN lines l ON l.seq = m.line_seq JOIN conversations c ON c.seq = m.conversation_seq
      ORDER BY m.seq`),
  ).toMatchObject(messages)
  expect(after('SELECT * FROM conversations ORDER BY id')).toMatchObject(conversations)
  expect(after('SELECT * FROM lines ORDER BY id')).toMatchObject(lines)
  expect(after('PRAGMA foreign_key_check')).toEqual([])
  expect(findMessage(db, 'msg_d')).toMatchObject({ lineId: 'line_a', conversationId: 'conv_d' })
  const idsOf = (filter: Parameters<typeof listMessages>[1]) =>
    listMessages(db, filter, { limit: 9, before: null }).map(({ id }): string => id)
  expect(idsOf({ lineId: 'line_z' })).toEqual(['msg_c', 'msg_a', 'msg_b'])
  expect(idsOf({ conversationId: 'conv_b' })).toEqual(['msg_c', 'msg_b'])
  expect(idsOf({ conversationId: 'conv_gone' })).toEqual([])
  closeDatabase(db)
})
