// chat.db during a run of the line: opens it, recognizes it, reads it whenever it has changed, and opens it
// again if it was replaced or fails.

import { dirname } from 'node:path'

import type { Unsettled } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import type { DriverLine, LineEvent } from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { type ChatDb, ChatDbError } from './chat-db.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import type { MacTrouble } from './condition.ts'
import { type Expectation, expectationOf, partsOf, readNote } from './expectation.ts'
import type { MessagesDb } from './mac-host.ts'
import { MessageFiles } from './message-files.ts'
import { Owner } from './own-addresses.ts'
import { OwnMessages, MultipartSend, settledEvent } from './own-messages.ts'
import { type Publish, Reading } from './reading.ts'
import { RowEvents } from './row-events.ts'

/** Reads at least this often, even without a new `data_version`. */
const READ_ANYWAY_MS = 5_000
const OPEN_AGAIN_MS = 15_000
/** A database that fails during a read may just be in the middle of being replaced. */
const RECOVER_MS = 1_000
const FAILURES_MAX = 3
const ALIASES_EVERY_MS = 600_000
const CHECKPOINT_EVERY_MS = 60_000
/** A rebuilt database is read again from this long before the last published message on. */
const REREAD_MS = 600_000
const ROWS_MAX = 5_000

const TROUBLE_OF_ERROR = {
  absent: 'chat_db_absent',
  denied: 'full_disk_access',
  wrong_owner: 'wrong_owner',
  unreadable: 'chat_db_unreadable',
} as const satisfies Record<ChatDbError['code'], MacTrouble>

export function troubleOf(error: unknown): MacTrouble {
  return TROUBLE_OF_ERROR[error instanceof ChatDbError ? error.code : 'unreadable']
}

export class DatabaseWatch {
  readonly own = new OwnMessages()
  readonly owner: Owner
  readonly #host: KindHost
  readonly #chatDb: MessagesDb
  readonly #line: DriverLine
  readonly #publish: Publish
  #db: ChatDb | null = null
  #reading: Reading | null = null
  #trouble: MacTrouble | null = null
  #failures = 0
  #openAt = 0
  #version: number | null = null
  #readAt = -Infinity
  #ownerReadAt = -Infinity
  #publishedHealthyAt = 0
  #checkpointAt: number

  constructor(host: KindHost, chatDb: MessagesDb, line: DriverLine, publish: Publish) {
    this.#host = host
    this.#chatDb = chatDb
    this.#line = line
    this.#publish = publish
    this.owner = new Owner(line.number)
    this.#checkpointAt = host.clock.monotonic()
  }

  get db(): ChatDb | null {
    return this.#db
  }

  get trouble(): MacTrouble | null {
    return this.#trouble
  }

  get reading(): Reading | null {
    return this.#reading
  }

  close(): void {
    this.#db?.close()
    this.#db = null
    this.#openAt = 0
  }

