// The file of the simulated network. `carried` says what was sent, and `recipients` to whom; `future` what
// will happen, and when; `happenings` what has happened, in the order in which lines are told.

import type { Database } from 'bun:sqlite'

import { LastingDatabase } from '../../../system/lasting-database.ts'
import { LedgerSessions } from './ledger-sessions.ts'

type Carried = {
  readonly messageId: string
  readonly line: string
  readonly to: string
  readonly text: string
  readonly guid: string
  readonly at: number
}

/** Something that a line is told. `handle` and `text` are null but for messages. */
export type News = {
  readonly line: string
  readonly kind: 'message' | 'sent' | 'delivered' | 'read'
  readonly guid: string
  readonly handle: string | null
  readonly text: string | null
  readonly at: number
}

/** A message, the session of its line that posted it, and what follows from it. */
export type CarriedLetter = {
  readonly carried: Carried
  readonly session: string
  readonly news: readonly News[]
}

/** `seq` is its position, which is never given twice. */
export type Happening = Omit<News, 'line'> & { readonly seq: number }

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
CREATE TABLE IF NOT EXISTS future (
  seq INTEGER PRIMARY KEY,
  line TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  guid TEXT NOT NULL,
  handle TEXT,
  text TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS future_by_due ON future (line, due_at);
CREATE TABLE IF NOT EXISTS happenings (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  kind TEXT NOT NULL,
  guid TEXT NOT NULL,
  handle TEXT,
  text TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS happenings_by_line ON happenings (line);
CREATE INDEX IF NOT EXISTS happenings_by_contact ON happenings (line, handle)
  WHERE kind = 'message';
`

/** An index that ledgers had in place of `recipients`: it put every message on a page of its own. */
const OLD_INDEX = 'carried_by_contact'
const REPLACE_OLD_INDEX = `
INSERT INTO recipients SELECT DISTINCT line, recipient FROM carried WHERE true ON CONFLICT DO NOTHING;
DROP INDEX ${OLD_INDEX};
`

const DUE = `SELECT seq FROM future WHERE line = $line AND due_at <= $now
  ORDER BY due_at, seq LIMIT +$limit`

/** How many recipients of a line are remembered. */
const REMEMBERED_MAX = 10_000

type Values = Record<string, string | number | null>

export class Ledger {
  /** Says which ledger this is: a new file has another one. */
  readonly identity: string
  readonly sessions: LedgerSessions
  readonly #db: Database
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #carry: (letters: readonly CarriedLetter[]) => void
  readonly #bringDue: (what: Values) => void
  /** Of whom it is known that they are recipients of a line: most letters go to one of those. */
  readonly #recipients = new Map<string, Set<string>>()

  /** Opens the file at `path`; `newIdentity` names it when it is new. */
  constructor(path: string, newIdentity: string) {
    const db = new LastingDatabase(path, { strict: true, create: true, readwrite: true })
    for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`)
    db.run(TABLES)
    replaceOldIndex(db)
    db.query("INSERT INTO about VALUES ('identity', $id) ON CONFLICT DO NOTHING").run({
      id: newIdentity,
    })
    this.#db = db
    this.sessions = new LedgerSessions(db)
    this.#sql = prepareStatements(db)
    this.identity = this.#sql.identity.get()?.value ?? newIdentity
    this.#carry = db.transaction((letters: readonly CarriedLetter[]) => {
      for (const letter of letters) this.#insert(letter)
    }).immediate
    this.#bringDue = db.transaction((what: Values) => {
      this.#sql.copyDue.run(what)
      this.#sql.deleteDue.run(what)
    }).immediate
  }

  /** The seqs of the oldest and of the newest message that is kept; 0 where nothing was carried. */
  carriedSeqs(): { readonly oldest: number; readonly newest: number } {
    const { oldestSeq, newestSeq } = this.#sql
    return { oldest: oldestSeq.get()?.seq ?? 0, newest: newestSeq.get()?.seq ?? 0 }
  }

  /** Writes down messages and all that follows from them, or throws and has written nothing. */
  carry(letters: readonly CarriedLetter[]): void {
    this.#carry(letters)
    for (const { carried } of letters) this.#remember(carried.line, carried.to)
  }

  /** Makes at most `limit` things of a line's future happen that are due at `now`. */
  bringDue(line: string, now: number, limit: number): void {
    this.#bringDue({ line, now, limit })
  }

  /** When the next thing of a line's future is due, or null. */
  nextDueAt(line: string): number | null {
    return this.#sql.nextDue.get({ line })?.at ?? null
  }

  /** What happened to a line after a position, in order. */
  happeningsAfter(line: string, seq: number, limit: number): readonly Happening[] {
    return this.#sql.happenings.all({ line, seq, limit })
  }

  /** The newest position of all lines. */
  lastPosition(): number {
    return this.#sql.lastPosition.get()?.seq ?? 0
  }

  lastCarriedAt(): number | null {
    return this.#sql.lastCarriedAt.get()?.at ?? null
  }

  /** The guid under which a message was carried, or null where it was not. */
  guidOf(messageId: string): string | null {
    return this.#sql.guidOf.get({ messageId })?.guid ?? null
  }

  hasHistory(line: string, handle: string): boolean {
    return this.#sql.history.get({ line, handle }) !== null
  }

  /**
   * Forgets at most `limit` entries from before `before`: of `line`, those up to `told` only. The newest
   * message stays, so that no seq is given twice.
   */
  prune(line: string, what: { readonly told: number; before: number; limit: number }): void {
    this.#sql.pruneHappenings.run({ line, ...what })
    this.#sql.pruneCarried.run({ before: what.before, limit: what.limit })
  }

  close(): void {
    this.#db.close()
  }

  #insert({ carried, session, news }: CarriedLetter): void {
    const { line, to: handle } = carried
    this.sessions.requireNewest(line, session)
    this.#sql.insertCarried.run(carried)
    if (this.#recipients.get(line)?.has(handle) !== true) {
      this.#sql.insertRecipient.run({ line, handle })
    }
    for (const one of news) {
      // What follows at once need not wait in the future first.
      const insertion = one.at <= carried.at ? this.#sql.insertHappening : this.#sql.insertFuture
      insertion.run(one)
    }
  }

  #remember(line: string, handle: string): void {
    const recipients = this.#recipients.get(line)
    if (recipients !== undefined && recipients.size < REMEMBERED_MAX) recipients.add(handle)
    else this.#recipients.set(line, new Set([handle]))
  }
}

