import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { backUpBeforeMigration } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { MIGRATIONS, USABLE_FROM } from '../../src/storage/migrations.ts'
import {
  backupsBeforeMigration,
  rollBackDatabase,
  schemaStateOf,
} from '../../src/storage/restore.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const EMPTIES = { name: '0001_empties.sql', sql: 'DELETE FROM messages' }

/** A database with a queued message that a newer executable has migrated, not closed by it. */
function createMigrated(folder: ScratchFolder) {
  const directory = openDataDirectory(folder.path)
  const { db } = openDatabase(directory.database, { version: '1' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'queued' }])
  closeDatabase(db)
  const { backupPath } = openDatabase(directory.database, {
    version: '2',
    migrations: [...MIGRATIONS, EMPTIES],
    backUp: backUpBeforeMigration(directory, TEST_START),
  })
  return { directory, backup: backupPath ?? '' }
}

function messagesIn(path: string): unknown {
  const sqlite = new Database(path, { readonly: true })
  const rows = sqlite.query('SELECT id, status FROM messages').values()
  sqlite.close()
  return rows
}

test('the database of before is backed up, comes back to the letter, and what was queued in it stays queued', () => {
  using folder = new ScratchFolder()
  const { directory, backup } = createMigrated(folder)
  const name = `hookline-2026-11-21T10-00-00Z-schema-${MIGRATIONS.length}.db`
  expect(backup).toBe(join(directory.backups, name))
  expect([messagesIn(backup), messagesIn(directory.database)]).toEqual([[['msg_a', 'queued']], []])

  const aside = rollBackDatabase(directory, backup, TEST_START)

  expect(schemaStateOf(directory.database)).toEqual({
    version: MIGRATIONS.length,
    usableFrom: USABLE_FROM,
    writtenBy: '1',
    madeBy: expect.any(String),
    uncheckedFrom: null,
  })
  expect(messagesIn(directory.database)).toEqual([['msg_a', 'queued']])
  expect(aside).toBe(join(folder.path, 'rolled-back-2026-11-21T10-00-00Z'))
  expect(schemaStateOf(join(aside, 'hookline.db'))?.version).toBe(MIGRATIONS.length + 1)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('rolling'))).toEqual([])
})

test('a backup that is damaged is not put in the place of anything', () => {
  using folder = new ScratchFolder()
  const { directory, backup } = createMigrated(folder)
  truncateSync(backup, 20_000)

  expect(() => rollBackDatabase(directory, backup, TEST_START)).toThrow()

  expect(schemaStateOf(directory.database)?.version).toBe(MIGRATIONS.length + 1)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('roll'))).toEqual([])
})

test('the backups from before a migration are recognized by their schema, oldest first', () => {
  using folder = new ScratchFolder()
  const names = [
    'hookline-2026-11-21T12-00-00Z-schema-1.db',
    'hookline-2026-11-21T11-00-00Z-schema-1.db',
    'hookline-2026-11-21T10-00-00Z-schema-11.db',
    'hookline-2026-11-21T09-00-00Z.db',
  ]
  for (const name of names) writeFileSync(folder.file(name), '')

  expect(backupsBeforeMigration(folder.path, 1)).toEqual([
    folder.file('hookline-2026-11-21T11-00-00Z-schema-1.db'),
    folder.file('hookline-2026-11-21T12-00-00Z-schema-1.db'),
  ])
})

test('if there is no database there is nothing to say of it', () => {
  using folder = new ScratchFolder()

  expect(schemaStateOf(folder.file('hookline.db'))).toBeNull()
})
