// What becomes of writes when the files of the data directory are moved, deleted, replaced or cut while
// they are open: real files, the real writer.

import { expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'

import { openData } from '../../src/storage/data.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { names, put } from './writer-rig.ts'

function openRelayData(folder: ScratchFolder) {
  const place = { dataDir: folder.file('data'), host: '127.0.0.1', port: 0 }
  const clock = new TestClock()
  const tools = { clock, random: systemRandom, log: silentLog, version: 'test' }
  const { db } = openData(place, tools)
  const fatal: Error[] = []
  const writer = new Writer(db, (error) => fatal.push(error as Error))
  return { db, clock, writer, fatal, directory: dataDirectoryAt(place.dataDir) }
}

type Slip = (paths: ReturnType<typeof dataDirectoryAt>) => void

const replaceByCopy = (path: string) => {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

const SLIPS: readonly (readonly [what: string, slip: Slip, sentence: string])[] = [
  ['the data directory is moved', ({ path }) => renameSync(path, `${path}.moved`), 'data is gone'],
  [
    'the data directory is deleted',
    ({ path }) => rmSync(path, { recursive: true }),
    'data is gone',
  ],
  [
    'an empty directory takes its place',
    ({ path }) => {
      renameSync(path, `${path}.moved`)
      mkdirSync(path)
    },
    'data was replaced by another',
  ],
  ['the database is deleted', ({ database }) => rmSync(database), 'hookline.db is gone'],
  [
    'a copy takes the place of the database',
    ({ database }) => replaceByCopy(database),
    'hookline.db was replaced by another',
  ],
  [
    'the database is cut short',
    ({ database }) => truncateSync(database, 0),
    'hookline.db was cut short',
  ],
  ['the log is deleted', ({ database }) => rmSync(`${database}-wal`), 'hookline.db-wal is gone'],
  [
    'a copy takes the place of the log',
    ({ database }) => replaceByCopy(`${database}-wal`),
    'hookline.db-wal was replaced by another',
  ],
  [
    'the log is cut short',
    ({ database }) => truncateSync(`${database}-wal`, 0),
    'hookline.db-wal was cut short',
  ],
  [
    'the log is overwritten',
    ({ database }) => {
      const file = openSync(`${database}-wal`, 'r+')
      writeSync(file, Buffer.alloc(65_536, 0x5a), 0, 65_536, 0)
      closeSync(file)
    },
    'hookline.db-wal was overwritten',
  ],
  ['the lock is deleted', ({ lock }) => rmSync(lock), 'hookline.lock is gone'],
  ['the key is deleted', ({ secretKey }) => rmSync(secretKey), 'secret.key is gone'],
]

for (const [what, slip, sentence] of SLIPS) {
  test(`when ${what}, a write is refused from the next second on`, async () => {
    using folder = new ScratchFolder()
    const { clock, writer, fatal, directory } = openRelayData(folder)
    await writer.write(put('before'))

    slip(directory)
    await clock.advance(1_000)
    const [refused] = await Promise.allSettled([writer.write(put('after'))])

    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'stopping' } })
    expect(fatal.map(({ name }) => name)).toEqual(['LostFileError'])
    expect(fatal[0]?.message).toContain(sentence)
  })
}

test('the files are looked at once a second, and not at every commit', async () => {
  using folder = new ScratchFolder()
  const { clock, writer, fatal, directory } = openRelayData(folder)
  await clock.advance(1_000)
  await writer.write(put('looks'))

  renameSync(directory.path, `${directory.path}.moved`)
  await clock.advance(999)
  await writer.write(put('does not look'))
  const early = fatal.length
  await clock.advance(1)
  const [refused] = await Promise.allSettled([writer.write(put('looks again'))])

  expect(early).toBe(0)
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'stopping' } })
})

test('a log that starts from the beginning, or is cut to its limit, is no slip', async () => {
  using folder = new ScratchFolder()
  const { db, clock, writer, fatal } = openRelayData(folder)
  db.sqlite.run('PRAGMA wal_autocheckpoint = 50')

  const write = (name: string) =>
    writer.write((tx) => {
      const insert = tx.sqlite.query('INSERT INTO settings VALUES ($name, $value, 0)')
      insert.run({ name, value: 'x'.repeat(200_000) })
    })
  for (let i = 0; i < 12; i += 1) {
    await clock.advance(1_000)
    await write(`row ${i}`)
  }

  expect(fatal).toEqual([])
  expect(names(db)).toHaveLength(12)
})

test('of two that opened one database only the later may write', async () => {
  using folder = new ScratchFolder()
  const { writer, fatal, directory } = openRelayData(folder)
  await writer.write(put('first'))
  const later = openDatabase(directory.database, { version: 'test' }).db
  const laterWriter = new Writer(later, () => {})
  await laterWriter.write(put('later'))

  const [refused] = await Promise.allSettled([writer.write(put('too late'))])

  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'stopping' } })
  expect(fatal.map(({ name }) => name)).toEqual(['TakenOverError'])
  expect(names(later)).toEqual(['first', 'later'])
})

test('damage that a read meets is reported by the connection', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const made = openDatabase(path, { version: 'test' }).db
  const rootPage = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'settings'"
  const page = made.sqlite.query<{ page: number }, []>(rootPage).get()?.page ?? 0
  made.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  made.sqlite.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(4_096, 0x5a), 0, 4_096, (page - 1) * 4_096)
  closeSync(file)
  const { db } = openDatabase(path, { version: 'test' })
  const found: unknown[] = []
  db.guard.onDamage((error) => found.push(error))

  const sql = 'SELECT value FROM settings'
  expect(() => db.sqlite.query(sql).all()).toThrow('malformed')
  expect(() => db.orm.all(sql)).toThrow()
  expect(() => db.sqlite.query('SELECT nonsense')).toThrow()

  expect(found).toMatchObject([{ code: 'SQLITE_CORRUPT' }, { code: 'SQLITE_CORRUPT' }])
})
