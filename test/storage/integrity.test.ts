import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, copyFileSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs'

import { BackupWorker } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { tryMigrations } from '../../src/storage/integrity.ts'
import { MIGRATIONS, UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

const PAGE_BYTES = 4_096
/** Its thread is dear to start. */
const worker = new BackupWorker()

/** A database with a message in it, changed by `harm`. */
function createDatabase(path: string, harm: (sqlite: Database) => void = () => {}): void {
  const { db } = openDatabase(path, { version: '1' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'queued' }])
  harm(db.sqlite)
  closeDatabase(db)
}

const HARMS: readonly (readonly [what: string, harm: (sqlite: Database) => void, why: RegExp])[] = [
  [
    'a column that is missing',
    (sqlite) => sqlite.run('ALTER TABLE settings RENAME COLUMN value TO worth'),
    /value/,
  ],
  [
    'a column of the audit trail that is missing',
    (sqlite) => sqlite.run('ALTER TABLE audit RENAME COLUMN address TO place'),
    /address/,
  ],
  [
    'a table that is missing',
    (sqlite) => sqlite.run('DROP TABLE webhook_secrets'),
    /webhook_secrets/,
  ],
  [
    'a row that points to nothing',
    (sqlite) => {
      sqlite.run('PRAGMA foreign_keys = OFF')
      sqlite.run('DELETE FROM conversations')
    },
    /rows point to nothing/,
  ],
]

for (const [what, harm, why] of HARMS) {
  test(`${what} is found by the thread that checks`, async () => {
    using folder = new ScratchFolder()
    const path = folder.file('hookline.db')
    createDatabase(path, harm)

    expect(await problemIn(path)).toMatch(why)
  })
}

test('a page that is damaged is found, wherever it is', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  let place = 0
  createDatabase(path, (sqlite) => {
    const index =
      "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'messages' AND type = 'index'"
    place = (Number(sqlite.query(index).values()[0]?.[0]) - 1) * PAGE_BYTES
  })
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(PAGE_BYTES), 0, PAGE_BYTES, place)
  closeSync(file)

  expect(await problemIn(path)).toMatch(/^The file is damaged|malformed/)
})

test('a sound database passes while the relay goes on writing', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const { db } = openDatabase(path, { version: '1' })
  storeLine(db.sqlite)

  const check = worker.assertIntact(path)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'queued' }])

  expect(await check).toBeUndefined()
})

test('migrations are tried on a copy that goes, and the backup stays as it is', () => {
  using folder = new ScratchFolder()
  createDatabase(folder.file('backup.db'))
  const before = readFileSync(folder.file('backup.db'))

  const schemas = tryMigrations(folder.file('backup.db'), folder.file('trial.db'), '1')

  expect(schemas).toEqual({ from: MIGRATIONS.length, to: MIGRATIONS.length })
  expect(readFileSync(folder.file('backup.db')).equals(before)).toBe(true)
  expect(readdirSync(folder.path)).not.toContain('trial.db')
})

test('a trial that ends in a database that is not sound needs a person, and leaves nothing behind', () => {
  using folder = new ScratchFolder()
  createDatabase(folder.file('backup.db'), (sqlite) => sqlite.run('DROP TABLE webhook_secrets'))
  // What a trial leaves that was killed.
  copyFileSync(folder.file('backup.db'), folder.file('trial.db'))

  const work = () => tryMigrations(folder.file('backup.db'), folder.file('trial.db'), '1')

  expect(work).toThrow(UnusableDatabaseError)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('trial'))).toEqual([])
})

async function problemIn(path: string): Promise<string> {
  try {
    await worker.assertIntact(path)
    return 'none'
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}
