// Opens chat.db and checks which columns it has.

import { Database, SQLiteError } from 'bun:sqlite'
// Only the file system knows why SQLite can't open a file, and whether a path still leads to the file.
import { closeSync, openSync, statSync } from 'node:fs'

import { ownIds } from '../../../system/process.ts'

/**
 * `absent`: Messages was never set up. `denied`: Full Disk Access is missing. `wrong_owner`: another
 * user's file. `unreadable`: damaged, or an unknown schema.
 */
export type ChatDbErrorCode = 'absent' | 'denied' | 'wrong_owner' | 'unreadable'

/** Identity of the file: equal values mean the same file. */
export type DatabaseIdentity = {
  readonly device: number
  readonly inode: number
  /** Creation time, in milliseconds since 1970. */
  readonly bornMs: number
}

type Opened =
  | { readonly ok: true; readonly db: Database; readonly identity: DatabaseIdentity }
  | { readonly ok: false; readonly code: ChatDbErrorCode; readonly cause: unknown }

/** File access; tests deny it as macOS does. */
export type FileAccess = {
  readonly uid: number
  stat(path: string): { readonly identity: DatabaseIdentity; readonly owner: number }
  touch(path: string): void
  connect(path: string): Database
}

/** Never `immutable`: SQLite would ignore the write-ahead log, which holds the new rows. */
const CONNECTION = { readonly: true, safeIntegers: true, strict: true }
const PRAGMAS = ['busy_timeout = 5000', 'query_only = ON']

const FILE_ERRORS: Readonly<Record<string, ChatDbErrorCode>> = {
  ENOENT: 'absent',
  EPERM: 'denied',
  EACCES: 'wrong_owner',
}
/** SQLITE_PERM, SQLITE_CANTOPEN and SQLITE_AUTH: seen without Full Disk Access (imsg). */
const DENIALS = new Set([3, 14, 23])

export function systemFileAccess(): FileAccess {
  return {
    uid: ownIds().uid,
    stat(path) {
      const { dev, ino, birthtimeMs, uid } = statSync(path)
      const identity = { device: dev, inode: ino, bornMs: Math.floor(birthtimeMs) }
      return { identity, owner: uid }
    },
    touch: (path) => closeSync(openSync(path, 'r')),
    connect: (path) => new Database(path, CONNECTION),
  }
}

/** Also reads once, because only a read shows whether the database may be read. */
export function openChatDb(path: string, access: FileAccess): Opened {
  let db: Database | null = null
  try {
    const { identity, owner } = access.stat(path)
    if (owner !== access.uid) return { ok: false, code: 'wrong_owner', cause: "another user's" }
    db = access.connect(path)
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    readOnce(db)
    if (isSameFile(path, identity, access)) return { ok: true, db, identity }
    db.close()
    return { ok: false, code: 'unreadable', cause: 'It was replaced while it was opened.' }
  } catch (error) {
    db?.close()
    return { ok: false, code: diagnose(path, error, access), cause: error }
  }
}

function readOnce(db: Database): void {
  using statement = db.prepare('SELECT 1 FROM message LIMIT 1')
  statement.get()
}

export function isSameFile(path: string, identity: DatabaseIdentity, access: FileAccess): boolean {
  try {
    return Bun.deepEquals(access.stat(path).identity, identity)
  } catch {
    return false
  }
}

export function codeOf(error: unknown): ChatDbErrorCode {
  // The higher bytes are SQLite's extended result code.
  const isDenial = error instanceof SQLiteError && DENIALS.has(error.errno & 0xff)
  return isDenial ? 'denied' : 'unreadable'
}

/**
 * Opens the file only after SQLite has failed: POSIX locks belong to the process, so closing the file
 * would drop the locks that another connection of this process holds.
 */
function diagnose(path: string, error: unknown, access: FileAccess): ChatDbErrorCode {
  const code = fileErrorOf(error)
  if (code !== null) return code
  try {
    access.touch(path)
    return codeOf(error)
  } catch (refusal) {
    return fileErrorOf(refusal) ?? codeOf(error)
  }
}

function fileErrorOf(error: unknown): ChatDbErrorCode | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return FILE_ERRORS[code] ?? null
}

