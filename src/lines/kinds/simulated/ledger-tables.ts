// Tables of the simulated network's file: `carried` holds the sent messages, `parts` their files, and
// `recipients` their recipients; `pending` the events to come, `events` those that have come, in the order
// in which lines read them; `chats` the groups of each line, and `sessions` its sessions.

import type { Database } from 'bun:sqlite'

import type { FileRef } from './files.ts'

export type Carried = {
  readonly messageId: string
  readonly line: string
  readonly to: string
  readonly text: string
  readonly guid: string
  /** Null for the network's own. */
  readonly service: string | null
  readonly at: number
}

/** A file that was sent with a message. */
export type Part = FileRef & { readonly guid: string; readonly attachmentId: string }

/** An event on its way to a line. `handle` and `text` are null except for messages of two. */
export type PendingEvent = {
  readonly line: string
  readonly kind: 'message' | 'sent' | 'delivered' | 'read' | 'attachment' | 'change'
  readonly guid: string
  readonly handle: string | null
  readonly text: string | null
  /** The rest of it, in JSON. */
  readonly details: string | null
  readonly at: number
}

/** A group of a line, with its members in JSON. */
export type Chat = {
  readonly line: string
  readonly chatGuid: string
  readonly identifier: string
  readonly name: string | null
  readonly participants: string
  readonly isLeft: 0 | 1
}

/** A message of a line, received or sent, with its first text. */
export type FoundMessage = {
  readonly text: string
  readonly details: string | null
  readonly at: number
}

/** A message, the session of its line that posted it, and the events that follow from it. */
export type CarriedMessage = {
  readonly carried: Carried
  readonly session: string
  /** The files that went, in order. */
  readonly parts: readonly Part[]
  /** True where the network refused the rest: then the message itself is not carried. */
  readonly isCut: boolean
  readonly events: readonly PendingEvent[]
  readonly chats: readonly Chat[]
}

/** `seq` is its position, which is never given twice. */
export type NetworkEvent = Omit<PendingEvent, 'line'> & { readonly seq: number }

// `carried` has no UNIQUE message id on purpose: a real network would carry a message twice, and the
// ledger is there to show it.
const TABLES = `
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS carried (
  seq INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  line TEXT NOT NULL,
  recipient TEXT NOT NULL,
  text TEXT NOT NULL,
  guid TEXT NOT NULL,
  carried_at INTEGER NOT NULL,
  service TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS carried_by_message ON carried (message_id);
CREATE TABLE IF NOT EXISTS parts (
  seq INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  attachment_id TEXT NOT NULL,
  guid TEXT NOT NULL,
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  carried_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS parts_by_message ON parts (message_id);
CREATE TABLE IF NOT EXISTS chats (
  line TEXT NOT NULL,
  chat_guid TEXT NOT NULL,
  identifier TEXT NOT NULL,
  name TEXT,
  participants TEXT NOT NULL,
  is_left INTEGER NOT NULL,
  PRIMARY KEY (line, chat_guid)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS recipients (
  line TEXT NOT NULL,
  handle TEXT NOT NULL,
  PRIMARY KEY (line, handle)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (
  seq INTEGER PRIMARY KEY,
  line TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  guid TEXT NOT NULL,
  handle TEXT,
  text TEXT,
  details TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS pending_by_due ON pending (line, due_at);
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  kind TEXT NOT NULL,
  guid TEXT NOT NULL,
  handle TEXT,
  text TEXT,
  at INTEGER NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_line ON events (line);
CREATE INDEX IF NOT EXISTS events_by_contact ON events (line, handle) WHERE kind = 'message';
CREATE TABLE IF NOT EXISTS sessions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  id TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS sessions_by_line ON sessions (line);
`

/** Columns that ledgers of earlier versions lack. */
const LATER_COLUMNS = { carried: 'service', pending: 'details', events: 'details' } as const

