// A chat.db that may not be opened, that changes, that is replaced, and that is let go of.

import { expect, test } from 'bun:test'
import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'

import {
  systemFileAccess,
  type ChatDbErrorCode,
  type FileAccess,
} from '../../../../src/lines/kinds/mac/chat-db-open.ts'
import { ChatDb, ChatDbError } from '../../../../src/lines/kinds/mac/chat-db.ts'
import { ChatDbFile } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TEST_START as AT } from '../../../support/test-clock.ts'

const ANNA = '+15550001'

test('the data version changes with each commit and checkpoint of Messages, not by reading', () => {
  using rig = new OpenedChatDb()
  const { file, chatDb } = rig
  const versions = [chatDb.dataVersion()]
  const steps = [
    () => file.receive({ from: ANNA, text: 'hello', at: AT }),
    () => file.set(1, { is_read: 1 }),
    () => file.checkpoint(),
  ]

  for (const step of steps) {
    step()
    versions.push(chatDb.dataVersion())
  }
  chatDb.rowsAfter(0, 10)
  chatDb.lastRows()
  const after = chatDb.dataVersion()

  expect(new Set(versions).size).toBe(4)
  expect(after).toBe(versions.at(-1) ?? 0)
})

test('what Messages has not committed is not read', () => {
  using rig = new OpenedChatDb()
  const { file, chatDb } = rig
  const before = chatDb.dataVersion()

  file.db.run('BEGIN')
  file.receive({ from: ANNA, text: 'hello', at: AT })
  const during = [chatDb.dataVersion() - before, chatDb.rowsAfter(0, 10).length]
  file.db.run('COMMIT')

  expect(during).toEqual([0, 0])
  expect(chatDb.rowsAfter(0, 10).length).toBe(1)
})

test('reading leaves the file as it is', () => {
  using rig = new OpenedChatDb()
  rig.file.receive({ from: ANNA, text: 'hello', at: AT })
  rig.file.checkpoint()
  const before = readFileSync(rig.file.path)

  const rows = rig.chatDb.rowsAfter(0, 10)

  expect(rows.length).toBe(1)
  expect(readFileSync(rig.file.path)).toEqual(before)
})

test('what was read keeps no checkpoint waiting', () => {
  using rig = new OpenedChatDb()
  for (const text of ['one', 'two']) rig.file.receive({ from: ANNA, text, at: AT })

  rig.chatDb.rowsAfter(0, 1)
  rig.chatDb.dataVersion()
  rig.file.receive({ from: ANNA, text: 'three', at: AT })
  const checkpoint = rig.file.db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()

  expect(checkpoint).toEqual({ busy: 0, log: 0, checkpointed: 0 })
})

test('a file is the same after a checkpoint, and when Messages was closed and opened', () => {
  using rig = new OpenedChatDb()
  const { file, chatDb } = rig
  file.receive({ from: ANNA, text: 'hello', at: AT })
  file.checkpoint()
  file.close()
  using again = ChatDbFile.create(file.path, 'macos26a')
  again.receive({ from: ANNA, text: 'again', at: AT })

  expect(chatDb.isSameFile()).toBe(true)
  expect(chatDb.rowsAfter(0, 10).map(({ text }) => text)).toEqual(['hello', 'again'])
})

test('a file that was replaced, or is gone, is not the same', () => {
  using rig = new OpenedChatDb()
  const { file, chatDb } = rig
  using other = ChatDbFile.create(`${file.path}-restored`, 'macos26a')
  other.close()

  rmSync(file.path)
  const gone = chatDb.isSameFile()
  renameSync(other.path, file.path)
  const replaced = chatDb.isSameFile()
  const restored = ChatDb.open(file.path)

  expect([gone, replaced, restored.isSameFile()]).toEqual([false, false, true])
  expect(restored.identity).not.toEqual(chatDb.identity)
  restored.close()
})

test('a file is known by its device, its inode and its birth', () => {
  using rig = new OpenedChatDb()

  const { dev, ino, birthtimeMs } = statSync(rig.file.path)

  const identity = { device: dev, inode: ino, bornMs: Math.floor(birthtimeMs) }
  expect(rig.chatDb.identity).toEqual(identity)
})