function replaceOldIndex(db: Database): void {
  const isThere = db.query('SELECT 1 FROM sqlite_schema WHERE name = ?').get(OLD_INDEX) !== null
  if (isThere) db.transaction(() => db.run(REPLACE_OLD_INDEX)).immediate()
}

function prepareStatements(db: Database) {
  return {
    identity: db.prepare<{ value: string }, []>("SELECT value FROM about WHERE name = 'identity'"),
    insertCarried: db.prepare<null, [Values]>(
      `INSERT INTO carried (message_id, line, recipient, text, guid, carried_at)
       VALUES ($messageId, $line, $to, $text, $guid, $at)`,
    ),
    oldestSeq: db.prepare<{ seq: number | null }, []>('SELECT min(seq) AS seq FROM carried'),
    newestSeq: db.prepare<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM carried'),
    insertRecipient: db.prepare<null, [Values]>(
      'INSERT INTO recipients (line, handle) VALUES ($line, $handle) ON CONFLICT DO NOTHING',
    ),
    insertFuture: db.prepare<null, [Values]>(
      `INSERT INTO future (line, due_at, kind, guid, handle, text)
       VALUES ($line, $at, $kind, $guid, $handle, $text)`,
    ),
    insertHappening: db.prepare<null, [Values]>(
      `INSERT INTO happenings (line, kind, guid, handle, text, at)
       VALUES ($line, $kind, $guid, $handle, $text, $at)`,
    ),
    copyDue: db.prepare<null, [Values]>(
      `INSERT INTO happenings (line, kind, guid, handle, text, at)
       SELECT line, kind, guid, handle, text, due_at FROM future WHERE seq IN (${DUE})
       ORDER BY due_at, seq`,
    ),
    deleteDue: db.prepare<null, [Values]>(`DELETE FROM future WHERE seq IN (${DUE})`),
    nextDue: db.prepare<{ at: number | null }, [Values]>(
      'SELECT min(due_at) AS at FROM future WHERE line = $line',
    ),
    happenings: db.prepare<Happening, [Values]>(
      `SELECT seq, kind, guid, handle, text, at FROM happenings
       WHERE line = +$line AND seq > +$seq ORDER BY seq LIMIT +$limit`,
    ),
    lastPosition: db.prepare<{ seq: number }, []>(
      "SELECT seq FROM sqlite_sequence WHERE name = 'happenings'",
    ),
    lastCarriedAt: db.prepare<{ at: number }, []>(
      'SELECT carried_at AS at FROM carried ORDER BY seq DESC LIMIT 1',
    ),
    guidOf: db.prepare<{ guid: string }, [Values]>(
      'SELECT guid FROM carried WHERE message_id = $messageId ORDER BY seq LIMIT 1',
    ),
    history: db.prepare<{ found: number }, [Values]>(
      `SELECT 1 AS found FROM recipients WHERE line = $line AND handle = $handle
       UNION ALL SELECT 1 FROM happenings
         WHERE line = +$line AND handle = +$handle AND kind = 'message' LIMIT 1`,
    ),
    pruneHappenings: db.prepare<null, [Values]>(
      `DELETE FROM happenings WHERE seq IN (
         SELECT seq FROM (SELECT seq, at FROM happenings WHERE line = $line AND seq <= $told
           ORDER BY seq LIMIT +$limit) WHERE at < $before)`,
    ),
    pruneCarried: db.prepare<null, [Values]>(
      `DELETE FROM carried WHERE seq IN (
         SELECT seq FROM (SELECT seq, carried_at FROM carried ORDER BY seq LIMIT +$limit)
         WHERE carried_at < $before AND seq < (SELECT max(seq) FROM carried))`,
    ),
  }
}
