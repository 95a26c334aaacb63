// The file of the simulated network: `carried` holds the sent messages and `recipients` their recipients,
// `pending` the events to come, `events` those that have come, in the order in which lines read them, and
// `sessions` the sessions of each line.

import type { Database } from 'bun:sqlite'

import { LastingDatabase } from '../../../system/lasting-database.ts'

type Carried = {
  readonly messageId: string
  readonly line: string
  readonly to: string
  readonly text: string
  readonly guid: string
  readonly at: number
}

/** An event on its way to a line. `handle` and `text` are null except for messages. */
export type PendingEvent = {
  readonly line: string
  readonly kind: 'message' | 'sent' | 'delivered' | 'read'
  readonly guid: string
  readonly handle: string | null
  readonly text: string | null
  readonly at: number
}

/** A message, the session of its line that posted it, and the events that follow from it. */
export type CarriedMessage = {
  readonly carried: Carried
  readonly session: string
  readonly events: readonly PendingEvent[]
}

/** `seq` is its position, which is never given twice. */
export type NetworkEvent = Omit<PendingEvent, 'line'> & { readonly seq: number }

const PRAGMAS = [
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // The ledger must outlive a killed process, not a power cut: the file system's cache is enough.
  'synchronous = OFF',
  'temp_store = MEMORY',
  'journal_size_limit = 67108864',
]

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
  carried_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS carried_by_message ON carried (message_id);
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
  text TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS pending_by_due ON pending (line, due_at);
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  kind TEXT NOT NULL,
  guid TEXT NOT NULL,
  handle TEXT,
  text TEXT,
  at INTEGER NOT NULL
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

const DUE = `SELECT seq FROM pending WHERE line = $line AND due_at <= $now
  ORDER BY due_at, seq LIMIT +$limit`

type Values = Record<string, string | number | null>

export class Ledger {
  /** Id of this ledger: a new file has another one. */
  readonly identity: string
  readonly #sql: ReturnType<typeof messageStatements> & ReturnType<typeof eventStatements>
  readonly #carry: (messages: readonly CarriedMessage[]) => void
  readonly #bringDue: (what: Values) => void