test('a reader that is closed lets go of the file', () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')
  const chatDb = ChatDb.open(file.path)
  chatDb.rowsAfter(0, 10)
  // Only who is alone with a file may take its write-ahead log away.
  file.db.run('PRAGMA busy_timeout = 0')
  const leave = () => file.db.query('PRAGMA journal_mode = DELETE').get()

  expect(leave).toThrow('database is locked')
  chatDb.close()

  expect(leave()).toEqual({ journal_mode: 'delete' })
})

test('a reader finds its file damaged, and says so', () => {
  using rig = new OpenedChatDb()
  for (let index = 0; index < 100; index += 1) {
    rig.file.receive({ from: ANNA, text: 'x'.repeat(4_000), at: AT + index })
  }
  rig.file.checkpoint()

  truncateSync(rig.file.path, 8_192)

  expect(codeOf(() => rig.chatDb.rowsAfter(0, 100))).toBe('unreadable')
})

test('a chat.db that is not there is absent', () => {
  using folder = new ScratchFolder()

  expect(codeOf(() => ChatDb.open(folder.file('chat.db')))).toBe('absent')
})

test('a file that is no database is unreadable', () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('chat.db'), 'no database at all '.repeat(100))

  expect(codeOf(() => ChatDb.open(folder.file('chat.db')))).toBe('unreadable')
})

// The tests may run as root, who may do everything: the doors are shut as macOS shuts them.
const REFUSALS: readonly (readonly [sentence: string, Partial<FileAccess>, ChatDbErrorCode])[] = [
  ['a folder that macOS protects is denied', { stat: throws(fileError('EPERM')) }, 'denied'],
  [
    "another user's folder has the wrong owner",
    { stat: throws(fileError('EACCES')) },
    'wrong_owner',
  ],
  ["another user's file has the wrong owner, readable or not", { uid: 4_711 }, 'wrong_owner'],
  [
    'a file that macOS protects is denied',
    { connect: throws(sqliteError(14)), touch: throws(fileError('EPERM')) },
    'denied',
  ],
  [
    'a file that only another user may read has the wrong owner',
    { connect: throws(sqliteError(14)), touch: throws(fileError('EACCES')) },
    'wrong_owner',
  ],
  [
    'a file that goes while it is opened is absent',
    { connect: throws(sqliteError(14)), touch: throws(fileError('ENOENT')) },
    'absent',
  ],
  [
    'a file that SQLite alone may not read is denied',
    { connect: throws(sqliteError(23)) },
    'denied',
  ],
  [
    'a file that SQLite alone may not open is denied',
    { connect: throws(sqliteError(14)) },
    'denied',
  ],
  [
    'an error of SQLite is known by its lower byte',
    { connect: throws(sqliteError(14 + 256 * 5)) },
    'denied',
  ],
  ['a disk that fails makes it unreadable', { connect: throws(sqliteError(10)) }, 'unreadable'],
]

for (const [sentence, shut, code] of REFUSALS) {
  test(sentence, () => {
    using folder = new ScratchFolder()
    using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')

    expect(codeOf(() => ChatDb.open(file.path, { ...systemFileAccess(), ...shut }))).toBe(code)
  })
}

test('a file that is replaced while it is opened is not read', () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')
  let inode = 1
  const stat = () => ({ identity: { device: 1, inode: (inode += 1), bornMs: 1 }, owner: 1 })

  expect(codeOf(() => ChatDb.open(file.path, { ...systemFileAccess(), stat, uid: 1 }))).toBe(
    'unreadable',
  )
})

test('a file that may be read is opened by SQLite alone, which keeps its locks', () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')
  const touch = throws(new Error('This would drop the locks of the process.'))

  const chatDb = ChatDb.open(file.path, { ...systemFileAccess(), touch })

  expect(chatDb.maxRowId()).toBe(0)
  chatDb.close()
})

function codeOf(act: () => unknown): ChatDbErrorCode | null {
  try {
    act()
    return null
  } catch (error) {
    if (error instanceof ChatDbError) return error.code
    throw error
  }
}

function throws(error: Error): () => never {
  return () => {
    throw error
  }
}

function fileError(code: string): Error {
  return Object.assign(new Error(`${code}: refused`), { code })
}

function sqliteError(errno: number): Error {
  // Bun alone makes these errors, and knows them by their name.
  return Object.assign(new Error('refused'), { name: 'SQLiteError', errno })
}
