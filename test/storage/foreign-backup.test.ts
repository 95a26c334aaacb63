// A backup that another person altered: what it may bring along, and what is refused.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'

import { optionsOf } from '../../src/config.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'

function backedUp(folder: ScratchFolder, environment: string, migrations = MIGRATIONS) {
  const directory = openDataDirectory(folder.path)
  const { db } = openDatabase(directory.database, { version: 'test', migrations })
  writeFileSync(directory.environmentFile, environment)
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  closeDatabase(db)
  return directory
}

function restore(folder: ScratchFolder, takesEnvironment = false) {
  const directory = openDataDirectory(folder.path)
  const now = timestamp(TEST_START)
  const file = folder.file('backup.db')
  const order = { directory, file, version: 'test', now, takesEnvironment }
  return restoreBackup({ ...order, options: optionsOf() })
}

const ALTERED = [
  'HOOKLINE_HOST=0.0.0.0',
  'HOOKLINE_ADMIN_PASSWORD=of somebody else',
  'HOOKLINE_MAC_OSASCRIPT=/opt/evil/osascript',
  'HOOKLINE_SIMULATED_LINES=7',
  '',
].join('\n')
const PRESENT = 'HOOKLINE_HOST=127.0.0.1\nHOOKLINE_SIMULATED_LINES=2\n'

test('programs, hosts and passwords of its options stay away, and each difference is reported', () => {
  using folder = new ScratchFolder()
  const directory = backedUp(folder, ALTERED)
  writeFileSync(directory.environmentFile, PRESENT)

  const { environment, files } = restore(folder)

  expect(readFileSync(directory.environmentFile, 'utf8')).toBe(
    'HOOKLINE_SIMULATED_LINES=7\nHOOKLINE_HOST=127.0.0.1\n',
  )
  expect(files).toEqual(['hookline.env'])
  expect(environment).toEqual([
    { variable: 'HOOKLINE_HOST', value: '0.0.0.0', isTaken: false },
    { variable: 'HOOKLINE_SIMULATED_LINES', value: '7', isTaken: true },
    { variable: 'HOOKLINE_ADMIN_PASSWORD', value: '(hidden)', isTaken: false },
    { variable: 'HOOKLINE_MAC_OSASCRIPT', value: '/opt/evil/osascript', isTaken: false },
  ])
})

test('a restore that asks for them gets them too', () => {
  using folder = new ScratchFolder()
  const directory = backedUp(folder, ALTERED)
  writeFileSync(directory.environmentFile, PRESENT)

  restore(folder, true)

  expect(readFileSync(directory.environmentFile, 'utf8')).toBe(ALTERED)
})

for (const [what, sql] of [
  ['trigger', 'CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM keys; END'],
  ['view', 'CREATE VIEW v AS SELECT 1'],
  ['table', 'CREATE TABLE more (a)'],
  ['column', 'ALTER TABLE lines ADD COLUMN more TEXT'],
  ['check', 'CREATE TABLE c (a CHECK (length(hex(zeroblob(300000000))) > 0))'],
] as const) {
  test(`a planted ${what} is refused before anything of the file runs`, () => {
    using folder = new ScratchFolder()
    const directory = backedUp(folder, '')
    const altered = new Database(folder.file('backup.db'))
    altered.run(sql)
    altered.close()
    const before = readFileSync(directory.database)

    expect(() => restore(folder)).toThrow('Its schema was changed by another program')

    expect(readFileSync(directory.database).equals(before)).toBe(true)
  })
}

/** Writes the columns of a table of the search index in another way. */
function rewriteShadowTable(folder: ScratchFolder, columns: string): void {
  const file = folder.file('backup.db')
  const name = "'message_search_data'"
  const text = readFileSync(file)
    .toString('latin1')
    .replace(/'message_search_data'\([^)]*\)/, name + columns)
  writeFileSync(file, Buffer.from(text, 'latin1'))
}

test('a search index that another version of SQLite made comes back, one with a planted check does not', () => {
  using folder = new ScratchFolder()
  backedUp(folder, '')

  rewriteShadowTable(folder, '(id integer primary key, block blob)')
  const { uncertainCount } = restore(folder)
  rewriteShadowTable(folder, '(id INTEGER PRIMARY KEY CHECK(id>0))')

  expect(uncertainCount).toBe(0)
  expect(() => restore(folder)).toThrow('Its schema was changed by another program')
})

test('a file of another program is refused without its checks being run', () => {
  using folder = new ScratchFolder()
  openDataDirectory(folder.path)
  const hostile = new Database(folder.file('backup.db'))
  // The check fails with the error "integer overflow".
  hostile.run('CREATE TABLE c (a CHECK (abs(-9223372036854775807 - a) > 0))')
  hostile.run('PRAGMA ignore_check_constraints = ON')
  hostile.run('INSERT INTO c VALUES (1)')
  hostile.run('PRAGMA ignore_check_constraints = OFF')
  expect(() => hostile.query('PRAGMA integrity_check').all()).toThrow('integer overflow')
  hostile.close()

  expect(() => restore(folder)).toThrow('It is not a database of Hookline')
})

test('backups of every earlier schema come back', () => {
  for (let version = 1; version <= MIGRATIONS.length; version += 1) {
    using folder = new ScratchFolder()
    backedUp(folder, '', MIGRATIONS.slice(0, version))

    expect(restore(folder).uncertainCount).toBe(0)
  }
})
