// chat.db while a line is attended: opened, recognised, read whenever it has changed, opened again when
// it was replaced or fails.

import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { DriverLine, LineEvent } from '../../driver.ts'
import { ChatDbError, type ChatDb } from './chat-db.ts'
import { readCheckpoint, type Checkpoint } from './checkpoint.ts'
import { claimBefore } from './claim-before.ts'
import type { OwnMessages } from './own-messages.ts'
import { Reading } from './reading.ts'
import type { MacTrouble } from './reasons.ts'
import type { StatusTracker } from './status-tracker.ts'

export type DatabaseWatchTools = {
  readonly clock: Clock
  readonly log: Log
  readonly open: () => ChatDb
  readonly own: OwnMessages
  readonly tracker: StatusTracker
  readonly tell: (events: readonly LineEvent[]) => Promise<void>
}

/** A look without a change of `data_version`: nothing is missed for longer. */
const LOOK_ANYWAY_MS = 5_000
const OPEN_AGAIN_MS = 15_000
/** A database that fails while it is read is opened again soon: it may just be being replaced. */
const RECOVER_MS = 1_000
const FAILURES_MAX = 3
const ALIASES_EVERY_MS = 600_000
const CHECKPOINT_EVERY_MS = 60_000
/** A rebuilt database is read again from this long before the last message that was told. */
const REREAD_MS = 600_000
const ROWS_MAX = 5_000

export const TROUBLE_OF_ERROR = {
  absent: 'chat_db_absent',
  denied: 'full_disk_access',
  wrong_owner: 'wrong_owner',
  unreadable: 'chat_db_unreadable',
} as const satisfies Record<ChatDbError['code'], MacTrouble>

export class DatabaseWatch {
  readonly #tools: DatabaseWatchTools
  readonly #line: DriverLine
  #db: ChatDb | null = null
  #reading: Reading | null = null
  #trouble: MacTrouble | null = null
  #failures = 0
  #openAt = 0
  #version: number | null = null
  #lookedAt = -Infinity
  #aliases: ReadonlyMap<string, number> = new Map()
  #aliasesAt = -Infinity
  #toldGood = 0
  #checkpointAt: number

  constructor(tools: DatabaseWatchTools, line: DriverLine) {
    this.#tools = tools
    this.#line = line
    this.#checkpointAt = tools.clock.monotonic()
  }

  /** Null while it cannot be read. */
  get db(): ChatDb | null {
    return this.#db
  }

  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  get reading(): Reading | null {
    return this.#reading
  }

  /** Our own addresses, and how many of the last messages they stand on. */
  get aliases(): ReadonlyMap<string, number> {
    return this.#aliases
  }

  markGood(): void {
    this.#reading?.markGood(this.#tools.clock.now())
  }

  close(): void {
    this.#db?.close()
    this.#db = null
    this.#openAt = 0
  }

