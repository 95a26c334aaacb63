// What a start finds in its data directory, and refuses to go on without.

import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'

import {
  NotYetError,
  openData,
  requireDatabase,
  SEALED,
  startFailure,
} from '../../src/storage/data.ts'
import { UnusableDatabaseError } from '../../src/storage/migrations.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const tools = { clock: new TestClock(), random: systemRandom, log: silentLog, version: 'test' }

function open(folder: ScratchFolder) {
  return openData({ dataDir: folder.file('data'), host: '127.0.0.1', port: 0 }, tools)
}

const OF_WEBHOOK =
  "INSERT INTO webhook_secrets (webhook_id, sealed, created_at) VALUES ('wh', x'01', 1)"
const OF_KEY = `INSERT INTO credentials (id, kind, secret_sha256, hint, created_by, created_at, secret_created_at,
  sealed_secret) VALUES ('key', 'key', x'01', '', 'cli', 1, 1, x'01')`

/** A data directory with a sealed secret. */
function sealSecret(folder: ScratchFolder, insertion = OF_WEBHOOK): void {
  const data = open(folder)
  const { db } = data
  db.sqlite.run('PRAGMA foreign_keys = OFF')
  db.sqlite.run(insertion)
  data.close()
}

const OF_CHANNEL = `INSERT INTO alert_channels (id, kind, sealed_url, form, created_at)
  VALUES ('chan', 'post', x'01', 'ntfy', 1)`
const OF_SECOND_STEP = `INSERT INTO dashboard_owner (id, password_hash, password_set_at, totp_sealed)
  VALUES (1, 'hash', 1, x'01')`

for (const [insertion, secrets, step] of [
  [OF_KEY, 'the secrets of keys for compatible APIs', 'hookline keys rotate ID'],
  [OF_CHANNEL, 'the URLs of alert channels', 'hookline alerts add URL'],
  [OF_SECOND_STEP, 'the second step of the sign-in', 'hookline setup-link'],
] as const) {
  test(`while only ${secrets} are sealed, no other key is made, and the error says what to do`, () => {
    using folder = new ScratchFolder()
    sealSecret(folder, insertion)
    rmSync(dataDirectoryAt(folder.file('data')).secretKey)

    expect(() => open(folder)).toThrow(`secret.key is missing, and it opens ${secrets}. Put`)
    expect(() => open(folder)).toThrow(step)
  })
}

test('a missing key that opens several kinds of secrets is an error that names them all', () => {
  using folder = new ScratchFolder()
  sealSecret(folder)
  sealSecret(folder, OF_CHANNEL)
  rmSync(dataDirectoryAt(folder.file('data')).secretKey)

  expect(() => open(folder)).toThrow(
    'it opens the secrets of webhooks and the URLs of alert channels. Put it back',
  )
  expect(() => open(folder)).not.toThrow('second step')
})

test('every column that holds something sealed keeps another key from being made', () => {
  using folder = new ScratchFolder()
  const data = open(folder)
  const columns = data.db.sqlite
    .query<{ column: string }, []>(
      `SELECT t.name || '.' || c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name LIKE '%sealed%' ORDER BY 1`,
    )
    .all()
  data.close()

  expect(columns.map(({ column }) => column)).toEqual(SEALED.map(({ column }) => column).toSorted())
})

test('without sealed secrets a missing key is made again', () => {
  using folder = new ScratchFolder()
  open(folder).close()
  rmSync(dataDirectoryAt(folder.file('data')).secretKey)

  const data = open(folder)
  data.close()

  expect(data.secretKey).toHaveLength(32)
})

for (const [what, sentence] of [
  ['missing', 'secret.key is missing, and it opens the secrets of webhooks. Put it back'],
  ['cut short', 'secret.key is no key: it must have 32 bytes'],
] as const) {
  test(`a key that is ${what} while secrets are sealed is no reason to make another`, () => {
    using folder = new ScratchFolder()
    sealSecret(folder)
    const { secretKey } = dataDirectoryAt(folder.file('data'))
    if (what === 'missing') rmSync(secretKey)
    else writeFileSync(secretKey, 'too short')

    expect(() => open(folder)).toThrow(UnusableDatabaseError)
    expect(() => open(folder)).toThrow(sentence)

    writeFileSync(secretKey, new Uint8Array(32).fill(7))
    open(folder).close()
  })
}

test('a start that expects its database waits for it to be there again', () => {
  using folder = new ScratchFolder()
  const directory = dataDirectoryAt(folder.file('data'))
  let waiting: unknown = null

  try {
    requireDatabase(directory)
  } catch (error) {
    waiting = error
  }

  expect(waiting).toBeInstanceOf(NotYetError)
  const { isOver } = waiting as NotYetError
  expect(isOver()).toBe(false)
  open(folder).close()
  expect(isOver()).toBe(true)
})

test('a start on a full disk says so, with the folder and what to do', () => {
  using folder = new ScratchFolder()
  for (const code of ['SQLITE_FULL', 'ENOSPC']) {
    const failure = startFailure(
      dataDirectoryAt(folder.path),
      Object.assign(new Error('no'), { code }),
    )

    expect(failure).toMatchObject({ name: 'NotYetError', code: 'storage_full' })
    expect(String(failure)).toContain(`The disk of ${folder.path} is full`)
  }
  const other = new Error('something else')
  expect(startFailure(dataDirectoryAt(folder.path), other)).toBe(other)
})
