// Watches the row of a message that was handed to Messages: only the row proves the outcome.

import { type Clock, NEVER } from '../../../system/clock.ts'
import { notSent, type Settlement } from '../../driver.ts'
import type { MessageRow, OwnState } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import {
  type Expectation,
  FILE_ROW_MS_MAX,
  fitOf,
  isGhost,
  isMisrouted,
  keyOf,
} from './expectation.ts'
import type { OwnMessages } from './own-messages.ts'
import type { ScriptAnswer } from './script-runner.ts'
import { ERROR_GRACE_MS, reasonOf, serviceOf, stageOf } from './status-tracker.ts'

export type OpenDb = () => ChatDb | null

type HandedOver = {
  readonly expectation: Expectation
  readonly answer: ScriptAnswer
  /** True if nothing of the message follows, so that a row that is still being sent may end the send. */
  readonly isLast: boolean
  /** Returns true once the session has been over for a while: the send must return. */
  readonly mustReturn: () => boolean
}

/** imessage-max saw the row about 26 ms after osascript had returned. */
const CHECK_MS = 50
const CHECK_OFTEN_FOR_MS = 1_000
const CHECK_SELDOM_MS = 250
const CHECK_RARELY_MS = 1_000
/** Longest wait for a row to appear and to be sent. */
const ROW_MS_MAX = 8_000
const ROWS_MAX = 50

export async function watchRow(
  clock: Clock,
  own: OwnMessages,
  db: OpenDb,
  handedOver: HandedOver,
): Promise<Settlement> {
  const startedAt = clock.monotonic()
  const watch = new RowWatch(clock, own, db, handedOver)
  for (;;) {
    const passedMs = clock.monotonic() - startedAt
    const settled = watch.check(passedMs) ?? watch.endAfter(passedMs)
    if (settled !== null) return settled
    const isEarly = passedMs < CHECK_OFTEN_FOR_MS
    const laterMs = passedMs < ROW_MS_MAX ? CHECK_SELDOM_MS : CHECK_RARELY_MS
    await clock.sleep(isEarly ? CHECK_MS : laterMs, NEVER)
  }
}

class RowWatch {
  readonly #clock: Clock
  readonly #own: OwnMessages
  readonly #db: OpenDb
  readonly #handedOver: HandedOver
  readonly #key: string
  #failingSince: number | null = null

  constructor(clock: Clock, own: OwnMessages, db: OpenDb, handedOver: HandedOver) {
    this.#clock = clock
    this.#own = own
    this.#db = db
    this.#handedOver = handedOver
    this.#key = keyOf(handedOver.expectation)
  }

  get #expectation(): Expectation {
    return this.#own.expectationOf(this.#key) ?? this.#handedOver.expectation
  }

  /** The outcome by the row; null while it is open. */
  check(passedMs: number): Settlement | null {
    const rows = this.#rows()
    for (const row of rows) this.#own.peek(row)
    const row = this.#own.rowOf(this.#key)
    return row === null ? null : this.#outcomeOf(row, rows, passedMs)
  }

  /**
   * The outcome once the time is up: the row is still being sent, went elsewhere, or never came. A file's row may
   * take its time, whether its script got an answer or not, and whatever follows a file waits until it is sent.
   */
  endAfter(passedMs: number): Settlement | null {
    const isOver = this.#handedOver.mustReturn()
    if (!isOver && (passedMs < ROW_MS_MAX || this.#failingSince !== null)) return null
    const isLate = isOver || passedMs >= FILE_ROW_MS_MAX
    const row = this.#own.rowOf(this.#key)
    if (row === null) return this.#strayEnd() ?? this.#endWithoutRow(isLate)
    if (this.#handedOver.isLast) return this.#hold(row)
    return isLate ? { outcome: 'unknown', reason: 'not_sent_in_time' } : null
  }

  #endWithoutRow(isLate: boolean): Settlement | null {
    if (this.#expectation.file !== undefined && !isLate) return null
    const isAnswered = this.#handedOver.answer.answer === 'done'
    return { outcome: 'unknown', reason: isAnswered ? 'no_row' : 'no_answer' }
  }

  #hold(row: MessageRow): Settlement {
    const service = serviceOf(this.#stateOf(row) ?? row.state)
    this.#own.tracker.follow({ ...row, service }, 'held', this.#clock.now())
    return { outcome: 'held', guid: row.guid, service }
  }

  /** The outcome by a row that the send caused but that is not its own; null if there is none. */
  #strayEnd(): Settlement | null {
    const strays = this.#rows().filter((other) => !this.#own.isMatched(other))
    const misrouted = strays.find((other) => isMisrouted(this.#expectation, other))
    const stray = misrouted ?? strays.find((other) => isGhost(this.#expectation, other))
    if (stray === undefined) return null
    this.#own.ignore(stray)
    const isGroup = this.#expectation.chatGuid !== undefined
    const ghost = isGroup ? 'group_not_reachable' : 'ghost_row'
    const reason = stray === misrouted ? 'misrouted' : ghost
    return { ...notSent(reason, 'message'), strayGuid: stray.guid }
  }

  #outcomeOf(row: MessageRow, rows: readonly MessageRow[], passedMs: number): Settlement | null {
    const state = this.#stateOf(row)
    if (state === null) return null
    const stage = stageOf(state)
    if (stage !== 'error' && stage !== 'held') return this.#accept(state)
    if (state.error === 0) {
      this.#failingSince = null
      return null
    }
    const second = rows.find((other) => this.#isSecond(other, row))
    if (second !== undefined) {
      this.#own.replace(this.#key, second)
      this.#failingSince = null
      return null
    }
    this.#failingSince ??= passedMs
    if (passedMs - this.#failingSince < ERROR_GRACE_MS) return null
    return notSent(reasonOf(state.error), 'message')
  }

  #isSecond(other: MessageRow, failed: MessageRow): boolean {
    const isLater = other.rowId > failed.rowId && other.state.error === 0
    const isFree = isLater && !this.#own.isMatched(other)
    return isFree && fitOf(this.#expectation, other) === 'whole'
  }

  #accept(state: OwnState): Settlement {
    const [{ guid }, service] = [state, serviceOf(state)]
    this.#own.tracker.follow({ ...state, service }, 'sent', this.#clock.now())
    return { outcome: 'accepted', guid, service }
  }

  #stateOf({ rowId, guid }: MessageRow): OwnState | null {
    const [state] = this.#read((db) => db.statesAt([rowId])) ?? []
    return state?.guid === guid ? state : null
  }

  #rows(): readonly MessageRow[] {
    const { afterRowId } = this.#expectation
    return this.#read((db) => db.ownRowsAfter(afterRowId, ROWS_MAX)) ?? []
  }

  /** Null if the database cannot be read; the reading loop reports that and reopens it. */
  #read<T>(query: (db: ChatDb) => T): T | null {
    const db = this.#db()
    if (db === null) return null
    try {
      return query(db)
    } catch {
      return null
    }
  }
}
