// Files of attachments in backups: a whole backup has them beside it, a daily one has none.

import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { timestamp, type AttachmentId } from '../../src/domain/ids.ts'
import { attachmentPath, filesBeside } from '../../src/storage/attachment-files.ts'
import { findAttachment, insertAttachment } from '../../src/storage/attachments.ts'
import { backUpTo, BackupWorker } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase, type Tx } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const NOW = timestamp(TEST_START)
/** Its thread is dear to start. */
const worker = new BackupWorker()

/** A data directory with files, of each of which an attachment has the bytes. */
function openFiles(folder: ScratchFolder, contents: readonly string[]) {
  const directory = openDataDirectory(folder.file('data'))
  const { db } = openDatabase(directory.database, { version: 'test' })
  const files = contents.map((content, number) => {
    const sha256 = new Bun.CryptoHasher('sha256').update(content).digest('hex')
    const id = idOf(number)
    const path = attachmentPath(directory.attachments, sha256)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    store(db as Tx, id, sha256)
    return { id, path, sha256, content }
  })
  const states = () => {
    const { db: restored } = openDatabase(directory.database, { version: 'test' })
    const found = files.map(({ id }) => findAttachment(restored, { id })?.state)
    closeDatabase(restored)
    return found
  }
  const to = folder.file('whole.db')
  const tools = { worker, directory, clock: new TestClock() }
  return {
    directory,
    db,
    files,
    states,
    to,
    backUp: (withoutAttachments = false) => backUpTo(tools, { to, withoutAttachments }),
    restore: () => restoreBackup({ directory, file: to, version: 'test', now: NOW }),
  }
}

function idOf(number: number): AttachmentId {
  return `att_${String(number).padStart(26, '0')}` as AttachmentId // The form of an id.
}

function store(tx: Tx, id: AttachmentId, sha256: string): void {
  insertAttachment(tx, {
    id,
    sha256,
    filename: 'menu.txt',
    mimeType: 'text/plain',
    declaredType: null,
    size: 1,
    width: null,
    height: null,
    durationMs: null,
    direction: 'outbound',
    state: 'available',
    messageId: null,
    deviceGuid: null,
    caller: '',
    uploadKey: null,
    createdAt: NOW,
    expiresAt: null,
  })
}

test('a whole backup has the files beside it, and a restore on another machine brings them back', async () => {
  using folder = new ScratchFolder()
  const relay = openFiles(folder, ['menu', 'picture'])

  const made = await relay.backUp()
  closeDatabase(relay.db)
  rmSync(relay.directory.attachments, { recursive: true })
  const { missingCount } = relay.restore()

  expect(made.attachment_bytes).toBe('menupicture'.length)
  expect(missingCount).toBe(0)
  expect(relay.states()).toEqual(['available', 'available'])
  for (const { path, content } of relay.files) expect(readFileSync(path, 'utf8')).toBe(content)
})

test('a backup without attachments has none beside it, and a restore says which are missing', async () => {
  using folder = new ScratchFolder()
  const relay = openFiles(folder, ['menu', 'picture'])

  const made = await relay.backUp(true)
  closeDatabase(relay.db)
  rmSync(relay.files[0]?.path ?? '')
  const { missingCount } = relay.restore()

  expect(made).not.toHaveProperty('attachment_bytes')
  expect(existsSync(filesBeside(relay.to))).toBe(false)
  expect(missingCount).toBe(1)
  expect(relay.states()).toEqual(['missing', 'available'])
})

type Relay = ReturnType<typeof openFiles>
type Found = readonly [
  what: string,
  state: 'missing' | 'available',
  before: (relay: Relay) => void,
  after?: (relay: Relay) => void,
]

const FOUND: readonly Found[] = [
  [
    'a copy whose bytes changed is not taken for the file',
    'missing',
    () => {},
    ({ directory, to, files }) => {
      rmSync(directory.attachments, { recursive: true })
      writeFileSync(attachmentPath(filesBeside(to), files[0]?.sha256 ?? ''), 'mend')
    },
  ],
  [
    'a file that is missing becomes available where a restore finds it again',
    'available',
    ({ db }) => db.sqlite.run("UPDATE attachments SET state = 'missing'"),
  ],
  [
    'a hash of a foreign backup that leads elsewhere is missing',
    'missing',
    ({ db }) => db.sqlite.run("UPDATE attachments SET sha256 = '../../whole.db'"),
  ],
]

for (const [what, state, before, after = () => {}] of FOUND) {
  test(what, async () => {
    using folder = new ScratchFolder()
    const relay = openFiles(folder, ['menu'])
    before(relay)
    await relay.backUp()
    closeDatabase(relay.db)
    after(relay)

    relay.restore()

    expect(relay.states()).toEqual([state])
  })
}

test('a backup that cannot take its files along is none', async () => {
  using folder = new ScratchFolder()
  const relay = openFiles(folder, ['menu'])
  const { path } = relay.files[0] ?? { path: '' }
  rmSync(path)
  mkdirSync(path)

  const making = relay.backUp()

  expect(making).rejects.toThrow()
  await making.catch(() => {})
  expect(existsSync(relay.to)).toBe(false)
  expect(existsSync(filesBeside(relay.to))).toBe(false)
})

test('a whole backup overwrites no files either', async () => {
  using folder = new ScratchFolder()
  const relay = openFiles(folder, ['menu'])
  mkdirSync(filesBeside(relay.to))

  expect(relay.backUp()).rejects.toThrow('is there already')
})
