// The way in of a Mac line: rows above the cursor become events, in order. Rows that are not complete
// yet are held back, with those of the same person behind them, and the checkpoint remembers which.

import { timestamp } from '../../../domain/ids.ts'
import type { Clock } from '../../../system/clock.ts'
import type { LineEvent } from '../../driver.ts'
import { BackFillWatch } from './back-fill.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { checkpointText, type Checkpoint } from './checkpoint.ts'
import { claimEvent, failed } from './claim-event.ts'
import { judge, type Circumstances, type Verdict } from './classify.ts'
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

/** What was told as history, and what was told with less than it had. */
type Counted = 'history' | 'undecodable'
/** What a row comes to: an event, nothing, or another look at it. */
type Outcome = LineEvent | 'hold' | 'hold_patiently' | null

/** So many rows are told at once. */
const PAGE_MAX = 100
/** While so many are held that keep others back, nothing new is read. */
const URGENT_MAX = 200
/** Of the patient ones, one more is not waited for any longer. */
const PATIENT_MAX = 200

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

  /** Whether rows wait for something that may come at any moment: the next tick has to look at them. */
  get isHolding(): boolean {
    return this.#held.urgentCount > 0
  }

  countOf(what: Counted): number {
    return this.#counts.get(what) ?? 0
  }

  /** Tells everything that is new; resolves when it is durable, and its checkpoint with it. */
  async tick(db: ChatDb, signal: AbortSignal): Promise<void> {
    const held = db.rowsAt(this.#held.rowIds)
    this.#held.releaseAllBut(held)
    if (held.length > 0) await this.#take(db, held, this.#checkpoint.rowId)
    while (!signal.aborted && this.#held.urgentCount < URGENT_MAX) {
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
    const news = rows.filter((row) => !this.#held.has(row))
    const isBackFill = this.#backFill.isBackFill(news, this.#checkpoint.good)
    const heldBefore = this.#held.rowIds.length
    const events = rows.flatMap((row) => {
      const outcome = this.#held.isBehind(row) ? 'hold' : this.#outcomeOf(db, row, isBackFill)
      if (typeof outcome === 'string') {
        this.#held.hold(row, outcome === 'hold_patiently')
        return []
      }
      this.#held.release(row.rowId)
      return outcome === null ? [] : [outcome]
    })
    const isNews = events.length > 0 || heldBefore !== this.#held.rowIds.length
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
    const isAlone = events.length === 1
    if (isAlone && (only?.type === 'message' || only?.type === 'left_out')) {
      await this.#tools.tell([{ ...only, checkpoint }])
    } else {
      await this.#tools.tell(events)
      await this.#tools.tell([{ type: 'checkpoint', checkpoint }])
    }
    this.#checkpoint = next
  }

  #outcomeOf(db: ChatDb, row: MessageRow, isBackFill: boolean): Outcome {
    const { own } = this.#tools
    const claim = own.claim(row)
    if (claim !== null) return this.#ownEvent(row, claim)
    // While a send is under way nobody can tell what is whose: its row may lack its text still.
    if (row.isFromMe && own.isInFlight) return 'hold'
    const circumstances = this.#circumstances(db, row, isBackFill)
    const verdict = judge(row, circumstances)
    if (verdict.verdict !== 'hold') return this.#toEvent(row, verdict)
    if (!verdict.isPatient) return 'hold'
    const hasPlace = this.#held.isPatient(row) || this.#held.patientCount < PATIENT_MAX
    if (hasPlace) return 'hold_patiently'
    const atOnce = judge(row, { ...circumstances, waitedMs: Infinity })
    return atOnce.verdict === 'hold' ? null : this.#toEvent(row, atOnce)
  }

  #circumstances(db: ChatDb, row: MessageRow, isBackFill: boolean): Circumstances {
    const { clock, isOwnAlias } = this.#tools
    return {
      now: clock.now(),
      waitedMs: this.#held.waitedMs(row),
      since: this.#checkpoint.since,
      good: this.#checkpoint.good,
      isBackFill,
      isOwnAlias,
      isTwin: (candidate) => db.twinOf(candidate),
      isRecoverable: (rowId) => db.isRecoverable(rowId),
      hasDirectChat: (handle) =>
        [handle, handle.toLowerCase()].some((name) => db.directChats(name).length > 0),
      emojiWords: (guids) => db.emojiWords(guids),
    }
  }

  /** What the row of a message of ours tells; nothing while its sender is at it. */
  #ownEvent(row: MessageRow, claim: Claim): LineEvent | 'hold' | null {
    const { clock, own, tracker } = this.#tools
    if (claim.claim !== 'ill') return claimEvent(tracker, claim, row, clock.now())
    if (this.#held.waitedMs(row) < ERROR_GRACE_MS) return 'hold'
    own.forget(claim.messageId)
    return failed(claim.messageId, reasonOf(row.state.error))
  }

  #toEvent(row: MessageRow, verdict: Exclude<Verdict, { verdict: 'hold' }>): LineEvent | null {
    if (verdict.verdict === 'skip') return null
    const { guid, isFromMe, state } = row
    const now = this.#tools.clock.now()
    if (verdict.verdict === 'leave_out') {
      const leftOut = { guid, kind: verdict.kind, at: timestamp(row.at ?? now) }
      return { type: 'left_out', leftOut, checkpoint: null }
    }
    const { handle, text, isHistory, withheld } = verdict
    if (isHistory) this.#count('history')
    if (row.bodyProblem !== null) this.#count('undecodable')
    if (isFromMe && !isHistory) this.#tools.tracker.settle(row, now)
    const at = timestamp(verdict.at)
    // A row without a service is of the iMessage family.
    const service = state.service === '' ? 'iMessage' : state.service
    const message = { guid, handle, text, isFromMe, service, at, isHistory, withheld }
    return { type: 'message', message, checkpoint: null }
  }

  #count(what: Counted): void {
    this.#counts.set(what, this.countOf(what) + 1)
  }
}
