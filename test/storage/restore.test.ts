import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { optionsOf } from '../../src/config.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { finishExchange, restoreBackup, undoRestore } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages, type StoredMessage } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'

const NOW = timestamp(TEST_START + 3_600_000)
const ASIDE = 'restored-over-2026-11-21T11-00-00Z'

/** A data directory whose backup has `messages`, and whose database has moved on since. */
function prepare(folder: ScratchFolder, messages: readonly StoredMessage[]): DataDirectory {
  const directory = openDataDirectory(folder.path)
  writeFileSync(directory.secretKey, 'old key')
  const { db } = openDatabase(directory.database, { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, messages)
  db.sqlite.run(
    `INSERT INTO contacts (line_id, handle, queued, passed, spent_day)
     VALUES ('line_a', '+12025550147', 1, 0, NULL), ('line_a', '+12025550148', 2, 1, 20000)`,
  )
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  storeMessages(db.sqlite, [{ id: 'msg_since', status: 'sent' }])
  closeDatabase(db)
  writeFileSync(directory.secretKey, 'new key')
  return directory
}

function restore(folder: ScratchFolder, directory: DataDirectory) {
  const file = folder.file('backup.db')
  return restoreBackup({ directory, file, version: 'test', now: NOW, options: optionsOf() })
}

function rows(path: string, sql: string): unknown {
  const database = new Database(path, { readonly: true })
  return database.query(sql).all()
}

test('whatever could have left since becomes uncertain, and nothing is left to send', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [
    { id: 'msg_read', status: 'read' },
    { id: 'msg_queued', status: 'queued', hold: 'reserved', queuedReason: 'retry', dueAt: 1 },
    { id: 'msg_inbound', status: 'received', direction: 'inbound' },
    { id: 'msg_sending', status: 'sending', hold: 'spent' },
    { id: 'msg_uncertain', status: 'uncertain', hold: 'spent', dueAt: null },
    { id: 'msg_failed', status: 'failed' },
  ])

  const { uncertainCount } = restore(folder, directory)

  expect(uncertainCount).toBe(3)
  const sql = `SELECT id, status, queued_reason AS reason, due_at - ${NOW} AS due, error_code AS error,
    contact_hold AS hold, revision, updated_at AS at FROM messages ORDER BY revision`
  const uncertain = { status: 'uncertain', reason: null, due: 600_000, error: 'restored', at: NOW }
  const same = { reason: null, due: null, error: null, hold: 'none', at: TEST_START }
  expect(rows(directory.database, sql)).toEqual([
    { id: 'msg_read', status: 'read', revision: 1, ...same },
    { id: 'msg_inbound', status: 'received', revision: 3, ...same },
    { id: 'msg_failed', status: 'failed', revision: 6, ...same },
    { id: 'msg_queued', ...uncertain, hold: 'none', revision: 7 },
    { id: 'msg_sending', ...uncertain, hold: 'spent', revision: 8 },
    { id: 'msg_uncertain', ...uncertain, hold: 'spent', revision: 9 },
  ])
  // No place of the day stays reserved, and spent ones stay spent.
  expect(rows(directory.database, 'SELECT contacts_reserved AS n FROM lines')).toEqual([{ n: 0 }])
  const contacts = 'SELECT queued, passed, spent_day AS day FROM contacts ORDER BY handle'
  expect(rows(directory.database, contacts)).toEqual([
    { queued: 0, passed: 0, day: null },
    { queued: 0, passed: 1, day: 20_000 },
  ])
})

test('what was there is set aside, the key comes back, and the backup stays as it is', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [{ id: 'msg_a', status: 'read' }])
  const before = readFileSync(folder.file('backup.db'))

  const restored = restore(folder, directory)

  const aside = folder.file(ASIDE)
  expect(restored).toEqual({
    aside,
    uncertainCount: 0,
    cameBack: [],
    missingCount: 0,
    files: ['secret.key'],
    environment: [],
  })
  expect(readFileSync(directory.secretKey, 'utf8')).toBe('old key')
  expect(readFileSync(join(aside, 'secret.key'), 'utf8')).toBe('new key')
  expect(rows(join(aside, 'hookline.db'), 'SELECT id FROM messages')).toEqual([
    { id: 'msg_a' },
    { id: 'msg_since' },
  ])
  expect(rows(directory.database, 'SELECT id FROM messages')).toEqual([{ id: 'msg_a' }])
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'backup_files'"
  expect(rows(directory.database, table)).toEqual([])
  expect(readFileSync(folder.file('backup.db')).equals(before)).toBe(true)
  expect(readdirSync(folder.path).filter((name) => name.startsWith('restoring'))).toEqual([])
})

test('what a killed relay left in its write-ahead log is set aside whole', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [{ id: 'msg_a', status: 'read' }])
  const killed = openDatabase(directory.database, { version: 'test' }).db
  storeMessages(killed.sqlite, [{ id: 'msg_in_log', status: 'sent' }])

  restore(folder, directory)

  const ids = rows(join(folder.file(ASIDE), 'hookline.db'), 'SELECT id FROM messages ORDER BY seq')
  expect(ids).toEqual([{ id: 'msg_a' }, { id: 'msg_since' }, { id: 'msg_in_log' }])
  expect(existsSync(`${directory.database}-wal`)).toBe(false)
})

