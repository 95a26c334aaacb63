// The way out of a Mac line: everything that can fail harmlessly, the point of no return, the script, and
// then the row in chat.db, which alone proves the outcome.

import type { OutgoingMessage } from '../../../domain/message.ts'
import { NEVER, type Clock } from '../../../system/clock.ts'
import {
  isGranted,
  WITHDRAWN,
  type PointOfNoReturn,
  type SendOutcome,
  type Settlement,
} from '../../driver.ts'
import type { MessageRow, OwnState } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import {
  expectationOf,
  fitOf,
  isGhost,
  isMisrouted,
  noteText,
  type Expectation,
  type OwnMessages,
} from './own-messages.ts'
import { isKnownAbsent, pauseMs, type Pacer } from './pacing.ts'
import type { MessagesScript, ScriptAnswer, Target } from './script-runner.ts'
import {
  ERROR_GRACE_MS,
  reasonOf,
  serviceOf,
  stageOf,
  type StatusTracker,
} from './status-tracker.ts'

export type SenderTools = {
  readonly clock: Clock
  readonly script: MessagesScript
  readonly pacer: Pacer
  readonly own: OwnMessages
  readonly tracker: StatusTracker
  /** The database while it can be read. */
  readonly db: () => ChatDb | null
  /** Called with the answer of Messages, which may concern the line, before the send returns. */
  readonly onAnswer: (answer: ScriptAnswer) => Promise<void>
  /** Called with the outcome of a message that Messages took, before the send returns. */
  readonly onOutcome: (outcome: Settlement) => Promise<void>
}

/** A longer wait is returned as `postponed`. */
const PATIENCE_MS = 5_000
const CARRIER_SERVICES = new Set(['SMS', 'RCS'])

export async function sendMessage(
  tools: SenderTools,
  message: OutgoingMessage,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const db = tools.db()
  if (db === null || signal.aborted) return WITHDRAWN
  const isNew = !db.knowsHandle(message.to)
  const obstacle = obstacleOf(tools, db, message, isNew)
  if (obstacle !== null) return obstacle
  await tools.clock.sleep(tools.pacer.delayMs(isNew), signal)
  if (signal.aborted) return WITHDRAWN

  const found = await findTarget(tools, db, message.to, signal)
  if (signal.aborted) return WITHDRAWN
  if (found.target === null) return refusal(found.answer)
  return send(tools, { message, target: found.target, isNew }, pointOfNoReturn)
}