const DUE = `SELECT seq FROM pending WHERE line = $line AND due_at <= $now
  ORDER BY due_at, seq LIMIT +$limit`

export type Values = Record<string, string | number | null>

export type Statements = ReturnType<typeof prepareStatements>

/** Makes the tables that are not there. */
export function createTables(db: Database): void {
  db.run(TABLES)
  for (const [table, column] of Object.entries(LATER_COLUMNS)) addColumn(db, table, column)
}

export function prepareStatements(db: Database) {
  return { ...messageStatements(db), ...eventStatements(db), ...richStatements(db) }
}

function addColumn(db: Database, table: string, column: string): void {
  const columns = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all()
  if (columns.some(({ name }) => name === column)) return
  db.run(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT`)
}

function messageStatements(db: Database) {
  return {
    identity: db.prepare<{ value: string }, []>("SELECT value FROM about WHERE name = 'identity'"),
    insertCarried: db.prepare<null, [Values]>(
      `INSERT INTO carried (message_id, line, recipient, text, guid, carried_at, service)
       VALUES ($messageId, $line, $to, $text, $guid, $at, $service)`,
    ),
    carriedSeqs: db.prepare<{ oldest: number | null; newest: number | null }, []>(
      `SELECT (SELECT min(seq) FROM carried) AS oldest, (SELECT max(seq) FROM carried) AS newest`,
    ),
    lastCarriedAt: db.prepare<{ at: number }, []>(
      'SELECT carried_at AS at FROM carried ORDER BY seq DESC LIMIT 1',
    ),
    findCarried: db.prepare<{ guid: string; service: string | null }, [Values]>(
      'SELECT guid, service FROM carried WHERE message_id = $messageId ORDER BY seq LIMIT 1',
    ),
    insertRecipient: db.prepare<null, [Values]>(
      'INSERT INTO recipients (line, handle) VALUES ($line, $handle) ON CONFLICT DO NOTHING',
    ),
    pruneCarried: db.prepare<null, [Values]>(
      `DELETE FROM carried WHERE seq IN (
         SELECT seq FROM (SELECT seq, carried_at FROM carried ORDER BY seq LIMIT +$limit)
         WHERE carried_at < $before AND seq < (SELECT max(seq) FROM carried))`,
    ),
    insertSession: db.prepare<null, [Values]>(
      'INSERT INTO sessions (line, id) VALUES ($line, $id)',
    ),
    findSession: db.prepare<{ seq: number }, [Values]>(
      'SELECT seq FROM sessions WHERE line = $line AND id = $id',
    ),
    newestSession: db.prepare<{ id: string }, [Values]>(
      'SELECT id FROM sessions WHERE line = $line ORDER BY seq DESC LIMIT 1',
    ),
    deleteOlderSessions: db.prepare<null, [Values]>(
      `DELETE FROM sessions WHERE line = $line
         AND seq < (SELECT max(seq) FROM sessions WHERE line = $line)`,
    ),
  }
}

function eventStatements(db: Database) {
  return {
    insertPending: db.prepare<null, [Values]>(
      `INSERT INTO pending (line, due_at, kind, guid, handle, text, details)
       VALUES ($line, $at, $kind, $guid, $handle, $text, $details)`,
    ),
    insertEvent: db.prepare<null, [Values]>(
      `INSERT INTO events (line, kind, guid, handle, text, details, at)
       VALUES ($line, $kind, $guid, $handle, $text, $details, $at)`,
    ),
    copyDue: db.prepare<null, [Values]>(
      `INSERT INTO events (line, kind, guid, handle, text, details, at)
       SELECT line, kind, guid, handle, text, details, due_at FROM pending WHERE seq IN (${DUE})
       ORDER BY due_at, seq`,
    ),
    deleteDue: db.prepare<null, [Values]>(`DELETE FROM pending WHERE seq IN (${DUE})`),
    nextDue: db.prepare<{ at: number | null }, [Values]>(
      'SELECT min(due_at) AS at FROM pending WHERE line = $line',
    ),
    events: db.prepare<NetworkEvent, [Values]>(
      `SELECT seq, kind, guid, handle, text, details, at FROM events
       WHERE line = +$line AND seq > +$seq ORDER BY seq LIMIT +$limit`,
    ),
    lastPosition: db.prepare<{ seq: number }, []>(
      "SELECT seq FROM sqlite_sequence WHERE name = 'events'",
    ),
    history: db.prepare<{ found: number }, [Values]>(
      `SELECT 1 AS found FROM recipients WHERE line = $line AND handle = $handle
       UNION ALL SELECT 1 FROM events
         WHERE line = +$line AND handle = +$handle AND kind = 'message' LIMIT 1`,
    ),
    pruneEvents: db.prepare<null, [Values]>(
      `DELETE FROM events WHERE seq IN (
         SELECT seq FROM (SELECT seq, at FROM events WHERE line = $line AND seq <= $position
           ORDER BY seq LIMIT +$limit) WHERE at < $before)`,
    ),
  }
}

/** Of files, groups, and the messages that changes are about. */
function richStatements(db: Database) {
  return {
    insertPart: db.prepare<null, [Values]>(
      `INSERT INTO parts (message_id, attachment_id, guid, filename, mime_type, size, sha256, carried_at)
       VALUES ($messageId, $attachmentId, $guid, $filename, $declaredType, $size, $sha256, $at)`,
    ),
    partsOf: db.prepare<{ guid: string; attachmentId: string }, [Values]>(
      `SELECT guid, attachment_id AS attachmentId FROM parts
       WHERE message_id = $messageId ORDER BY seq`,
    ),
    pruneParts: db.prepare<null, [Values]>(
      `DELETE FROM parts WHERE seq IN (
         SELECT seq FROM (SELECT seq, carried_at FROM parts ORDER BY seq LIMIT +$limit)
         WHERE carried_at < $before)`,
    ),
    saveChat: db.prepare<null, [Values]>(
      `INSERT OR REPLACE INTO chats (line, chat_guid, identifier, name, participants, is_left)
       VALUES ($line, $chatGuid, $identifier, $name, $participants, $isLeft)`,
    ),
    findChat: db.prepare<Chat, [Values]>(
      `SELECT line, chat_guid AS chatGuid, identifier, name, participants, is_left AS isLeft
       FROM chats WHERE line = $line AND chat_guid = $chatGuid`,
    ),
    findMessage: db.prepare<FoundMessage, [Values]>(
      `SELECT text, details, at FROM events
         WHERE line = $line AND kind = 'message' AND guid = $guid
       UNION ALL SELECT text, details, due_at FROM pending
         WHERE line = $line AND kind = 'message' AND guid = $guid
       UNION ALL SELECT text, (SELECT json_object('group', json_object('chatGuid', chat_guid,
           'identifier', identifier, 'name', name, 'participants', json(participants)))
           FROM chats WHERE chats.line = $line AND identifier = recipient), carried_at
         FROM carried WHERE line = $line AND guid = $guid LIMIT 1`,
    ),
    changesOf: db.prepare<Pick<PendingEvent, 'details' | 'at'>, [Values]>(
      `SELECT details, at FROM (
         SELECT details, at FROM events WHERE line = $line AND kind = 'change'
         UNION ALL SELECT details, due_at FROM pending WHERE line = $line AND kind = 'change')
       WHERE details ->> 'targetGuid' = $targetGuid ORDER BY at`,
    ),
    expectedFile: db.prepare<{ found: number }, [Values]>(
      `SELECT 1 AS found FROM pending WHERE line = $line AND kind = 'attachment' AND guid = $guid
       UNION ALL SELECT 1 FROM events
         WHERE line = $line AND kind = 'attachment' AND guid = $guid AND seq > $position LIMIT 1`,
    ),
  }
}