  /** Reading failed: the database is opened again, and called unreadable when that does not help. */
  lose(error: unknown): void {
    this.close()
    this.#failures += 1
    this.#openAt = this.#tools.clock.monotonic() + RECOVER_MS
    if (this.#failures < FAILURES_MAX) return
    if (this.#trouble === null) this.#tools.log.warn('chat.db cannot be read', { error })
    this.#trouble = 'chat_db_unreadable'
  }

  /** Opens the database where it is closed and it is time; true where it has just been opened. */
  async open(): Promise<boolean> {
    if (this.#db !== null || this.#tools.clock.monotonic() < this.#openAt) return false
    const db = this.#tryOpen()
    if (db === null) return true
    this.#db = db
    this.#version = null
    this.#readAliases(db)
    this.#reading ??= await this.#begin(db)
    return true
  }

  /** Reads and tells what is new. Throws where the database fails, or an event could not be told. */
  async look(signal: AbortSignal): Promise<void> {
    const reading = this.#reading
    if (this.#db === null || reading === null) return
    const now = this.#tools.clock.monotonic()
    const isDue = now - this.#lookedAt >= LOOK_ANYWAY_MS
    if (isDue && !this.#db.isSameFile()) {
      this.close()
      return
    }
    const version = this.#db.dataVersion()
    if (version === this.#version && !isDue && !reading.isHolding) return
    this.#lookedAt = now
    if (now - this.#aliasesAt >= ALIASES_EVERY_MS) this.#readAliases(this.#db)
    if (!isKnown(this.#db, reading.checkpoint)) await this.#anchorAnew(this.#db, reading)
    await reading.tick(this.#db, signal)
    await this.#tellReceipts(this.#db)
    this.#version = version
    this.#failures = 0
    this.#trouble = null
    await this.#keepGood(reading, now)
  }

  #tryOpen(): ChatDb | null {
    const { open, clock } = this.#tools
    try {
      const db = open()
      if (this.#trouble !== 'chat_db_unreadable') this.#trouble = null
      return db
    } catch (error) {
      this.#openAt = clock.monotonic() + OPEN_AGAIN_MS
      this.#trouble = TROUBLE_OF_ERROR[error instanceof ChatDbError ? error.code : 'unreadable']
      return null
    }
  }

  /** The first look in this life of the line: our own rows are claimed before anything is read. */
  async #begin(db: ChatDb): Promise<Reading> {
    const known = readCheckpoint(this.#line.checkpoint)
    const start = known ?? this.#firstCheckpoint(db)
    const claims = claimBefore(db, this.#line, this.#tools)
    await this.#tools.tell(claims.events)
    const held = [...new Set([...start.held, ...claims.ill])]
    const isOwnAlias = (handle: string) => this.#isOwnAlias(handle)
    const reading = new Reading({ ...this.#tools, isOwnAlias }, { ...start, held })
    // Without a checkpoint on disk, a second start would begin later than this one.
    if (known === null) await reading.tellCheckpoint()
    this.#toldGood = reading.checkpoint.good
    return reading
  }

  #firstCheckpoint(db: ChatDb): Checkpoint {
    const now = this.#tools.clock.now()
    return {
      rowId: db.maxRowId(),
      held: [],
      sequence: db.sequence(),
      witnesses: db.witnesses(),
      since: now,
      good: now,
      lastAt: now,
    }
  }

  /** Another database than the one that was read: it was rebuilt, restored or replaced. */
  async #anchorAnew(db: ChatDb, reading: Reading): Promise<void> {
    const { own, tracker, log } = this.#tools
    log.warn('chat.db is another one than before: reading goes on from its newest message')
    own.rebase()
    tracker.relocate(db)
    const rowId = db.maxRowId()
    const rows = db.rowsSince(reading.checkpoint.lastAt - REREAD_MS, ROWS_MAX)
    await reading.anchor(db, rows, rowId)
  }

  async #tellReceipts(db: ChatDb): Promise<void> {
    const { tracker, clock, tell } = this.#tools
    const receipts = tracker.sweep(db, clock.now())
    await tell(receipts.map((receipt) => ({ type: 'receipt', receipt, checkpoint: null })))
  }

  /** The last good moment reaches the disk once a minute: a crash makes it a little older. */
  async #keepGood(reading: Reading, now: number): Promise<void> {
    const { good } = reading.checkpoint
    if (good === this.#toldGood || now - this.#checkpointAt < CHECKPOINT_EVERY_MS) return
    this.#checkpointAt = now
    this.#toldGood = good
    await reading.tellCheckpoint()
  }

  #readAliases(db: ChatDb): void {
    this.#aliases = db.aliases()
    this.#aliasesAt = this.#tools.clock.monotonic()
  }

  #isOwnAlias(handle: string): boolean {
    return handle === this.#line.number || this.#aliases.has(handle)
  }
}

/**
 * Whether a checkpoint speaks of this database. The file may be a copy, and the number of its device
 * changes with each boot; what counts is that the newest rows of then are the same ones.
 */
function isKnown(db: ChatDb, { witnesses, sequence }: Checkpoint): boolean {
  if (db.sequence() < sequence) return false
  const guids = db.guidsAt(witnesses.map(({ rowId }) => rowId))
  const found = witnesses.filter(({ rowId }) => guids.has(rowId))
  const isSame = found.every(({ rowId, guid }) => guids.get(rowId) === guid)
  return isSame && (found.length > 0 || witnesses.length === 0)
}
