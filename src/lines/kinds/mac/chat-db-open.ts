import { Database, SQLiteError } from 'bun:sqlite'
// Only the file system knows why SQLite may not open a file, and whether a path still names it.
import { closeSync, openSync, statSync } from 'node:fs'

import { ownIds } from '../../../system/process.ts'
import type { DatabaseIdentity } from './chat-db-rows.ts'

/**
 * `absent`: Messages was never set up. `denied`: macOS keeps the file from us, which Full Disk Access
 * mends. `wrong_owner`: it is another user's. `unreadable`: damaged, or not as the relay knows it.
 */
export type ChatDbErrorCode = 'absent' | 'denied' | 'wrong_owner' | 'unreadable'

export type Opened =
  | { readonly ok: true; readonly db: Database; readonly identity: DatabaseIdentity }
  | { readonly ok: false; readonly code: ChatDbErrorCode; readonly cause: unknown }

type FileFacts = { readonly identity: DatabaseIdentity; readonly owner: number }

/** The ways to a file; a test closes them as macOS does. */
export type Doors = {
  readonly uid: number
  stat(path: string): FileFacts
  /** Opens the file for reading and closes it. */
  touch(path: string): void
  connect(path: string): Database
}

/** Never `immutable`: it looks past the write-ahead log, where the new rows are. */
const CONNECTION = { readonly: true, safeIntegers: true, strict: true }
const PRAGMAS = ['busy_timeout = 5000', 'query_only = ON']

/** Errors of the file system, by the cause of each on macOS. */
const FILE_ERRORS: Readonly<Record<string, ChatDbErrorCode>> = {
  ENOENT: 'absent',
  EPERM: 'denied',
  EACCES: 'wrong_owner',
}
/** SQLITE_PERM, SQLITE_CANTOPEN and SQLITE_AUTH: what a missing Full Disk Access was seen as (imsg). */
const DENIALS = new Set([3, 14, 23])

export function systemDoors(): Doors {
  return {
    uid: ownIds().uid,
    stat: factsOf,
    touch: (path) => closeSync(openSync(path, 'r')),
    connect: (path) => new Database(path, CONNECTION),
  }
}

/** Opens the database and reads from it once: only that shows whether it may be read. */
export function openChatDb(path: string, doors: Doors): Opened {
  let db: Database | null = null
  try {
    const { identity, owner } = doors.stat(path)
    if (owner !== doors.uid) return { ok: false, code: 'wrong_owner', cause: "another user's" }
    db = doors.connect(path)
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    readOnce(db)
    if (isSameFile(path, identity, doors)) return { ok: true, db, identity }
    db.close()
    return { ok: false, code: 'unreadable', cause: 'It was replaced while it was opened.' }
  } catch (error) {
    db?.close()
    return { ok: false, code: diagnose(path, error, doors), cause: error }
  }
}

function readOnce(db: Database): void {
  using statement = db.prepare('SELECT 1 FROM message LIMIT 1')
  statement.get()
}

/** Whether the path names the file of that identity. */
export function isSameFile(path: string, identity: DatabaseIdentity, doors: Doors): boolean {
  try {
    const now = doors.stat(path).identity
    return Bun.deepEquals(now, identity)
  } catch {
    return false
  }
}

/** What an error of SQLite says of the database. */
export function codeOf(error: unknown): ChatDbErrorCode {
  // The higher bytes of the number tell more than is asked here.
  const isDenial = error instanceof SQLiteError && DENIALS.has(error.errno & 0xff)
  return isDenial ? 'denied' : 'unreadable'
}

/**
 * The file is opened only after SQLite has failed: closing it would take away the locks that another
 * connection of this process has on it, because POSIX gives them to the process.
 */
function diagnose(path: string, error: unknown, doors: Doors): ChatDbErrorCode {
  const told = fileErrorOf(error)
  if (told !== null) return told
  try {
    doors.touch(path)
    return codeOf(error)
  } catch (refusal) {
    return fileErrorOf(refusal) ?? codeOf(error)
  }
}

function fileErrorOf(error: unknown): ChatDbErrorCode | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return FILE_ERRORS[code] ?? null
}

function factsOf(path: string): FileFacts {
  const { dev, ino, birthtimeMs, uid } = statSync(path)
  const identity = { device: dev, inode: ino, bornMs: Math.floor(birthtimeMs) }
  return { identity, owner: uid }
}
