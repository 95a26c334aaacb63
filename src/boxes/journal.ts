// The journal of a box, `box.db`: every message that passed its point of no return, written before a device is
// touched. It makes sending twice impossible.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'

import type { LineId, MessageId } from '../domain/ids.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { SendOutcome } from '../lines/driver.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'

export type JournalRow = {
  readonly session: string
  readonly note: string | null
  /** Null until the device has answered. */
  readonly outcome: SendOutcome | null
}

/** The head's note of a send, made when it granted the send. */
type GrantNote = {
  readonly session: string
  readonly boot: string
  /** Mark of the journal at that time; missing from boxes that have no marks. */
  readonly mark?: number | undefined
}

type Entry = {
  readonly session: string
  readonly line: LineId
  readonly message: OutgoingMessage
  readonly note: string | null
}

/** The process that opens the journal. */
type Process = {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  /** Name of the machine, which a copy of its disk on another machine doesn't have. */
  readonly machine: string
}

type Work = {
  readonly run: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

const KEPT_MS = 30 * 24 * 3_600_000
const PRUNE_EVERY_MS = 3_600_000
const BOOTS_MAX = 1_000

// One process has the file: the lock refuses a second one.
const SETUP = `
  PRAGMA busy_timeout = 2000;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  CREATE TABLE IF NOT EXISTS sends (
    message_id TEXT PRIMARY KEY, session TEXT NOT NULL, line TEXT NOT NULL, recipient TEXT NOT NULL,
    text_hash BLOB NOT NULL, note TEXT, at INTEGER NOT NULL, outcome TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sends_by_time ON sends (at);
  CREATE TABLE IF NOT EXISTS boots (seq INTEGER PRIMARY KEY, boot TEXT NOT NULL UNIQUE, machine TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

const HAS_MARK = "SELECT 1 FROM pragma_table_info('boots') WHERE name = 'mark'"
const ADD_MARK = 'ALTER TABLE boots ADD COLUMN mark INTEGER NOT NULL DEFAULT 0'

/** Opens the journal at `path`; throws if it is damaged, or another process has it. */
export function openJournal(path: string, process: Process): Journal {
  const database = new Database(path, { create: true, readwrite: true, strict: true })
  try {
    // A journal restored from a copy lacks what was written since, so it proves nothing about earlier sends.
    const { ino, birthtimeMs } = statSync(path)
    const machine = `${process.machine} ${ino} ${birthtimeMs}`
    return new Journal(database, { ...process, machine })
  } catch (error) {
    database.close()
    throw error
  }
}

export class Journal {
  /** Random name of this process. */
  readonly boot: string
  readonly #database: Database
  readonly #clock: Pick<Clock, 'now'>
  readonly #machine: string
  readonly #waiting: Work[] = []
  #fence: number
  #storedFence: number
  #pruneAt = 0

  constructor(database: Database, { clock, random, machine }: Process) {
    this.#database = database
    this.#clock = clock
    this.#machine = machine
    this.boot = random.bytes(12).toHex()
    database.run(SETUP)
    if (database.query(HAS_MARK).get() === null) database.run(ADD_MARK)
    const { boot } = this
    database.transaction(() => {
      database
        .query('INSERT INTO boots (boot, machine) VALUES ($boot, $machine)')
        .run({ boot, machine })
      database
        .query('DELETE FROM boots WHERE seq <= (SELECT max(seq) FROM boots) - $most')
        .run({ most: BOOTS_MAX })
    })()
    this.#fence = Number(this.#fact('fence') ?? 0)
    this.#storedFence = this.#fence
  }

  /** Highest epoch of a head that this box has seen. */
  get fence(): number {
    return this.#fence
  }

  find(id: MessageId): JournalRow | null {
    const sql = 'SELECT session, note, outcome FROM sends WHERE message_id = $id'
    const row = this.#database
      .query<{ session: string; note: string | null; outcome: string | null }, [{ id: string }]>(
        sql,
      )
      .get({ id })
    if (row === null) return null
    // `settle` wrote the outcome.
    return {
      ...row,
      outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as SendOutcome),
    }
  }

  /** True if the row of the message has this text and this recipient. */
  isOf({ id, to, text }: Pick<OutgoingMessage, 'id' | 'to' | 'text'>): boolean {
    const sql = `SELECT 1 FROM sends
      WHERE message_id = $id AND recipient = $to AND text_hash = $hash`
    return this.#database.query(sql).get({ id, to, hash: sha256(text) }) !== null
  }

  /**
   * The record of a message whose send was `granted`: its row; `none` if it is proven that no device was touched;
   * `lost` if that is unknown. A missing row proves it if the process has written here, on this machine, up to the
   * last mark that the head knows, and no row of so old a message was deleted.
   */
  recordOf(id: MessageId, granted: GrantNote | null): JournalRow | 'none' | 'lost' {
    const isWhole = granted !== null && this.#isWhole(granted)
    const row = this.find(id)
    // An earlier row that left nothing on the device says nothing about a later send.
    const isProof =
      row !== null && (mayHaveLeft(row) || (isWhole && row.session === granted.session))
    if (isProof) return row
    return isWhole && id > (this.#fact('pruned_to') ?? '') ? 'none' : 'lost'
  }

  /** False if an earlier state of the file was restored: the head knows a higher mark of the process `boot`. */
  #isWhole({ boot, mark = 0 }: GrantNote): boolean {
    const sql = 'SELECT 1 FROM boots WHERE boot = $boot AND machine = $machine AND mark >= $mark'
    return this.#database.query(sql).get({ boot, machine: this.#machine, mark }) !== null
  }

  /** Raises the mark before the head is asked for a grant; resolves with the mark once it is on disk. */
  raiseMark(): Promise<number> {
    return this.#write(() => {
      const sql = 'UPDATE boots SET mark = mark + 1 WHERE boot = $boot RETURNING mark'
      const row = this.#database.query<{ mark: number }, [{ boot: string }]>(sql)
      return row.get({ boot: this.boot })?.mark ?? 0
    })
  }

  /**
   * Writes down that a message leaves. False, with nothing written, if `isCurrent` is false in the turn of the
   * insert, or if a row says that the message may have left.
   */
  insert({ session, line, message, note }: Entry, isCurrent: () => boolean): Promise<boolean> {
    return this.#write(() => {
      const known = this.find(message.id)
      if (!isCurrent() || (known !== null && mayHaveLeft(known))) return false
      this.#database
        .query(
          `INSERT OR REPLACE INTO sends (message_id, session, line, recipient, text_hash, note, at)
           VALUES ($id, $session, $line, $recipient, $hash, $note, $at)`,
        )
        .run({
          id: message.id,
          session,
          line,
          recipient: message.to,
          hash: sha256(message.text),
          note,
          at: this.#clock.now(),
        })
      this.#prune()
      return true
    })
  }

  settle(id: MessageId, session: string, outcome: SendOutcome): Promise<void> {
    return this.#write(() => {
      this.#database
        .query('UPDATE sends SET outcome = $outcome WHERE message_id = $id AND session = $session')
        .run({ id, session, outcome: JSON.stringify(outcome) })
    })
  }

  /** Resolves when the epoch is on disk. Sessions of a lower epoch are over from the call on. */
  async raiseFence(epoch: number): Promise<void> {
    const fence = Math.max(this.#fence, epoch)
    this.#fence = fence
    if (fence <= this.#storedFence) return
    await this.#write(() => this.#setFact('fence', String(fence)))
    this.#storedFence = Math.max(fence, this.#storedFence)
  }

  /** Commits the waiting writes, and closes the file. */
  close(): void {
    while (this.#waiting.length > 0) this.#commit()
    this.#database.close()
  }

  /** Writes of one turn share a commit, and so one flush of the disk. */
  #write<T>(run: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ run, resolve, reject })
    if (this.#waiting.length === 1) setImmediate(() => this.#commit())
    return promise
  }

  #commit(): void {
    const group = this.#waiting.splice(0)
    if (group.length === 0) return
    try {
      const all = this.#database.transaction(() =>
        group.map(({ run, resolve }) => {
          const value = run() as never // `#write` tied its type to that of the promise.
          return () => resolve(value)
        }),
      )
      for (const settle of all.immediate()) settle()
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  #prune(): void {
    const now = this.#clock.now()
    if (now < this.#pruneAt && now > this.#pruneAt - PRUNE_EVERY_MS) return
    this.#pruneAt = now + PRUNE_EVERY_MS
    const old = { until: now - KEPT_MS }
    const sql = 'SELECT max(message_id) AS id FROM sends WHERE at < $until'
    const newest = this.#database.query<{ id: string | null }, [typeof old]>(sql).get(old)?.id
    if (newest === null || newest === undefined) return
    if (newest > (this.#fact('pruned_to') ?? '')) this.#setFact('pruned_to', newest)
    this.#database.query('DELETE FROM sends WHERE at < $until').run(old)
  }

  #fact(name: string): string | null {
    const sql = 'SELECT value FROM facts WHERE name = $name'
    return (
      this.#database.query<{ value: string }, [{ name: string }]>(sql).get({ name })?.value ?? null
    )
  }

  #setFact(name: string, value: string): void {
    this.#database
      .query('INSERT OR REPLACE INTO facts (name, value) VALUES ($name, $value)')
      .run({ name, value })
  }
}

/** False only if the driver promised that the device has nothing of the message. */
export function mayHaveLeft({ outcome }: JournalRow): boolean {
  return outcome?.outcome !== 'not_sent' || outcome.blame !== 'line'
}
