// How the write-ahead log is emptied beside the writer: a real file, the real thread, the test clock.

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, renameSync, statSync } from 'node:fs'

import { Checkpoints } from '../../src/storage/checkpoints.ts'
import { closeDatabase, openRaw } from '../../src/storage/database.ts'
import { LostFileError, OpenFiles } from '../../src/storage/guard.ts'
import type { Writer } from '../../src/storage/writer.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { openTestStorage } from '../support/test-storage.ts'

const PAGE_BYTES = 4_096

function openRig(folder: ScratchFolder, path = folder.file('hookline.db')) {
  const storage = openTestStorage(folder.file('hookline.db'))
  const { db, clock } = storage
  const end = new AbortController()
  const running = new Checkpoints(storage.core, path).run(end.signal)
  const stop = async () => {
    end.abort()
    await running
  }
  /** Pages in the log, and how many of them aren't in the database yet. */
  const log = () => {
    const sql = 'PRAGMA wal_checkpoint(NOOP)'
    const { log: pages, checkpointed } = db.sqlite
      .query<{ log: number; checkpointed: number }, []>(sql)
      .get() ?? { log: -1, checkpointed: -1 }
    return { pages, left: pages - checkpointed }
  }
  const automatic = () => db.sqlite.query('PRAGMA wal_autocheckpoint').values()
  const second = () => clock.advance(1_000)
  return { ...storage, path: folder.file('hookline.db'), log, automatic, running, second, stop }
}

/** Writes rows of about a megabyte, each in its own commit. */
async function writeMegabytes(writer: Writer, from: number, count: number): Promise<void> {
  for (let i = from; i < from + count; i += 1) await writeRow(writer, i, 1_000_000)
}

function writeRow(writer: Writer, number: number, bytes: number): Promise<unknown> {
  return writer.write((tx) => {
    const insert = tx.sqlite.query('INSERT OR REPLACE INTO settings VALUES ($name, $value, 0)')
    insert.run({ name: `row ${number % 20}`, value: `${number}${'x'.repeat(bytes)}` })
  })
}

test('under an endless load the log starts over again and again, and no commit copies its pages', async () => {
  using folder = new ScratchFolder()
  const { db, writer, log, automatic, second, stop, path } = openRig(folder)
  await writeMegabytes(writer, 0, 20)
  const over = new AbortController()
  let written = 0
  const load = async () => {
    for (; !over.signal.aborted; written += 1) await writeRow(writer, written, 30_000)
  }

  const loading = load()
  let startedOver = 0
  let before = 0
  await eventually('the log started over three times', async () => {
    await second()
    const { pages } = log()
    if (pages < before) startedOver += 1
    before = pages
    return startedOver === 3 ? true : null
  })
  const during = automatic()
  over.abort()
  await loading
  const bytes = statSync(`${path}-wal`).size
  await stop()

  expect(bytes).toBeLessThan(256 * 1024 * 1024)
  expect([during, automatic()]).toEqual([[[131_072]], [[12_000]]])
  expect(db.sqlite.query('PRAGMA integrity_check').values()).toEqual([['ok']])
})

test('a short log stays as it is, and a long one is in the database within a second', async () => {
  using folder = new ScratchFolder()
  const { db, writer, log, second, stop, path } = openRig(folder)
  await writeMegabytes(writer, 0, 10)
  await second()
  const short = log()
  await writeMegabytes(writer, 10, 10)
  const long = log()

  await second()
  await eventually('the log is empty', () => (log().left === 0 ? true : null))
  await stop()
  const size = statSync(path).size
  closeDatabase(db)

  expect(short.left).toBe(short.pages)
  expect(long.left).toBe(long.pages)
  expect(size).toBeGreaterThan(10 * 1_000_000)
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test('while a program reads an older state, writes go on, and the log is emptied once it ends', async () => {
  using folder = new ScratchFolder()
  const { writer, log, second, stop, path } = openRig(folder)
  await writeMegabytes(writer, 0, 1)
  const reader = openRaw(path, 'read')
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM settings').get()
  await writeMegabytes(writer, 1, 20)
  for (let i = 0; i < 3; i += 1) await second()
  await writeMegabytes(writer, 21, 1)
  const held = log()

  reader.run('COMMIT')
  reader.close()
  await eventually('the log is empty', async () => {
    await second()
    return log().left === 0 ? true : null
  })
  await stop()

  expect(held.left).toBeGreaterThan(4_000)
})

test('nothing is copied if the files were exchanged before the thread opened them', async () => {
  using folder = new ScratchFolder()
  const { db, clock, writer, running, automatic, second, path } = openRig(folder)
  for (const end of ['lock', 'key']) await Bun.write(folder.file(`hookline.${end}`), '')
  const directory = {
    ...dataDirectoryAt(folder.path),
    lock: folder.file('hookline.lock'),
    secretKey: folder.file('hookline.key'),
  }
  db.guard.watch(new OpenFiles(directory), clock)
  await writeMegabytes(writer, 0, 20)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  const before = statSync(path).size

  void second()
  const [failed] = await Promise.allSettled([running])

  expect(failed).toMatchObject({ status: 'rejected' })
  expect((failed as PromiseRejectedResult).reason).toBeInstanceOf(LostFileError)
  expect(statSync(path).size).toBe(before)
  expect(automatic()).toEqual([[12_000]])
})

test('if the thread cannot open the database, SQLite empties the log within commits again', async () => {
  using folder = new ScratchFolder()
  const { writer, running, automatic, log, second } = openRig(folder, folder.file('no/such.db'))
  await writeMegabytes(writer, 0, 20)

  void second()
  const [failed] = await Promise.allSettled([running])
  await writeMegabytes(writer, 20, 40)

  expect(failed).toMatchObject({ status: 'rejected' })
  expect(automatic()).toEqual([[12_000]])
  expect(log().left).toBeLessThan(60 * (1_000_000 / PAGE_BYTES))
})
