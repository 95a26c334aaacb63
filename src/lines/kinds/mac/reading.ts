// Turns rows above the cursor into events, in order. Incomplete rows wait, with later rows of the same
// person behind them; the checkpoint remembers them.

import type { Handle } from '../../../domain/handle.ts'
import type { Clock } from '../../../system/clock.ts'
import type { LineEvent } from '../../driver.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { type Checkpoint, checkpointText, REPEATS_MAX } from './checkpoint.ts'
import { ageOf, type Context, classify, isMessage, OLD_AGE_MS } from './classify.ts'
import { EditWatch } from './edits.ts'
import { keyOf } from './expectation.ts'
import { failedEvent, type RowMatch, settledEvent } from './own-messages.ts'
import { WATCHED_MS } from './published-rows.ts'
import { Replays } from './replays.ts'
import type { Classified, Counted, RowEvents } from './row-events.ts'
import { ERROR_GRACE_MS, reasonOf } from './status-tracker.ts'
import { UndatedRows } from './undated-rows.ts'

type Outcome = LineEvent | 'wait' | 'wait_patiently' | null

/** A stored time that is ahead by more came from a wrong clock; by less, from a clock that is wrong now. */
const CLOCK_STEP_MS_MAX = 24 * 3_600_000
const PAGE_MAX = 100
/** If this many urgent rows wait, nothing new is read. */
const URGENT_MAX = 200
/** Patient rows beyond this number are not waited for. */
const PATIENT_MAX = 200

const MORE: RowMatch = { kind: 'more' }

/** Resolves once all events are durable; rejects if one could not be stored. */
export type Publish = (events: readonly LineEvent[]) => Promise<void>

export class Reading {
  readonly #clock: Clock
  readonly #events: RowEvents
  readonly #publish: Publish
  readonly #incomplete: IncompleteRows
  readonly #backFill: BackFillWatch
  readonly #replays: Replays
  readonly #undated: UndatedRows
  readonly #edits: EditWatch
  readonly #repeats: Set<string>
  #checkpoint: Checkpoint

  constructor(clock: Clock, events: RowEvents, publish: Publish, checkpoint: Checkpoint) {
    this.#clock = clock
    this.#events = events
    this.#publish = publish
    this.#checkpoint = checkpoint
    this.#incomplete = new IncompleteRows(clock, checkpoint.incomplete)
    this.#backFill = new BackFillWatch(clock)
    this.#replays = new Replays(clock)
    this.#undated = new UndatedRows(clock)
    this.#edits = new EditWatch(checkpoint.edits ?? [])
    this.#repeats = new Set(checkpoint.repeats)
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint
  }

  /** True if rows wait for something that may come at any moment: the next tick must check them. */
  get isWaiting(): boolean {
    return this.#incomplete.urgentCount > 0 || this.#events.isWaiting
  }

  countOf(what: Counted): number {
    return this.#events.countOf(what)
  }

