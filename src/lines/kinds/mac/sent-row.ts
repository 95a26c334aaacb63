import { NEVER, type Clock } from '../../../system/clock.ts'
import type { Settlement } from '../../driver.ts'
import type { MessageRow, OwnState } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { fitOf, isGhost, isMisrouted, type Expectation } from './expectations.ts'
import type { OwnMessages } from './own-messages.ts'
import type { ScriptAnswer } from './script-runner.ts'
import {
  ERROR_GRACE_MS,
  reasonOf,
  serviceOf,
  stageOf,
  type StatusTracker,
} from './status-tracker.ts'

type Tools = {
  readonly clock: Clock
  readonly own: OwnMessages
  readonly tracker: StatusTracker
  readonly db: () => ChatDb | null
}

/** imessage-max saw the row about 26 ms after osascript had returned. */
const LOOK_MS = 50
const LOOK_OFTEN_FOR_MS = 1_000
const LOOK_SELDOM_MS = 250
/** How long a row may take to appear, and to be sent. */
const ROW_MS_MAX = 8_000
const ROWS_MAX = 50

/** Looks for the row of a message that the script has handed over, until it says what became of it. */
export async function watchRow(
  tools: Tools,
  expectation: Expectation,
  answer: ScriptAnswer,
): Promise<Settlement> {
  const { clock } = tools
  const startedAt = clock.monotonic()
  const watch = new RowWatch(tools, expectation)
  for (;;) {
    const passedMs = clock.monotonic() - startedAt
    const settled = watch.look(passedMs)
    if (settled !== null) return settled
    if (passedMs >= ROW_MS_MAX && !watch.isFailing) return watch.end(answer)
    await clock.sleep(passedMs < LOOK_OFTEN_FOR_MS ? LOOK_MS : LOOK_SELDOM_MS, NEVER)
  }
}

class RowWatch {
  readonly #tools: Tools
  readonly #expectation: Expectation
  #failingSince: number | null = null

  constructor(tools: Tools, expectation: Expectation) {
    this.#tools = tools
    this.#expectation = expectation
  }

  /** Whether the row has an error that may still clear. */
  get isFailing(): boolean {
    return this.#failingSince !== null
  }

  /** One look; null while nothing can be said yet. */
  look(passedMs: number): Settlement | null {
    const { own } = this.#tools
    const rows = this.#rows()
    for (const row of rows) own.glimpse(row)
    const row = own.rowOf(this.#expectation.messageId)
    return row === null ? null : this.#judge(row, rows, passedMs)
  }

  /** The time is up: the row is still being sent, went elsewhere, or never came. */
  end(answer: ScriptAnswer): Settlement {
    const { own, tracker, clock } = this.#tools
    const row = own.rowOf(this.#expectation.messageId)
    if (row !== null) {
      const service = serviceOf(this.#stateOf(row) ?? row.state)
      tracker.follow({ ...row, service }, 'held', clock.now())
      return { outcome: 'held', guid: row.guid, service }
    }
    const strays = this.#rows().filter((other) => !own.isClaimed(other))
    const misrouted = strays.find((other) => isMisrouted(this.#expectation, other))
    const stray = misrouted ?? strays.find((other) => isGhost(this.#expectation, other))
    if (stray === undefined) {
      return { outcome: 'unknown', reason: answer.answer === 'done' ? 'no_row' : 'no_answer' }
    }
    own.swallow(stray)
    const reason = stray === misrouted ? 'misrouted' : 'ghost_row'
    return { outcome: 'not_sent', reason, blame: 'message' }
  }

  #judge(row: MessageRow, rows: readonly MessageRow[], passedMs: number): Settlement | null {
    const state = this.#stateOf(row)
    if (state === null) return null
    const stage = stageOf(state)
    if (stage !== 'ill' && stage !== 'held') return this.#accept(state)
    if (state.error === 0) {
      this.#failingSince = null
      return null
    }
    const second = rows.find((other) => this.#isSecond(other, row))
    if (second !== undefined) {
      this.#tools.own.replace(this.#expectation.messageId, second)
      this.#failingSince = null
      return null
    }
    this.#failingSince ??= passedMs
    if (passedMs - this.#failingSince < ERROR_GRACE_MS) return null
    return { outcome: 'not_sent', reason: reasonOf(state.error), blame: 'message' }
  }

  /** A clean row that Messages wrote after the one that failed. */
  #isSecond(other: MessageRow, failed: MessageRow): boolean {
    const isLater = other.rowId > failed.rowId && other.state.error === 0
    return (
      isLater && !this.#tools.own.isClaimed(other) && fitOf(this.#expectation, other) === 'whole'
    )
  }

  #accept(state: OwnState): Settlement {
    const { tracker, clock } = this.#tools
    const [{ guid }, service] = [state, serviceOf(state)]
    tracker.follow({ ...state, service }, 'sent', clock.now())
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

  /** Null while the database cannot be read: the reading loop says so, and opens it again. */
  #read<T>(query: (db: ChatDb) => T): T | null {
    const db = this.#tools.db()
    if (db === null) return null
    try {
      return query(db)
    } catch {
      return null
    }
  }
}