test('a damaged database is replaced and kept', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [{ id: 'msg_a', status: 'read' }])
  writeFileSync(directory.database, 'not a database at all, whatever its name says')
  writeFileSync(`${directory.database}-wal`, 'log')

  restore(folder, directory)

  expect(rows(directory.database, 'SELECT id FROM messages')).toEqual([{ id: 'msg_a' }])
  expect(readFileSync(folder.file(`${ASIDE}/hookline.db`), 'utf8')).toStartWith('not a database')
  expect(existsSync(folder.file(`${ASIDE}/hookline.db-wal`))).toBe(true)
})

test('a restore into an empty data directory sets nothing aside', () => {
  using folder = new ScratchFolder()
  using other = new ScratchFolder()
  prepare(folder, [{ id: 'msg_a', status: 'read' }])
  const directory = openDataDirectory(other.path)
  const file = folder.file('backup.db')

  const restored = restoreBackup({ directory, file, version: 'test', now: NOW })

  expect(restored.files).toEqual(['secret.key'])
  expect(readFileSync(directory.secretKey, 'utf8')).toBe('old key')
  expect(rows(directory.database, 'SELECT id FROM messages')).toEqual([{ id: 'msg_a' }])
})

const REFUSED: readonly (readonly [what: string, spoil: (file: string) => void])[] = [
  ['is no database', (file) => writeFileSync(file, 'hello')],
  ['is empty', (file) => writeFileSync(file, '')],
  [
    'is of a newer Hookline',
    (file) => {
      using newer = new Database(file)
      newer.run("UPDATE about SET value = '99' WHERE name = 'usable_from'")
    },
  ],
]

for (const [what, spoil] of REFUSED) {
  test(`a file that ${what} is refused, and nothing changes`, () => {
    using folder = new ScratchFolder()
    const directory = prepare(folder, [{ id: 'msg_a', status: 'queued' }])
    const before = readFileSync(directory.database)
    spoil(folder.file('backup.db'))

    expect(() => restore(folder, directory)).toThrow(UnusableDatabaseError)

    expect(readFileSync(directory.database).equals(before)).toBe(true)
    expect(readFileSync(directory.secretKey, 'utf8')).toBe('new key')
    expect(existsSync(folder.file(ASIDE))).toBe(false)
    expect(readdirSync(folder.path).filter((name) => name.startsWith('restoring'))).toEqual([])
  })
}

test('an exchange that fails half-way is undone', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [{ id: 'msg_a', status: 'queued' }])
  const before = readFileSync(directory.database)
  // A folder in the place of the options: the key is exchanged first, then this fails.
  const carried = new Database(folder.file('backup.db'))
  carried.run(
    "INSERT INTO backup_files VALUES ('hookline.env', CAST('HOOKLINE_SIMULATED_LINES=2' AS BLOB))",
  )
  carried.close()
  mkdirSync(join(`${directory.environmentFile}.new`, 'in the way'), { recursive: true })

  expect(() => restore(folder, directory)).toThrow()

  expect(readFileSync(directory.database).equals(before)).toBe(true)
  expect(readFileSync(directory.secretKey, 'utf8')).toBe('new key')
  expect(existsSync(folder.file(ASIDE))).toBe(false)
})

const STEPS = ['aside', 'kept', 'journal', 'secret.key', 'log', 'database'] as const

for (const step of STEPS) {
  test(`a restore that is killed after the step "${step}" leaves one whole state`, () => {
    using folder = new ScratchFolder()
    const directory = prepare(folder, [{ id: 'msg_a', status: 'read' }])
    const script = join(import.meta.dir, '../support/killed-restore.ts')
    const args = [script, folder.path, folder.file('backup.db'), step]

    const killed = Bun.spawnSync([process.execPath, ...args])
    finishExchange(directory)

    expect(killed.signalCode).toBe('SIGKILL')
    const ids = rows(directory.database, 'SELECT id FROM messages ORDER BY seq')
    const key = readFileSync(directory.secretKey, 'utf8')
    const old = { ids: [{ id: 'msg_a' }, { id: 'msg_since' }], key: 'new key' }
    expect({ ids, key }).toEqual(
      step === 'database' ? { ids: [{ id: 'msg_a' }], key: 'old key' } : old,
    )
    expect(readdirSync(folder.path).filter((name) => name.startsWith('restoring'))).toEqual([])
  })
}

test('what a restore replaced comes back where no relay can serve from the backup', () => {
  using folder = new ScratchFolder()
  const directory = prepare(folder, [{ id: 'msg_a', status: 'read' }])
  const restored = restore(folder, directory)

  undoRestore(directory, restored, NOW)

  const sql = 'SELECT id FROM messages ORDER BY seq'
  expect(rows(directory.database, sql)).toEqual([{ id: 'msg_a' }, { id: 'msg_since' }])
  expect(readFileSync(directory.secretKey, 'utf8')).toBe('new key')
  expect(existsSync(folder.file(ASIDE))).toBe(false)
})
