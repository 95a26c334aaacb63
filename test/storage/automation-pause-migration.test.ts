// The column `automation_paused` comes to databases that have conversations already.

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages, type StoredMessage } from '../support/stored-rows.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.includes('automation_paused'))
const OLDER = MIGRATIONS.slice(0, BEFORE)
const CONVERSATIONS = 'SELECT * FROM conversations ORDER BY id'

const STORED: readonly StoredMessage[] = [
  { id: 'msg_a', status: 'read' },
  { id: 'msg_b', status: 'queued', conversation: 'conv_b' },
  { id: 'msg_c', status: 'received', direction: 'inbound', conversation: 'conv_b' },
]

/** What the database keeps, table by table, but for what it says of itself. */
function contentOf(sqlite: Database): Readonly<Record<string, unknown>> {
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .filter(({ name }) => name !== 'about' && !name.startsWith('sqlite_'))
  return Object.fromEntries(
    tables.map(({ name }) => [name, sqlite.query(`SELECT * FROM ${name}`).all()]),
  )
}

function write(sqlite: Database): void {
  storeLine(sqlite)
  storeMessages(sqlite, STORED)
}

test('a database from before keeps its rows, and no conversation of it is paused', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const older = openDatabase(path, { version: '1', migrations: OLDER }).db
  write(older.sqlite)
  const before = contentOf(older.sqlite)
  const conversations = older.sqlite.query<object, []>(CONVERSATIONS).all()
  closeDatabase(older)

  const { db, migratedFrom } = openDatabase(path, { version: '2' })

  expect(migratedFrom).toBe(BEFORE)
  expect(conversations).toHaveLength(2)
  expect(contentOf(db.sqlite)).toMatchObject({
    ...before,
    // A later migration gives them other columns.
    messages: STORED.map(({ id, status }) => ({ id, status })),
    conversations: conversations.map((row) => ({ ...row, automation_paused: 0 })),
  })
  closeDatabase(db)
})