  /** Publishes everything new; resolves once it is durable, together with its checkpoint. */
  async tick(db: ChatDb, signal: AbortSignal): Promise<void> {
    const waiting = db.rowsAt(this.#incomplete.rowIds)
    this.#incomplete.releaseAllBut(waiting)
    if (waiting.length > 0) await this.#take(db, waiting, this.#checkpoint.rowId)
    while (!signal.aborted && this.#incomplete.urgentCount < URGENT_MAX) {
      const rows = db.rowsAfter(this.#checkpoint.rowId, PAGE_MAX)
      const last = rows.at(-1)
      if (last !== undefined) await this.#take(db, rows, last.rowId)
      if (rows.length < PAGE_MAX) break
    }
    if (!signal.aborted) await this.#publishChanges(db)
  }

  /** Marks edits from before the first run as known. */
  begin(db: ChatDb): void {
    this.#edits.begin(db, this.#clock.now())
    this.#checkpoint = { ...this.#checkpoint, edits: this.#edits.known }
  }

  /** Continues after an earlier run, whose last messages may still get files. */
  resume(db: ChatDb): void {
    const isRead = this.#isRead()
    const rows = db.rowsSince(this.#clock.now() - WATCHED_MS, PAGE_MAX)
    for (const row of rows) {
      const isPublished = isRead(row.rowId) && isMessage(row) && !row.isFromMe
      if (isPublished) this.#events.watch(row)
    }
  }

  #isRead(): (rowId: number) => boolean {
    const { rowId } = this.#checkpoint
    const incomplete = new Set(this.#incomplete.rowIds)
    return (id) => id <= rowId && !incomplete.has(id)
  }

  /** Publishes later changes of messages: files, edits and unsends. */
  async #publishChanges(db: ChatDb): Promise<void> {
    const { healthyAt, since } = this.#checkpoint
    const query = { now: this.#clock.now(), healthyAt, isRead: this.#isRead() }
    const edited = this.#edits.takeChanged(db, query)
    const events = edited.flatMap((row) => this.#events.editEvent(db, row, since))
    await this.#publish([...events, ...this.#events.additions(db)])
    if (edited.length === 0) return
    this.#checkpoint = { ...this.#checkpoint, edits: this.#edits.known }
    await this.publishCheckpoint()
  }

  /** Continues in a rebuilt database: publishes `rows` again (known guids are ignored), then reads on from `rowId`. */
  async restart(db: ChatDb, rows: readonly MessageRow[], rowId: number): Promise<void> {
    this.#incomplete.clear()
    this.#edits.clear()
    this.#events.forgetRowIds()
    await this.#take(db, rows, rowId)
  }

  /** Notes that all is well at `now`, to which ages are counted. A later stored time stays if it may be right. */
  markHealthy(now: number): void {
    const { since, healthyAt } = this.#checkpoint
    const known = healthyAt - now > CLOCK_STEP_MS_MAX ? now : Math.max(healthyAt, now)
    this.#checkpoint = { ...this.#checkpoint, since: Math.min(since, now), healthyAt: known }
  }

  async publishCheckpoint(): Promise<void> {
    const checkpoint = checkpointText(this.#checkpoint)
    await this.#publish([{ type: 'checkpoint', checkpoint }])
  }

  async #take(db: ChatDb, rows: readonly MessageRow[], rowId: number): Promise<void> {
    this.#replays.see(rows)
    const newRows = rows.filter((row) => !this.#incomplete.has(row))
    const isBackFill = this.#backFill.isBackFill(newRows, this.#healthyAt)
    this.#undated.note(db, newRows)
    const countBefore = this.#incomplete.rowIds.length
    const events = rows.flatMap((row) => {
      const outcome = this.#incomplete.isBehind(row) ? 'wait' : this.#outcomeOf(db, row, isBackFill)
      if (typeof outcome === 'string') {
        this.#incomplete.add(row, outcome === 'wait_patiently')
        return []
      }
      this.#incomplete.release(row.rowId)
      return outcome === null ? [] : [outcome]
    })
    const isNew = events.length > 0 || countBefore !== this.#incomplete.rowIds.length
    if (isNew || rowId !== this.#checkpoint.rowId) await this.#commit(db, events, rowId)
  }

  /** A single message carries its checkpoint. Several are followed by the checkpoint, so that none is skipped. */
  async #commit(db: ChatDb, events: readonly LineEvent[], rowId: number): Promise<void> {
    const dates = events.flatMap((event) => (event.type === 'message' ? [event.message.at] : []))
    const next: Checkpoint = {
      ...this.#checkpoint,
      rowId,
      incomplete: this.#incomplete.rowIds,
      sequence: db.sequence(),
      lastRows: db.lastRows(),
      // A date in the future, or of a wrong clock, counts as now.
      lastAt: Math.min(Math.max(this.#checkpoint.lastAt, ...dates), this.#clock.now()),
      edits: this.#edits.known,
      repeats: [...this.#repeats],
    }
    const checkpoint = checkpointText(next)
    const [only] = events
    const isAlone = events.length === 1
    if (isAlone && only !== undefined && 'checkpoint' in only) {
      await this.#publish([{ ...only, checkpoint }])
    } else {
      await this.#publish(events)
      await this.#publish([{ type: 'checkpoint', checkpoint }])
    }
    this.#checkpoint = next
  }

  #outcomeOf(db: ChatDb, row: MessageRow, isBackFill: boolean): Outcome {
    const { own } = this.#events
    const match = this.#repeats.has(row.guid) ? MORE : own.match(row)
    if (match !== null) return this.#ownEvent(row, match)
    // While a send runs, no row can be matched for certain: the send's own row may still lack its text.
    if (row.isFromMe && own.isInFlight) return 'wait'
    const context = this.#context(db, row, isBackFill)
    const found = classify(row, context)
    if (found.kind !== 'incomplete') return this.#toEvent(db, row, found)
    if (!found.isPatient) return 'wait'
    const { patientCount } = this.#incomplete
    if (this.#incomplete.isPatient(row) || patientCount < PATIENT_MAX) return 'wait_patiently'
    const atOnce = classify(row, { ...context, waitedMs: Infinity })
    return atOnce.kind === 'incomplete' ? null : this.#toEvent(db, row, atOnce)
  }

  #noteRepeat({ guid }: MessageRow): void {
    this.#repeats.add(guid)
    const [oldest] = this.#repeats
    if (this.#repeats.size > REPEATS_MAX && oldest !== undefined) this.#repeats.delete(oldest)
  }

  /** The last healthy time, but never after now, because the clock may have been ahead when it was stored. */
  get #healthyAt(): number {
    return Math.min(this.#checkpoint.healthyAt, this.#clock.now())
  }

  #context(db: ChatDb, row: MessageRow, isBackFill: boolean): Context {
    const now = this.#clock.now()
    return {
      now,
      waitedMs: this.#incomplete.waitedMs(row),
      since: Math.min(this.#checkpoint.since, now),
      healthyAt: this.#healthyAt,
      isBackFill,
      isAlone: this.#undated.isAlone(row),
      isOwnAlias: (handle) => this.#events.owner.isAlias(handle),
      isReplay: (found) => {
        const isReplay = this.#replays.isReplay(found, db.equalsOf(found))
        if (isReplay) this.#noteRepeat(found)
        return isReplay
      },
      db,
    }
  }

  /** Event for a row of ours; null while its send is under way. */
  #ownEvent(row: MessageRow, match: RowMatch): Outcome {
    const { own } = this.#events
    if (match.kind === 'more' || match.kind === 'misrouted') this.#noteRepeat(row)
    if (match.kind !== 'failing') return settledEvent(own, match, row, this.#clock.now())
    // A part without an error stays in transit for as long as its file takes.
    if (row.state.error === 0 && match.part !== undefined) return 'wait_patiently'
    if (this.#incomplete.waitedMs(row) < ERROR_GRACE_MS) return 'wait'
    own.forget(keyOf(match))
    return failedEvent(own.multipart, match, reasonOf(row.state.error))
  }

  #toEvent(db: ChatDb, row: MessageRow, found: Classified): LineEvent | null {
    this.#edits.take(row)
    return this.#events.of(db, row, found)
  }
}

type IncompleteRow = {
  /** Monotonic. */
  readonly since: number
  /** The sender; null for our own rows, and until this run has read the row. */
  readonly peer: Handle | null
  readonly isPatient: boolean
}

/** Rows that are not complete yet. Later rows of the same sender wait behind urgent ones. */
export class IncompleteRows {
  readonly #clock: Clock
  readonly #rows = new Map<number, IncompleteRow>()

  constructor(clock: Clock, rowIds: readonly number[]) {
    this.#clock = clock
    for (const rowId of rowIds)
      this.#rows.set(rowId, { since: clock.monotonic(), peer: null, isPatient: false })
  }

  get rowIds(): readonly number[] {
    return [...this.#rows.keys()]
  }

  get urgentCount(): number {
    return this.#rows.size - this.patientCount
  }

  get patientCount(): number {
    return [...this.#rows.values()].filter(({ isPatient }) => isPatient).length
  }

  has({ rowId }: MessageRow): boolean {
    return this.#rows.has(rowId)
  }

  isPatient({ rowId }: MessageRow): boolean {
    return this.#rows.get(rowId)?.isPatient === true
  }

  isBehind(row: MessageRow): boolean {
    const peer = senderOf(row)
    if (peer === null || this.#rows.size === 0) return false
    for (const [rowId, waiting] of this.#rows) {
      if (waiting.peer === peer && !waiting.isPatient && rowId < row.rowId) return true
    }
    return false
  }

  waitedMs({ rowId }: MessageRow): number {
    const now = this.#clock.monotonic()
    return now - (this.#rows.get(rowId)?.since ?? now)
  }

  add(row: MessageRow, isPatient: boolean): void {
    const since = this.#rows.get(row.rowId)?.since ?? this.#clock.monotonic()
    this.#rows.set(row.rowId, { since, peer: senderOf(row), isPatient })
  }

  release(rowId: number): void {
    this.#rows.delete(rowId)
  }

  releaseAllBut(rows: readonly MessageRow[]): void {
    const existing = new Set(rows.map(({ rowId }) => rowId))
    for (const rowId of this.#rows.keys()) if (!existing.has(rowId)) this.#rows.delete(rowId)
  }

  clear(): void {
    this.#rows.clear()
  }
}

function senderOf({ isFromMe, people }: MessageRow): Handle | null {
  return isFromMe ? null : (people[0] ?? null)
}

const OLD_ROWS_MAX = 50
const WINDOW_MS = 600_000

/**
 * Detects an iCloud restore: more than 50 rows within ten minutes that were already old when they appeared. Users saw
 * thousands in a night, some of them little more than an hour old.
 */
export class BackFillWatch {
  readonly #clock: Clock
  #seenAt: readonly number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isBackFill(rows: readonly MessageRow[], healthyAt: number): boolean {
    const now = this.#clock.monotonic()
    const old = rows.filter((row) => ageOf(row, healthyAt) > OLD_AGE_MS).map(() => now)
    const recent = this.#seenAt.filter((at) => now - at < WINDOW_MS)
    this.#seenAt = [...recent, ...old].slice(-OLD_ROWS_MAX - 1)
    return this.#seenAt.length > OLD_ROWS_MAX
  }
}
