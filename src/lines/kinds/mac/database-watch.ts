// chat.db during a run of the line: opened, recognised, read whenever it has changed, and opened again
// when it was replaced or fails.

import { type Handle, type Home, homeOfNumber } from '../../../domain/handle.ts'
import type { Unsettled } from '../../../domain/message.ts'
import type { Log } from '../../../system/log.ts'
import type { DriverLine, LineEvent } from '../../driver.ts'
import { type ChatDb, ChatDbError } from './chat-db.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'
import type { MacTrouble } from './condition.ts'
import { type Expectation, expectationOf, partsOf, readNote } from './expectation.ts'
import { addressCounts, ownPeople, usedSince } from './own-addresses.ts'
import { PartedSend, settledEvent } from './own-messages.ts'
import { personBehind } from './people.ts'
import { Reading } from './reading.ts'
import type { ReadingTools } from './row-events.ts'

export type DatabaseWatchTools = Omit<ReadingTools, 'isOwnAlias' | 'number'> & {
  readonly log: Log
  readonly open: () => ChatDb
}

/** Longest time between two looks: nothing is missed for longer, even without a new `data_version`. */
const LOOK_ANYWAY_MS = 5_000
const OPEN_AGAIN_MS = 15_000
/** A database that fails during a read is opened again soon: it may just be being replaced. */
const RECOVER_MS = 1_000
const FAILURES_MAX = 3
const ALIASES_EVERY_MS = 600_000
const CHECKPOINT_EVERY_MS = 60_000
/** A rebuilt database is read again from this long before the last published message. */
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
  readonly #tools: DatabaseWatchTools
  readonly #line: DriverLine
  #db: ChatDb | null = null
  #reading: Reading | null = null
  #trouble: MacTrouble | null = null
  #failures = 0
  #openAt = 0
  #version: number | null = null
  #lookedAt = -Infinity
  readonly #home: Home | null
  #ownPeople: ReadonlySet<Handle> = new Set()
  #aliases: ReadonlyMap<string, number> = new Map()
  #aliasesAt = -Infinity
  /** Healthy moment of the last checkpoint that was published for it. */
  #publishedHealthyAt = 0
  #checkpointAt: number

  constructor(tools: DatabaseWatchTools, line: DriverLine) {
    this.#tools = tools
    this.#line = line
    this.#home = homeOfNumber(line.number)
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

  /** Our own addresses, with their counts among the last messages. */
  get aliases(): ReadonlyMap<string, number> {
    return this.#aliases
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
    this.#openAt = this.#tools.clock.monotonic() + RECOVER_MS
    if (this.#failures < FAILURES_MAX) return
    if (this.#trouble === null) this.#tools.log.warn('chat.db cannot be read', { error })
    this.#trouble = 'chat_db_unreadable'
  }

  /** Opens the database where it is closed and due; false where there was nothing to do. */
  async open(): Promise<boolean> {
    const { clock, open } = this.#tools
    if (this.#db !== null || clock.monotonic() < this.#openAt) return false
    try {
      this.#db = open()
      this.#db.useHome(this.#home)
      if (this.#trouble !== 'chat_db_unreadable') this.#trouble = null
    } catch (error) {
      this.#openAt = clock.monotonic() + OPEN_AGAIN_MS
      this.#trouble = troubleOf(error)
      return true
    }
    this.#version = null
    this.#readAliases(this.#db)
    this.#reading ??= await this.#begin(this.#db)
    return true
  }

  /** Reads and publishes what is new. Throws where the database fails, or an event could not be stored. */
  async look(signal: AbortSignal): Promise<void> {
    const [db, reading] = [this.#db, this.#reading]
    if (db === null || reading === null) return
    const { tracker, clock, publish } = this.#tools
    const now = clock.monotonic()
    const isDue = now - this.#lookedAt >= LOOK_ANYWAY_MS
    if (isDue && !db.isSameFile()) {
      this.close()
      return
    }
    const version = db.dataVersion()
    if (version === this.#version && !isDue && !reading.isWaiting) return
    this.#lookedAt = now
    if (now - this.#aliasesAt >= ALIASES_EVERY_MS) this.#readAliases(db)
    if (!isKnown(db, reading.checkpoint)) await this.#restart(db, reading)
    await reading.tick(db, signal)
    const receipts = tracker.sweep(db, clock.now())
    await publish(receipts.map((receipt) => ({ type: 'receipt', receipt, checkpoint: null })))
    this.#version = version
    this.#failures = 0
    this.#trouble = null
    await this.#storeHealthyAt(reading, now)
  }

  /** First look of the run: our own rows are matched before anything is read. */
  async #begin(db: ChatDb): Promise<Reading> {
    const known = readCheckpoint(this.#line.checkpoint)
    const start = known ?? this.#firstCheckpoint(db)
    const { events, failing } = restoreSends(db, this.#line, this.#tools)
    await this.#tools.publish(events)
    const incomplete = [...new Set([...start.incomplete, ...failing])]
    const isOwnAlias = (handle: string) => this.#isOwn(handle)
    const { number, awaited } = this.#line
    const reading = new Reading({ ...this.#tools, isOwnAlias, number }, { ...start, incomplete })
    this.#tools.files.follow(awaited)
    if (known !== null) reading.resume(db)
    else {
      reading.begin(db)
      // Without a checkpoint on disk, a second start would begin later than this one.
      await reading.publishCheckpoint()
    }
    this.#publishedHealthyAt = reading.checkpoint.healthyAt
    return reading
  }

  #firstCheckpoint(db: ChatDb): Checkpoint {
    const now = this.#tools.clock.now()
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

  /** Starts over in another database: it was rebuilt, restored or replaced. */
  async #restart(db: ChatDb, reading: Reading): Promise<void> {
    const { own, tracker, log } = this.#tools
    log.warn('chat.db was rebuilt or replaced: reading continues from its newest message')
    own.forgetRowIds()
    tracker.relocate(db)
    const rowId = db.maxRowId()
    const lastAt = Math.min(reading.checkpoint.lastAt, this.#tools.clock.now())
    const rows = db.rowsSince(lastAt - REREAD_MS, ROWS_MAX)
    await reading.restart(db, rows, rowId)
  }

  /** Stores the last healthy moment once a minute: a crash makes it a little older. */
  async #storeHealthyAt(reading: Reading, now: number): Promise<void> {
    const { healthyAt } = reading.checkpoint
    const isDue = now - this.#checkpointAt >= CHECKPOINT_EVERY_MS
    if (healthyAt === this.#publishedHealthyAt || !isDue) return
    this.#checkpointAt = now
    this.#publishedHealthyAt = healthyAt
    await reading.publishCheckpoint()
  }

  #readAliases(db: ChatDb): void {
    const { clock } = this.#tools
    const now = clock.now()
    this.#ownPeople = ownPeople(db.usesOfEach(usedSince(now)), now, this.#home)
    this.#aliases = addressCounts(db.ownUses(), now)
    this.#aliasesAt = clock.monotonic()
  }

  #isOwn(handle: string): boolean {
    const person = personBehind(handle, this.#home)
    return person === personBehind(this.#line.number, this.#home) || this.#ownPeople.has(person)
  }
}

/**
 * True where a checkpoint is of this database. The file may be a copy, and the number of its device
 * changes with each boot; only the ids of its newest rows count.
 */
function isKnown(db: ChatDb, { lastRows, sequence }: Checkpoint): boolean {
  if (db.sequence() < sequence) return false
  const guids = db.guidsAt(lastRows.map(({ rowId }) => rowId))
  const found = lastRows.filter(({ rowId }) => guids.has(rowId))
  const isSame = found.every(({ rowId, guid }) => guids.get(rowId) === guid)
  return isSame && (found.length > 0 || lastRows.length === 0)
}

type SendTools = Pick<DatabaseWatchTools, 'clock' | 'own' | 'tracker' | 'parts'>

/** An older message has all its rows already. */
const RECENT_MS = 60_000

/**
 * Looks for the rows of messages that a crash left open, and follows those whose receipts may have come
 * meanwhile. `failing` are rows of ours with an error, which may clear or be followed by another row.
 */
function restoreSends(
  db: ChatDb,
  line: DriverLine,
  tools: SendTools,
): { readonly events: readonly LineEvent[]; readonly failing: readonly number[] } {
  followOpen(db, line, tools)
  expectUnsettled(db, line, tools)
  const { own, clock } = tools
  const earliest = Math.min(...line.unsettled.map((open) => expectationOf(open, db.identity).from))
  const events: LineEvent[] = []
  const failing: number[] = []
  const rows = line.unsettled.length === 0 ? [] : db.rowsSince(earliest, ROWS_MAX)
  for (const row of rows) {
    const match = own.match(row)
    if (match?.kind === 'failing') failing.push(row.rowId)
    const event = match === null ? null : settledEvent(tools, match, row, clock.now())
    if (event !== null) events.push(event)
  }
  return { events, failing }
}

function followOpen(db: ChatDb, line: DriverLine, { own, tracker, clock }: SendTools): void {
  const now = clock.now()
  for (const { guid, note } of line.open) {
    const rowId = db.rowIdOf(guid)
    if (rowId === null) continue
    tracker.follow({ rowId, guid }, 'sent', now)
    const isRecent = now - (readNote(note)?.at ?? 0) < RECENT_MS
    if (isRecent) for (const row of db.rowsAt([rowId])) own.restore(row)
  }
}

/** A message that Messages has already is followed by its row; the rows of the others are looked for. */
function expectUnsettled(db: ChatDb, line: DriverLine, tools: SendTools): void {
  const { own, tracker, clock } = tools
  for (const unsettled of line.unsettled) {
    const { platformGuid } = unsettled.message
    const parts = unsettledParts(db, unsettled)
    const last = parts.at(-1)
    const rowId = platformGuid === null ? null : db.rowIdOf(platformGuid)
    const [row] = rowId === null ? [] : db.rowsAt([rowId])
    if (row === undefined || last === undefined) {
      expectParts(parts, tools)
      continue
    }
    tracker.follow(row, 'held', clock.now())
    // Only the last part is held: the others are proven.
    own.expectSecond({ ...last, part: undefined }, row)
  }
}

/** Each part of a message is looked for by itself: a crash may have come between two. */
function expectParts(parts: readonly Expectation[], { own, parts: open }: SendTools): void {
  for (const part of parts) own.expect(part, false)
  const [first] = parts
  if (first?.part !== undefined) open.keep(first.messageId, new PartedSend(parts, null))
}

/** Without a note, nobody knows under which names its files would be there: they prove nothing. */
function unsettledParts(db: ChatDb, unsettled: Unsettled): readonly Expectation[] {
  const { message, note } = unsettled
  const files = readNote(note)?.files ?? []
  if (files.length === 0 && (message.attachments ?? []).length > 0) return []
  return partsOf(expectationOf(unsettled, db.identity), files)
}