/** Reason against sending now that is known without asking Messages. */
function obstacleOf(
  { clock, pacer }: SenderTools,
  db: ChatDb,
  message: OutgoingMessage,
  isNew: boolean,
): SendOutcome | null {
  if (isKnownAbsent(db, message.to, clock.now())) {
    return { outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' }
  }
  const delayMs = Math.max(pacer.delayMs(isNew), isNew ? pauseMs(db, clock.now()) : 0)
  return delayMs <= PATIENCE_MS ? null : { outcome: 'postponed', reason: 'pacing', delayMs }
}

type FoundTarget =
  | { readonly target: Target }
  | { readonly target: null; readonly answer: ScriptAnswer }

/**
 * An existing chat by the guid that Messages gave it. Where the app does not know that one (a chat that
 * was quiet for long, another form of guid), and for a new contact, the recipient itself, whom the
 * iMessage account reaches by iMessage or not at all (error 22).
 */
async function findTarget(
  { script, onAnswer }: SenderTools,
  db: ChatDb,
  handle: string,
  signal: AbortSignal,
): Promise<FoundTarget> {
  const routes: Target[] = [...chatRoute(db, handle), { by: 'participant', handle }]
  let answer: ScriptAnswer = { answer: 'not_run', number: null, why: 'not asked' }
  for (const target of routes) {
    answer = await script.check(target, signal)
    if (answer.answer === 'done') return { target }
    if (answer.answer !== 'refused' || answer.stage !== 'resolve') break
  }
  if (!signal.aborted) await onAnswer(answer)
  return { target: null, answer }
}

/**
 * A chat that sends by iMessage. Since macOS 26 one chat carries all services (`any;-;`), and BlueBubbles
 * goes by its `service_name`. No source says which service the next message takes, so a chat whose last
 * message was the carrier's is not used.
 */
function chatRoute(db: ChatDb, handle: string): readonly Target[] {
  const [chat] = db.directChats(handle)
  if (chat === undefined) return []
  const isOfOneService = chat.guid.toLowerCase().startsWith('imessage;')
  const [last] = isOfOneService ? [] : db.lastWith(handle, 1)
  const isUsable = last === undefined || !CARRIER_SERVICES.has(last.service)
  return isUsable ? [{ by: 'chat', guid: chat.guid }] : []
}

/** Nothing has left: Messages does not know the recipient, or has a problem of its own. */
function refusal(answer: ScriptAnswer): SendOutcome {
  const isRecipient = answer.answer === 'refused' && answer.stage === 'resolve'
  const reason = isRecipient ? 'recipient_unreachable' : 'messages_refused'
  return { outcome: 'not_sent', reason, blame: 'line' }
}

type Order = {
  readonly message: OutgoingMessage
  readonly target: Target
  readonly isNew: boolean
}

async function send(
  tools: SenderTools,
  { message, target, isNew }: Order,
  pointOfNoReturn: PointOfNoReturn,
): Promise<SendOutcome> {
  const { clock, own, pacer, script, onAnswer, onOutcome } = tools
  const db = tools.db()
  if (db === null) return WITHDRAWN
  const note = noteText(db.identity, db.maxRowId(), clock.now())
  const expectation = expectationOf({ message, note }, db.identity)
  // Expected from before the transaction on: the row can be there before the first look.
  own.expect(expectation, true)
  if (!(await isGranted(pointOfNoReturn, note))) {
    own.forget(message.id)
    return WITHDRAWN
  }
  pacer.spend(isNew)
  const answer = await script.send(target, message.text)
  if (isProvenUnsent(answer)) {
    own.forget(message.id)
    await onAnswer(answer)
    return refusal(answer)
  }
  const outcome = await watchRow(tools, expectation, answer)
  if (outcome.outcome === 'not_sent') own.forget(message.id)
  else own.finishSend(message.id, outcome.outcome === 'accepted')
  if (outcome.outcome === 'unknown') await onAnswer(answer)
  await onOutcome(outcome)
  return outcome
}

/**
 * The script reports its progress itself: before its stage `send` nothing of the message was handed over,
 * and it has ended, so nothing can act any more. From there on, only the row counts.
 */
function isProvenUnsent(answer: ScriptAnswer): boolean {
  return answer.answer === 'not_run' || (answer.answer === 'refused' && answer.stage !== 'send')
}

type RowTools = Pick<SenderTools, 'clock' | 'own' | 'tracker' | 'db'>

/** imessage-max saw the row about 26 ms after osascript had returned. */
const LOOK_MS = 50
const LOOK_OFTEN_FOR_MS = 1_000
const LOOK_SELDOM_MS = 250
/** Time for a row to appear, and to be sent. */
const ROW_MS_MAX = 8_000
const ROWS_MAX = 50

/** Looks for the row of a message that the script has handed over, until it proves the outcome. */
async function watchRow(
  tools: RowTools,
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
  readonly #tools: RowTools
  readonly #expectation: Expectation
  #failingSince: number | null = null

  constructor(tools: RowTools, expectation: Expectation) {
    this.#tools = tools
    this.#expectation = expectation
  }

  /** The row has an error that may still clear. */
  get isFailing(): boolean {
    return this.#failingSince !== null
  }

  /** Null while the outcome is open. */
  look(passedMs: number): Settlement | null {
    const { own } = this.#tools
    const rows = this.#rows()
    for (const row of rows) own.peek(row)
    const row = own.rowOf(this.#expectation.messageId)
    return row === null ? null : this.#outcomeOf(row, rows, passedMs)
  }

  /** Outcome after the time is up: the row is still being sent, went elsewhere, or never came. */
  end(answer: ScriptAnswer): Settlement {
    const { own, tracker, clock } = this.#tools
    const row = own.rowOf(this.#expectation.messageId)
    if (row !== null) {
      const service = serviceOf(this.#stateOf(row) ?? row.state)
      tracker.follow({ ...row, service }, 'held', clock.now())
      return { outcome: 'held', guid: row.guid, service }
    }
    const strays = this.#rows().filter((other) => !own.isMatched(other))
    const misrouted = strays.find((other) => isMisrouted(this.#expectation, other))
    const stray = misrouted ?? strays.find((other) => isGhost(this.#expectation, other))
    if (stray === undefined) {
      return { outcome: 'unknown', reason: answer.answer === 'done' ? 'no_row' : 'no_answer' }
    }
    own.ignore(stray)
    const reason = stray === misrouted ? 'misrouted' : 'ghost_row'
    return { outcome: 'not_sent', reason, blame: 'message' }
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
      this.#tools.own.replace(this.#expectation.messageId, second)
      this.#failingSince = null
      return null
    }
    this.#failingSince ??= passedMs
    if (passedMs - this.#failingSince < ERROR_GRACE_MS) return null
    return { outcome: 'not_sent', reason: reasonOf(state.error), blame: 'message' }
  }

  /** A row without an error that Messages wrote after the failed one. */
  #isSecond(other: MessageRow, failed: MessageRow): boolean {
    const isLater = other.rowId > failed.rowId && other.state.error === 0
    const isFree = isLater && !this.#tools.own.isMatched(other)
    return isFree && fitOf(this.#expectation, other) === 'whole'
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

  /** Null while the database cannot be read: the reading loop reports that, and opens it again. */
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
