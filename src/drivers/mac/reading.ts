// The way in of a Mac line: rows above the cursor become events, in order. Rows that are not complete
// yet are held back, with those of the same person behind them, and the checkpoint remembers which.

import type { LineEvent } from '../../domain/driver.ts'
import { timestamp } from '../../domain/ids.ts'
import type { Clock } from '../../system/clock.ts'
import { BackFillWatch } from './back-fill.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { checkpointText, type Checkpoint } from './checkpoint.ts'
import { claimEvent, failed } from './claim-event.ts'
import { judge, type Skipped, type Verdict } from './classify.ts'
import { HeldRows } from './held-rows.ts'
import type { Claim, OwnMessages } from './own-messages.ts'
import { ERROR_GRACE_MS, reasonOf, type StatusTracker } from './status-tracker.ts'

export type ReadingTools = {
  readonly clock: Clock
  readonly own: OwnMessages
  readonly tracker: StatusTracker
  readonly isOwnAlias: (handle: string) => boolean
  /** Resolves when all are durable; rejects where one could not be. */
  readonly tell: (events: readonly LineEvent[]) => Promise<void>
}

/** What was seen and not told, and what was told with less than it had. */
export type Counted = Skipped | 'history' | 'undecodable'

/** So many rows are told at once. */
const PAGE_MAX = 100
const HELD_MAX = 100

export class Reading {
  readonly #tools: ReadingTools
  readonly #held: HeldRows
  readonly #backFill: BackFillWatch
  readonly #counts = new Map<Counted, number>()
  #checkpoint: Checkpoint

  constructor(tools: ReadingTools, checkpoint: Checkpoint) {
    this.#tools = tools
    this.#checkpoint = checkpoint
    this.#held = new HeldRows(tools.clock, checkpoint.held)
    this.#backFill = new BackFillWatch(tools.clock)
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint
  }

  /** Whether rows wait for something: the next tick has to look at them. */
  get isHolding(): boolean {
    return this.#held.size > 0
  }

  countOf(what: Counted): number {
    return this.#counts.get(what) ?? 0
  }

  /** Tells everything that is new; resolves when it is durable, and its checkpoint with it. */
  async tick(db: ChatDb, signal: AbortSignal): Promise<void> {
    const held = this.isHolding ? db.rowsAt(this.#held.rowIds) : []
    this.#held.releaseAllBut(held)
    if (held.length > 0) await this.#take(db, held, this.#checkpoint.rowId)
    while (!signal.aborted && this.#held.size < HELD_MAX) {
      const rows = db.rowsAfter(this.#checkpoint.rowId, PAGE_MAX)
      const last = rows.at(-1)
      if (last !== undefined) await this.#take(db, rows, last.rowId)
      if (rows.length < PAGE_MAX) return
    }
  }

  /** Goes on in a database that was rebuilt: told anew is `rows`, of which guids stop the doubles. */
  async anchor(db: ChatDb, rows: readonly MessageRow[], rowId: number): Promise<void> {
    this.#held.clear()
    await this.#take(db, rows, rowId)
  }

  /** All is well now: from here on the age of a row is counted to this moment. */
  markGood(now: number): void {
    this.#checkpoint = { ...this.#checkpoint, good: Math.max(this.#checkpoint.good, now) }
  }

  async tellCheckpoint(): Promise<void> {
    const checkpoint = checkpointText(this.#checkpoint)
    await this.#tools.tell([{ type: 'checkpoint', checkpoint }])
  }

  async #take(db: ChatDb, rows: readonly MessageRow[], rowId: number): Promise<void> {
    const isBackFill = this.#backFill.isBackFill(rows, this.#checkpoint.good)
    const heldBefore = this.#held.size
    const events = rows.flatMap((row) => {
      const event = this.#held.isBehind(row) ? 'hold' : this.#eventOf(db, row, isBackFill)
      if (event === 'hold') this.#held.hold(row)
      else this.#held.release(row.rowId)
      return event === 'hold' || event === null ? [] : [event]
    })
    const isNews = events.length > 0 || heldBefore !== this.#held.size
    if (isNews || rowId !== this.#checkpoint.rowId) await this.#commit(db, events, rowId)
  }

  /** The checkpoint goes with a message that is alone, else after them all: none may be skipped. */
  async #commit(db: ChatDb, events: readonly LineEvent[], rowId: number): Promise<void> {
    const dates = events.flatMap((event) => (event.type === 'message' ? [event.message.at] : []))
    const next: Checkpoint = {
      ...this.#checkpoint,
      rowId,
      held: this.#held.rowIds,
      sequence: db.sequence(),
      witnesses: db.witnesses(),
      lastAt: Math.max(this.#checkpoint.lastAt, ...dates),
    }
    const checkpoint = checkpointText(next)
    const [only] = events
    if (events.length === 1 && only?.type === 'message') {
      await this.#tools.tell([{ ...only, checkpoint }])
    } else {
      await this.#tools.tell(events)
      await this.#tools.tell([{ type: 'checkpoint', checkpoint }])
    }
    this.#checkpoint = next
  }

  #eventOf(db: ChatDb, row: MessageRow, isBackFill: boolean): LineEvent | 'hold' | null {
    const { clock, own, isOwnAlias } = this.#tools
    const claim = own.claim(row)
    if (claim !== null) return this.#ownEvent(row, claim)
    // While a send is under way nobody can tell what is whose: its row may lack its text still.
    if (row.isFromMe && own.isInFlight) return 'hold'
    const verdict = judge(row, {
      now: clock.now(),
      waitedMs: this.#held.waitedMs(row),
      since: this.#checkpoint.since,
      good: this.#checkpoint.good,
      isBackFill,
      isOwnAlias,
      isTwin: (candidate) => db.twinOf(candidate),
    })
    return this.#toEvent(row, verdict)
  }

  /** What the row of a message of ours tells; nothing while its sender is at it. */
  #ownEvent(row: MessageRow, claim: Claim): LineEvent | 'hold' | null {
    const { clock, own, tracker } = this.#tools
    if (claim.claim !== 'ill') return claimEvent(tracker, claim, row, clock.now())
    if (this.#held.waitedMs(row) < ERROR_GRACE_MS) return 'hold'
    own.forget(claim.messageId)
    return failed(claim.messageId, reasonOf(row.state.error))
  }

  #toEvent(row: MessageRow, verdict: Verdict): LineEvent | 'hold' | null {
    if (verdict.verdict === 'hold') return 'hold'
    if (verdict.verdict === 'skip') {
      this.#count(verdict.because)
      return null
    }
    const { handle, text, isHistory } = verdict
    if (isHistory) this.#count('history')
    if (row.bodyProblem !== null) this.#count('undecodable')
    const { guid, isFromMe, state } = row
    if (isFromMe && !isHistory) this.#tools.tracker.settle(row, this.#tools.clock.now())
    const at = timestamp(verdict.at)
    const message = { guid, handle, text, isFromMe, service: state.service, at, isHistory }
    return { type: 'message', message, checkpoint: null }
  }

  #count(what: Counted): void {
    this.#counts.set(what, this.countOf(what) + 1)
  }
}
