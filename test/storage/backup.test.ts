import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import {
  BackupWorker,
  backUpTo,
  dailyBackup,
  flushedMeanwhile,
  keepNewest,
  listBackups,
  wholeBackup,
} from '../../src/storage/backup.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { takeFiles, takeSnapshot, type Snapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000
/** Its thread is dear to start. */
const worker = new BackupWorker()

type RelayFile = { readonly directory: DataDirectory; readonly sqlite: Database }

function openRelayFile(folder: ScratchFolder): RelayFile {
  const directory = openDataDirectory(folder.path)
  const { sqlite } = openDatabase(directory.database, { version: 'test' }).db
  storeLine(sqlite)
  storeMessages(sqlite, [{ id: 'msg_a', status: 'read' }])
  return { directory, sqlite }
}

function messageIds(path: string): unknown {
  const copy = new Database(path, { readonly: true })
  return copy.query('SELECT id FROM messages').values()
}

test('a backup is taken beside a relay that goes on writing', async () => {
  using folder = new ScratchFolder()
  const { directory, sqlite } = openRelayFile(folder)

  const taking = worker.take(dailyBackup(directory, TEST_START))
  sqlite.run("UPDATE lines SET label = 'busy'")
  const { path, sizeBytes } = await taking

  expect(path).toBe(join(directory.backups, 'hookline-2026-11-21T10-00-00Z.db'))
  expect(messageIds(path)).toEqual([['msg_a']])
  expect(statSync(path)).toMatchObject({ size: sizeBytes })
  expect(readdirSync(directory.backups)).toEqual(['hookline-2026-11-21T10-00-00Z.db'])
})

test('the orders of a worker are done one after another, and a failed one harms no other', async () => {
  using folder = new ScratchFolder()
  const { directory } = openRelayFile(folder)
  const order = (name: string) => ({ from: directory.database, to: folder.file(name), files: [] })

  const results = await Promise.allSettled([
    worker.take(order('one.db')),
    worker.take({ ...order('two.db'), from: folder.file('missing.db') }),
    worker.take(order('no/such/folder.db')),
    worker.take(order('four.db')),
  ])

  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect([existsSync(folder.file('two.db')), existsSync(folder.file('four.db'))]).toEqual([
    false,
    true,
  ])
})

const DAMAGE: readonly (readonly [what: string, harm: (file: RelayFile) => void, why: RegExp])[] = [
  [
    'a database that is cut short',
    ({ sqlite, directory }) => {
      sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
      sqlite.close()
      truncateSync(directory.database, 8_192)
    },
    /is damaged/,
  ],
  [
    'a row that points to nothing',
    ({ sqlite }) => {
      sqlite.run('PRAGMA foreign_keys = OFF')
      sqlite.run('DELETE FROM conversations')
    },
    /1 rows point to nothing/,
  ],
]

for (const [what, harm, why] of DAMAGE) {
  test(`${what} gives no backup, and leaves nothing half done`, () => {
    using folder = new ScratchFolder()
    const file = openRelayFile(folder)
    harm(file)

    const order = { from: file.directory.database, to: folder.file('copy.db'), files: [] }
    expect(() => takeSnapshot(order)).toThrow(why)

    expect(readdirSync(folder.path).filter((name) => name.startsWith('copy'))).toEqual([])
  })
}

test('a whole backup is one private file with database, keys and options', async () => {
  using folder = new ScratchFolder()
  const { directory } = openRelayFile(folder)
  writeFileSync(directory.secretKey, 'k'.repeat(32))
  writeFileSync(directory.environmentFile, 'HOOKLINE_PORT=4666\n')
  writeFileSync(directory.brokerAuthority, 'authority')
  writeFileSync(directory.brokerSeed, 'seed')
  const tools = { worker, directory, clock: new TestClock() }

  const made = await backUpTo(tools, { to: folder.file('whole.db') })

  const mode = statSync(made.path).mode & 0o777
  expect({ ...made, mode }).toEqual({
    path: folder.file('whole.db'),
    size_bytes: statSync(made.path).size,
    attachment_bytes: 0,
    mode: 0o600,
  })
  const copy = new Database(made.path)
  expect(messageIds(made.path)).toEqual([['msg_a']])
  expect(
    takeFiles(copy).map(({ name, content }) => [name, Buffer.from(content).toString()]),
  ).toEqual([
    ['secret.key', 'k'.repeat(32)],
    ['hookline.env', 'HOOKLINE_PORT=4666\n'],
    ['broker-ca.pem', 'authority'],
    ['broker.seed', 'seed'],
  ])
  expect(takeFiles(copy)).toEqual([])
})

test('a whole backup overwrites nothing and needs an absolute path', () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  writeFileSync(folder.file('taken.db'), '')

  expect(() => wholeBackup(directory, folder.file('taken.db'))).toThrow('is there already')
  expect(() => wholeBackup(directory, 'relative.db')).toThrow('absolute path')
})

test('backups are listed newest first, and only the newest of their kind are kept', () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  for (let day = 0; day < 4; day += 1) {
    writeFileSync(dailyBackup(directory, TEST_START + day * DAY_MS).to, '')
  }
  writeFileSync(join(directory.backups, 'hookline-2026-11-01T10-00-00Z-schema-1.db'), '')
  writeFileSync(join(directory.backups, 'notes.txt'), '')

  keepNewest(directory.backups, 'daily', 2)

  const left = listBackups(directory.backups)
  expect(left.map(({ kind, createdAt }) => [kind, (createdAt - TEST_START) / DAY_MS])).toEqual([
    ['daily', 3],
    ['daily', 2],
    ['before_migration', -20],
  ])
  expect(existsSync(join(directory.backups, 'notes.txt'))).toBe(true)
})

test('a copy that is flushed while it is made gives its result or its error, and nothing runs after it', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const to = folder.file('copy.db')
  const copy = Promise.withResolvers<Snapshot>()
  const made = { path: to, sizeBytes: 3 }

  const taken = flushedMeanwhile(clock, to, copy.promise)
  await clock.advance(50) // There is no file yet.
  writeFileSync(`${to}.new`, 'abc')
  await eventually('the loop sleeps again', () => (clock.sleeping === 1 ? true : null))
  await clock.advance(50)
  await eventually('the loop sleeps again', () => (clock.sleeping === 1 ? true : null))
  copy.resolve(made)
  const result = await taken
  const failed = flushedMeanwhile(clock, to, Promise.reject(new Error('disk full')))

  expect(result).toEqual(made)
  await expect(failed).rejects.toThrow('disk full')
  expect(clock.sleeping).toBe(0)
})
