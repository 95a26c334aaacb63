// The simulated network's file, which survives a killed process.

import type { Statement } from 'bun:sqlite'

import { LastingDatabase } from '../../../system/lasting-database.ts'
import { memoize } from '../../../system/memoize.ts'
import type { FileRef } from './files.ts'

/** An event on its way to a line. `handle` and `text` are null except for direct messages. */
export type PendingEvent = {
  readonly line: string
  readonly kind: 'message' | 'sent' | 'delivered' | 'read' | 'attachment' | 'change'
  readonly guid: string
  readonly handle: string | null
  readonly text: string | null
  /** The rest of the event, in JSON. */
  readonly details: string | null
  readonly at: number
}

/** `seq` is its position, which is never given to another event. */
export type NetworkEvent = PendingEvent & { readonly seq: number }

export type Part = FileRef & { readonly guid: string; readonly attachmentId: string }

export type Carried = {
  readonly messageId: string
  readonly line: string
  readonly to: string
  readonly text: string
  readonly guid: string
  /** Null for iMessage, the network's own service. */
  readonly service: string | null
  readonly at: number
}

type Values = Record<string, string | number | null>

const PRAGMAS = [
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // The file must survive a killed process, not a power cut, so the file system's cache is enough.
  'synchronous = OFF',
  'temp_store = MEMORY',
  'journal_size_limit = 67108864',
]

// `carried` has no UNIQUE message id on purpose: a real network would carry a message twice, and the file must show
// it. `cut` has messages of which only a file was sent. `pending` has events to come, `events` those that have come.
const EVENT = 'line TEXT NOT NULL, kind TEXT NOT NULL, guid TEXT NOT NULL, handle TEXT, text TEXT'
const CARRIED = `seq INTEGER PRIMARY KEY, message_id TEXT NOT NULL, line TEXT NOT NULL,
  recipient TEXT NOT NULL, text TEXT NOT NULL, guid TEXT NOT NULL, carried_at INTEGER NOT NULL,
  service TEXT`
const TABLES = `
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS carried (${CARRIED}) STRICT;
CREATE TABLE IF NOT EXISTS cut (${CARRIED}) STRICT;
CREATE INDEX IF NOT EXISTS carried_by_message ON carried (message_id);
CREATE TABLE IF NOT EXISTS parts (seq INTEGER PRIMARY KEY, message_id TEXT NOT NULL,
  attachment_id TEXT NOT NULL, guid TEXT NOT NULL, filename TEXT NOT NULL, mime_type TEXT NOT NULL,
  size INTEGER NOT NULL, sha256 TEXT NOT NULL, carried_at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS parts_by_message ON parts (message_id);
CREATE TABLE IF NOT EXISTS chats (line TEXT NOT NULL, chat_guid TEXT NOT NULL,
  device_group TEXT NOT NULL, is_left INTEGER NOT NULL,
  PRIMARY KEY (line, chat_guid)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS recipients (line TEXT NOT NULL, handle TEXT NOT NULL,
  PRIMARY KEY (line, handle)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (seq INTEGER PRIMARY KEY, ${EVENT}, details TEXT,
  at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS pending_by_due ON pending (line, at);
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, ${EVENT}, details TEXT,
  at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS events_by_line ON events (line);
CREATE INDEX IF NOT EXISTS events_by_contact ON events (line, handle) WHERE kind = 'message';
CREATE TABLE IF NOT EXISTS sessions (seq INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL,
  id TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS sessions_by_line ON sessions (line);
`

export class Ledger {
  readonly #db: LastingDatabase
  readonly #prepared: (sql: string) => Statement

  /** Opens the file, or an image of it in memory. */
  constructor(source: string | Uint8Array) {
    const db = new LastingDatabase(source, { strict: true, create: true, readwrite: true })
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    db.run(TABLES)
    this.#db = db
    this.#prepared = memoize(100, (sql) => db.prepare(sql))
  }

  image(): Uint8Array {
    return this.#db.serialize()
  }

  transaction(write: () => void): void {
    this.#db.transaction(write).immediate()
  }

  /** The caller names the columns of its query, and so the type of its rows. */
  query<Row>(sql: string): Statement<Row, Values[]> {
    return this.#prepared(sql) as Statement<Row, Values[]>
  }

  run(sql: string, values: Values): void {
    this.query(sql).run(values)
  }
}