  /** Closes a database that failed during a read; after several failures it counts as unreadable. */
  lose(error: unknown): void {
    this.close()
    this.#failures += 1
    this.#openAt = this.#host.clock.monotonic() + RECOVER_MS
    if (this.#failures < FAILURES_MAX) return
    if (this.#trouble === null) this.#host.log.warn('chat.db cannot be read', { error })
    this.#trouble = 'chat_db_unreadable'
  }

  /** Opens the database if it is closed and due; returns false if it did nothing. */
  async open(): Promise<boolean> {
    const { clock } = this.#host
    if (this.#db !== null || clock.monotonic() < this.#openAt) return false
    try {
      this.#db = this.#chatDb.open()
      this.#db.useHome(this.owner.home)
      if (this.#trouble !== 'chat_db_unreadable') this.#trouble = null
    } catch (error) {
      this.#openAt = clock.monotonic() + OPEN_AGAIN_MS
      this.#trouble = troubleOf(error)
      return true
    }
    this.#version = null
    this.#readOwner(this.#db)
    this.#reading ??= await this.#begin(this.#db)
    return true
  }

  /** Publishes what is new. Throws if the database fails or an event could not be stored. */
  async readNew(signal: AbortSignal): Promise<void> {
    const [db, reading] = [this.#db, this.#reading]
    if (db === null || reading === null) return
    const { clock } = this.#host
    const now = clock.monotonic()
    const isDue = now - this.#readAt >= READ_ANYWAY_MS
    if (isDue && !db.isSameFile()) {
      this.close()
      return
    }
    const version = db.dataVersion()
    if (version === this.#version && !isDue && !reading.isWaiting) return
    this.#readAt = now
    if (now - this.#ownerReadAt >= ALIASES_EVERY_MS) this.#readOwner(db)
    if (!isKnown(db, reading.checkpoint)) await this.#restart(db, reading)
    await reading.tick(db, signal)
    const receipts = this.own.tracker.sweep(db, clock.now())
    await this.#publish(receipts.map((receipt) => ({ type: 'receipt', receipt, checkpoint: null })))
    this.#version = version
    this.#failures = 0
    this.#trouble = null
    await this.#storeHealthyAt(reading, now)
  }

  /** Recognizes our own earlier rows before anything is read. */
  async #begin(db: ChatDb): Promise<Reading> {
    const known = readCheckpoint(this.#line.checkpoint)
    const start = known ?? this.#firstCheckpoint(db)
    const { clock } = this.#host
    const { settled, failing } = restoreSends(db, this.#line, this.own, clock)
    await this.#publish(settled)
    const incomplete = [...new Set([...start.incomplete, ...failing])]
    const files = new MessageFiles(clock, dirname(this.#chatDb.path))
    const events = new RowEvents(clock, this.own, this.owner, files)
    const reading = new Reading(clock, events, this.#publish, { ...start, incomplete })
    files.follow(this.#line.awaited)
    if (known !== null) reading.resume(db)
    else {
      reading.begin(db)
      // Without a stored checkpoint, a second start would begin at a later row than this one.
      await reading.publishCheckpoint()
    }
    this.#publishedHealthyAt = reading.checkpoint.healthyAt
    return reading
  }

  #firstCheckpoint(db: ChatDb): Checkpoint {
    const now = this.#host.clock.now()
    return {
      rowId: db.maxRowId(),
      incomplete: [],
      sequence: db.sequence(),
      lastRows: db.lastRows(),
      since: now,
      healthyAt: now,
      lastAt: now,
    }
  }

  async #restart(db: ChatDb, reading: Reading): Promise<void> {
    this.#host.log.warn(
      'chat.db was rebuilt or replaced: reading continues from its newest message',
    )
    this.own.forgetRowIds()
    this.own.tracker.relocate(db)
    const rowId = db.maxRowId()
    const lastAt = Math.min(reading.checkpoint.lastAt, this.#host.clock.now())
    const rows = db.rowsSince(lastAt - REREAD_MS, ROWS_MAX)
    await reading.restart(db, rows, rowId)
  }

  /** Stores the healthy time once a minute, so that after a crash it is at most a minute too early. */
  async #storeHealthyAt(reading: Reading, now: number): Promise<void> {
    const { healthyAt } = reading.checkpoint
    const isDue = now - this.#checkpointAt >= CHECKPOINT_EVERY_MS
    if (healthyAt === this.#publishedHealthyAt || !isDue) return
    this.#checkpointAt = now
    this.#publishedHealthyAt = healthyAt
    await reading.publishCheckpoint()
  }

  #readOwner(db: ChatDb): void {
    const { clock } = this.#host
    this.owner.read(db, clock.now())
    this.#ownerReadAt = clock.monotonic()
  }
}

/**
 * Checks that a checkpoint belongs to this database. The file may be a copy, and its device number changes with each
 * boot, so only the ids of its newest rows count.
 */
function isKnown(db: ChatDb, { lastRows, sequence }: Checkpoint): boolean {
  if (db.sequence() < sequence) return false
  const guids = db.guidsAt(lastRows.map(({ rowId }) => rowId))
  const found = lastRows.filter(({ rowId }) => guids.has(rowId))
  const isSame = found.every(({ rowId, guid }) => guids.get(rowId) === guid)
  return isSame && (found.length > 0 || lastRows.length === 0)
}

/** By this age, a message has all its rows. */
const RECENT_MS = 60_000

/**
 * Searches for the rows of messages that a crash left open, and follows rows that may get new receipts. `failing` are
 * our rows with an error, which may clear or be followed by another row.
 */
function restoreSends(
  db: ChatDb,
  line: DriverLine,
  own: OwnMessages,
  clock: Clock,
): { readonly settled: readonly LineEvent[]; readonly failing: readonly number[] } {
  followOpen(db, line, own, clock.now())
  expectUnsettled(db, line, own, clock.now())
  const earliest = Math.min(...line.unsettled.map((open) => expectationOf(open, db.identity).from))
  const settled: LineEvent[] = []
  const failing: number[] = []
  const rows = line.unsettled.length === 0 ? [] : db.rowsSince(earliest, ROWS_MAX)
  for (const row of rows) {
    const match = own.match(row)
    if (match?.kind === 'failing') failing.push(row.rowId)
    const event = match === null ? null : settledEvent(own, match, row, clock.now())
    if (event !== null) settled.push(event)
  }
  return { settled, failing }
}

function followOpen(db: ChatDb, line: DriverLine, own: OwnMessages, now: number): void {
  for (const { guid, note } of line.open) {
    const rowId = db.rowIdOf(guid)
    if (rowId === null) continue
    own.tracker.follow({ rowId, guid }, 'sent', now)
    const isRecent = now - (readNote(note)?.at ?? 0) < RECENT_MS
    if (isRecent) for (const row of db.rowsAt([rowId])) own.restore(row)
  }
}

/** A message whose row is known is followed by that row; for other messages, the rows are searched. */
function expectUnsettled(db: ChatDb, line: DriverLine, own: OwnMessages, now: number): void {
  for (const unsettled of line.unsettled) {
    const { platformGuid } = unsettled.message
    const parts = unsettledParts(db, unsettled)
    const last = parts.at(-1)
    const rowId = platformGuid === null ? null : db.rowIdOf(platformGuid)
    const [row] = rowId === null ? [] : db.rowsAt([rowId])
    if (row === undefined || last === undefined) {
      expectParts(parts, own)
      continue
    }
    own.tracker.follow(row, 'held', now)
    // Only the last part is held: the earlier parts are proven.
    own.expectSecond({ ...last, part: undefined }, row)
  }
}

/** Searches for each part separately, because a crash may have come between two parts. */
function expectParts(parts: readonly Expectation[], own: OwnMessages): void {
  for (const part of parts) own.expect(part, false)
  const [first] = parts
  if (first?.part !== undefined) own.multipart.keep(first.messageId, new MultipartSend(parts, null))
}

/** Without a note, the names of the copied files are unknown, so files prove nothing. */
function unsettledParts(db: ChatDb, unsettled: Unsettled): readonly Expectation[] {
  const { message, note } = unsettled
  const files = readNote(note)?.files ?? []
  if (files.length === 0 && (message.attachments ?? []).length > 0) return []
  return partsOf(expectationOf(unsettled, db.identity), files)
}
