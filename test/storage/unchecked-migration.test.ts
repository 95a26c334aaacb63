// What a database remembers of a migration that is not checked yet, and what a failed one means.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { truncateSync, writeFileSync } from 'node:fs'

import { openData } from '../../src/storage/data.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import {
  MIGRATIONS,
  UnusableDatabaseError,
  acceptMigration,
  migrate,
  readSchemaState,
  type Migration,
} from '../../src/storage/migrations.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const OWN = MIGRATIONS.length
const ADDS: Migration = { name: '0001_adds.sql', sql: 'CREATE TABLE added (a INTEGER) STRICT' }
const FAILS: Migration = { name: '0002_fails.sql', sql: 'NO SQL' }
const GROWS: Migration = {
  name: '0001_grows.sql',
  sql: 'CREATE TABLE big AS SELECT zeroblob(9000000) AS a',
}

function createDatabase(path: string): void {
  closeDatabase(openDatabase(path, { version: '1' }).db)
}

/** Opens and closes the database, as a start that ends at once. */
function start(path: string, ...more: readonly Migration[]): number | null {
  const { db } = openDatabase(path, { version: '2', migrations: [...MIGRATIONS, ...more] })
  const { uncheckedFrom } = readSchemaState(db.sqlite)
  closeDatabase(db)
  return uncheckedFrom
}

test('a database that existed is unchecked after its migration, over restarts, until it is accepted', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  createDatabase(path)

  const starts = [start(path), start(path, ADDS), start(path, ADDS)]
  const sqlite = new Database(path, { strict: true })
  acceptMigration(sqlite)
  sqlite.close()
  starts.push(start(path, ADDS))

  expect(starts).toEqual([null, OWN, OWN, null])
})

test('a migration that broke off half-way is checked with what came after it', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  createDatabase(path)

  expect(() => start(path, ADDS, FAILS)).toThrow('0002_fails.sql failed')

  expect(start(path, ADDS)).toBe(OWN)
})

test('a new database needs no check', () => {
  using folder = new ScratchFolder()

  expect(start(folder.file('hookline.db'), ADDS)).toBeNull()
})

test('the relay learns of an unchecked migration of its own, and not of that of a newer one', () => {
  using folder = new ScratchFolder()
  const place = { dataDir: folder.path, host: '127.0.0.1', port: 0 }
  const tools = { clock: new TestClock(), random: systemRandom, log: silentLog, version: '1' }
  const open = (version: number) => {
    const sqlite = new Database(folder.file('hookline.db'))
    sqlite.run("INSERT OR REPLACE INTO about VALUES ('unjudged_from', '0')")
    sqlite.run(`PRAGMA user_version = ${version}`)
    sqlite.close()
    return openData(place, tools)
  }
  openData(place, tools).close()

  const newer = open(OWN + 1)
  newer.close()
  const own = open(OWN)
  own.migration?.accept()
  own.close()
  const accepted = openData(place, tools)
  accepted.close()

  expect([newer.migration, own.migration?.from, accepted.migration]).toEqual([
    undefined,
    0,
    undefined,
  ])
})

test('a migration that cannot work needs a person; a disk that is full does not', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  createDatabase(path)
  const sqlite = new Database(path, { strict: true })
  sqlite.run('PRAGMA max_page_count = 100')

  const failing = errorOf(() => migrate(sqlite, '2', [...MIGRATIONS, FAILS]))
  const growing = errorOf(() => migrate(sqlite, '2', [...MIGRATIONS, GROWS]))
  sqlite.close()

  expect(failing).toBeInstanceOf(UnusableDatabaseError)
  expect(growing).not.toBeInstanceOf(UnusableDatabaseError)
  expect(growing?.message).toContain('0001_grows.sql failed and was undone')
})

const DAMAGE: readonly (readonly [what: string, harm: (path: string) => void])[] = [
  ['is no database', (path) => writeFileSync(path, 'not a database, but long enough to be one')],
  ['is cut short', (path) => truncateSync(path, 8_192)],
]

for (const [what, harm] of DAMAGE) {
  test(`a file that ${what} needs a person`, () => {
    using folder = new ScratchFolder()
    const path = folder.file('hookline.db')
    createDatabase(path)
    harm(path)

    const error = errorOf(() => openDatabase(path, { version: '1' }))

    expect(error).toBeInstanceOf(UnusableDatabaseError)
    expect(error?.message).toBe(
      `${path} is damaged. Stop the relay and restore a backup with "hookline restore FILE".`,
    )
  })
}

function errorOf(work: () => unknown): Error | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
