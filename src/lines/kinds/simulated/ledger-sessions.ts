import type { Database } from 'bun:sqlite'

const TABLE = `
CREATE TABLE IF NOT EXISTS sessions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  line TEXT NOT NULL,
  id TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS sessions_by_line ON sessions (line);
`

type Values = Record<string, string>

/**
 * The sessions of each line, in its ledger: the newest one carries, those before it are over, and what
 * they left open is not settled yet. A session that was settled is not kept.
 */
export class LedgerSessions {
  readonly #sql: ReturnType<typeof prepareStatements>

  constructor(db: Database) {
    db.run(TABLE)
    this.#sql = prepareStatements(db)
  }

  /** Begins a session of a line: whatever an earlier one posts from now on is refused. */
  begin(line: string, id: string): void {
    this.#sql.insert.run({ line, id })
  }

  has(line: string, id: string): boolean {
    return this.#sql.find.get({ line, id }) !== null
  }

  /** Throws where a session is over: within a transaction nothing it posts is written. */
  requireNewest(line: string, id: string): void {
    if (this.#sql.newest.get({ line })?.id !== id) throw new Error('The session is over.')
  }

  /** Forgets every session of a line but the newest: what they left open is settled. */
  settle(line: string): void {
    this.#sql.deleteOlder.run({ line })
  }
}

function prepareStatements(db: Database) {
  return {
    insert: db.prepare<null, [Values]>('INSERT INTO sessions (line, id) VALUES ($line, $id)'),
    find: db.prepare<{ seq: number }, [Values]>(
      'SELECT seq FROM sessions WHERE line = $line AND id = $id',
    ),
    newest: db.prepare<{ id: string }, [Values]>(
      'SELECT id FROM sessions WHERE line = $line ORDER BY seq DESC LIMIT 1',
    ),
    deleteOlder: db.prepare<null, [Values]>(
      `DELETE FROM sessions WHERE line = $line
         AND seq < (SELECT max(seq) FROM sessions WHERE line = $line)`,
    ),
  }
}