  /** Opens the file at `path`; `newIdentity` names it when it is new. */
  constructor(path: string, newIdentity: string) {
    const db = new LastingDatabase(path, { strict: true, create: true, readwrite: true })
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    db.run(TABLES)
    db.query("INSERT INTO about VALUES ('identity', $id) ON CONFLICT DO NOTHING").run({
      id: newIdentity,
    })
    this.#sql = { ...messageStatements(db), ...eventStatements(db) }
    this.identity = this.#sql.identity.get()?.value ?? newIdentity
    this.#carry = db.transaction((messages: readonly CarriedMessage[]) => {
      const lines = new Map(messages.map(({ session, carried }) => [session, carried.line]))
      for (const [session, line] of lines) this.#requireNewest(line, session)
      for (const message of messages) this.#insert(message)
    }).immediate
    this.#bringDue = db.transaction((what: Values) => {
      this.#sql.copyDue.run(what)
      this.#sql.deleteDue.run(what)
    }).immediate
  }

  /** Seqs of the oldest and the newest message; 0 where nothing was carried. */
  carriedSeqs(): { readonly oldest: number; readonly newest: number } {
    const seqs = this.#sql.carriedSeqs.get()
    return { oldest: seqs?.oldest ?? 0, newest: seqs?.newest ?? 0 }
  }

  /** Writes messages and the events that follow from them; throws where nothing was written. */
  carry(messages: readonly CarriedMessage[]): void {
    this.#carry(messages)
  }

  /** Begins a session of a line: every earlier one is over, and carries nothing from now on. */
  beginSession(line: string, id: string): void {
    this.#sql.insertSession.run({ line, id })
  }

  hasSession(line: string, id: string): boolean {
    return this.#sql.findSession.get({ line, id }) !== null
  }

  /** Forgets every session of a line except the newest: everything that they left open is durably settled. */
  settleSessions(line: string): void {
    this.#sql.deleteOlderSessions.run({ line })
  }

  /** Turns at most `limit` pending events of a line that are due at `now` into events. */
  bringDue(line: string, now: number, limit: number): void {
    this.#bringDue({ line, now, limit })
  }

  /** Time of the line's next pending event, or null. */
  nextDueAt(line: string): number | null {
    return this.#sql.nextDue.get({ line })?.at ?? null
  }

  /** Events of a line after a position, in order. */
  eventsAfter(line: string, seq: number, limit: number): readonly NetworkEvent[] {
    return this.#sql.events.all({ line, seq, limit })
  }

  /** Newest position of all lines. */
  lastPosition(): number {
    return this.#sql.lastPosition.get()?.seq ?? 0
  }

  lastCarriedAt(): number | null {
    return this.#sql.lastCarriedAt.get()?.at ?? null
  }

  /** Guid of a carried message, or null. */
  guidOf(messageId: string): string | null {
    return this.#sql.guidOf.get({ messageId })?.guid ?? null
  }

  hasHistory(line: string, handle: string): boolean {
    return this.#sql.history.get({ line, handle }) !== null
  }

  /**
   * Deletes at most `limit` entries older than `before`: of `line`, only those up to `position`. The
   * newest message stays, so that no seq is given twice.
   */
  prune(line: string, what: { readonly position: number; before: number; limit: number }): void {
    this.#sql.pruneEvents.run({ line, ...what })
    this.#sql.pruneCarried.run({ before: what.before, limit: what.limit })
  }

  #requireNewest(line: string, session: string): void {
    if (this.#sql.newestSession.get({ line })?.id !== session) {
      throw new Error('The session is over.')
    }
  }

  #insert({ carried, events }: CarriedMessage): void {
    const { line, to: handle } = carried
    this.#sql.insertCarried.run(carried)
    this.#sql.insertRecipient.run({ line, handle })
    for (const event of events) {
      const isNow = event.at <= carried.at
      const insertion = isNow ? this.#sql.insertEvent : this.#sql.insertPending
      insertion.run(event)
    }
  }
}

function messageStatements(db: Database) {
  return {
    identity: db.prepare<{ value: string }, []>("SELECT value FROM about WHERE name = 'identity'"),
    insertCarried: db.prepare<null, [Values]>(
      `INSERT INTO carried (message_id, line, recipient, text, guid, carried_at)
       VALUES ($messageId, $line, $to, $text, $guid, $at)`,
    ),
    carriedSeqs: db.prepare<{ oldest: number | null; newest: number | null }, []>(
      `SELECT (SELECT min(seq) FROM carried) AS oldest, (SELECT max(seq) FROM carried) AS newest`,
    ),
    lastCarriedAt: db.prepare<{ at: number }, []>(
      'SELECT carried_at AS at FROM carried ORDER BY seq DESC LIMIT 1',
    ),
    guidOf: db.prepare<{ guid: string }, [Values]>(
      'SELECT guid FROM carried WHERE message_id = $messageId ORDER BY seq LIMIT 1',
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
      `INSERT INTO pending (line, due_at, kind, guid, handle, text)
       VALUES ($line, $at, $kind, $guid, $handle, $text)`,
    ),
    insertEvent: db.prepare<null, [Values]>(
      `INSERT INTO events (line, kind, guid, handle, text, at)
       VALUES ($line, $kind, $guid, $handle, $text, $at)`,
    ),
    copyDue: db.prepare<null, [Values]>(
      `INSERT INTO events (line, kind, guid, handle, text, at)
       SELECT line, kind, guid, handle, text, due_at FROM pending WHERE seq IN (${DUE})
       ORDER BY due_at, seq`,
    ),
    deleteDue: db.prepare<null, [Values]>(`DELETE FROM pending WHERE seq IN (${DUE})`),
    nextDue: db.prepare<{ at: number | null }, [Values]>(
      'SELECT min(due_at) AS at FROM pending WHERE line = $line',
    ),
    events: db.prepare<NetworkEvent, [Values]>(
      `SELECT seq, kind, guid, handle, text, at FROM events
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