// Columns differ between machines with the same version of macOS (imessage-exporter), so the tables are probed,
// whatever the version. The order of the columns says nothing either.

type Words<Text extends string> = Text extends `${infer Word} ${infer Rest}`
  ? Word | Words<Rest>
  : Text

/** Column names, separated by blanks. */
export function columns<const Texts extends readonly string[]>(...texts: Texts) {
  return texts.join(' ').split(' ') as Words<Texts[number]>[] // The type splits the texts in the same way.
}

/** Without these columns, it is unknown what was sent, what failed, or who wrote a message. */
export const ESSENTIAL_COLUMNS = {
  message: columns(
    'ROWID guid attributedBody handle_id service error date is_from_me is_sent is_delivered',
    'is_finished item_type associated_message_type',
  ),
  handle: columns('ROWID id'),
  chat: columns('ROWID guid style chat_identifier'),
  chat_message_join: columns('chat_id message_id'),
  attachment: [] as const,
  sqlite_sequence: columns('name seq'),
}

/** A missing column reads as NULL. */
export const OPTIONAL_COLUMNS = {
  message: columns(
    'text date_read date_delivered date_edited is_prepared is_delayed',
    'is_pending_satellite_send is_empty is_system_message is_service_message is_spam',
    'is_corrupt cache_has_attachments balloon_bundle_id schedule_type destination_caller_id',
    'subject cache_roomnames filter_action associated_message_guid associated_message_emoji',
    'thread_originator_guid thread_originator_part message_summary_info group_action_type',
    'group_title other_handle account',
  ),
  handle: [] as const,
  chat: columns('service_name group_id display_name'),
  chat_message_join: columns('message_date filter_action'),
  attachment: columns(
    'filename mime_type transfer_name total_bytes transfer_state is_outgoing',
    'hide_attachment emoji_image_short_description',
  ),
  sqlite_sequence: [] as const,
}

/** Tables that some versions of macOS lack; a table without one of these columns is not read. */
const OPTIONAL_TABLES = {
  /** Deleted messages that can be recovered. Since macOS 13. */
  chat_recoverable_message_join: columns('chat_id message_id'),
  attachment: columns('guid'),
  message_attachment_join: columns('message_id attachment_id'),
  chat_handle_join: columns('chat_id handle_id'),
}

export type ChatDbTable = keyof typeof ESSENTIAL_COLUMNS
export type ChatDbColumn<T extends ChatDbTable> =
  | (typeof ESSENTIAL_COLUMNS)[T][number]
  | (typeof OPTIONAL_COLUMNS)[T][number]

export type ChatDbSchema = {
  /** The column under a table alias, such as `m.is_spam`, or NULL if this database lacks it. */
  column<T extends ChatDbTable>(alias: string, table: T, column: ChatDbColumn<T>): string
  has(table: keyof typeof OPTIONAL_TABLES): boolean
}

export type Probe =
  | { readonly ok: true; readonly schema: ChatDbSchema }
  | { readonly ok: false; readonly problem: string }

export function probeSchema(db: Database): Probe {
  // ESSENTIAL_COLUMNS is keyed by table name.
  const tables = Object.keys(ESSENTIAL_COLUMNS) as ChatDbTable[]
  const found = new Map(tables.map((table) => [table, columnsOf(db, table)]))
  const has = (table: ChatDbTable, column: string) =>
    found.get(table)?.has(column.toLowerCase()) === true
  const missing = tables.flatMap((table) =>
    ESSENTIAL_COLUMNS[table]
      .filter((column) => !has(table, column))
      .map((column) => `${table}.${column}`),
  )
  if (missing.length > 0) return { ok: false, problem: `It lacks ${missing.join(', ')}.` }
  return {
    ok: true,
    schema: {
      column: (alias, table, name) => (has(table, name) ? `${alias}.${name}` : 'NULL'),
      has(table) {
        const names = columnsOf(db, table)
        return OPTIONAL_TABLES[table].every((name) => names.has(name))
      },
    },
  }
}

/** Column names in lower case, because SQLite ignores case. */
function columnsOf(db: Database, table: string): ReadonlySet<string> {
  using statement = db.prepare<{ name: string }, []>(`PRAGMA table_info(${table})`)
  return new Set(statement.all().map(({ name }) => name.toLowerCase()))
}
