// The way out of a Mac line: what can fail harmlessly, the point of no return, the script, and then the
// row in chat.db, which alone says what became of the message.

import type { OutgoingMessage } from '../../../domain/message.ts'
import type { Clock } from '../../../system/clock.ts'
import {
  isGranted,
  WITHDRAWN,
  type PointOfNoReturn,
  type SendOutcome,
  type Settlement,
} from '../../driver.ts'
import type { ChatDb } from './chat-db.ts'
import { expectationOf, noteText } from './expectations.ts'
import type { OwnMessages } from './own-messages.ts'
import type { Pacer } from './pacer.ts'
import { isKnownAbsent, pauseMs } from './reputation.ts'
import type { MessagesScript, ScriptAnswer, Target } from './script-runner.ts'
import { watchRow } from './sent-row.ts'
import type { StatusTracker } from './status-tracker.ts'

export type SenderTools = {
  readonly clock: Clock
  readonly script: MessagesScript
  readonly pacer: Pacer
  readonly own: OwnMessages
  readonly tracker: StatusTracker
  /** The database while it can be read. */
  readonly db: () => ChatDb | null
  /** Hears how Messages answered: what it says of the line is acted upon before the send returns. */
  readonly onAnswer: (answer: ScriptAnswer) => Promise<void>
  /** Hears the same way what became of a message that Messages took. */
  readonly onOutcome: (outcome: Settlement) => Promise<void>
}

/** A wait that is longer is told to the caller. */
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

/** Why the message must not go now, from what is known without asking Messages. */
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
  if (delayMs <= PATIENCE_MS) return null
  return { outcome: 'postponed', reason: 'pacing', delayMs }
}

type Finding =
  | { readonly target: Target }
  | { readonly target: null; readonly answer: ScriptAnswer }

/**
 * An existing chat by the guid that Messages gave it; where the app does not know that one (a chat
 * that was quiet for long, another form of guid), and for somebody new, the recipient itself, whom
 * the iMessage account reaches by iMessage or not at all (error 22).
 */
async function findTarget(
  { script, onAnswer }: SenderTools,
  db: ChatDb,
  handle: string,
  signal: AbortSignal,
): Promise<Finding> {
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
 * A chat that sends by iMessage. Since macOS 26 one chat carries all services (`any;-;`), and its
 * `service_name` is what BlueBubbles goes by; which service the next message takes, nobody has
 * documented, so one whose last message was the carrier's is not used.
 */
function chatRoute(db: ChatDb, handle: string): readonly Target[] {
  const [chat] = db.directChats(handle)
  if (chat === undefined) return []
  const isOfOneService = chat.guid.toLowerCase().startsWith('imessage;')
  const [last] = isOfOneService ? [] : db.lastWith(handle, 1)
  const isUsable = last === undefined || !CARRIER_SERVICES.has(last.service)
  return isUsable ? [{ by: 'chat', guid: chat.guid }] : []
}

/** Nothing has left: Messages does not know whom, or is not itself. */
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
  // Expected from before the transaction on: a row can be there before anyone has looked.
  own.expect(expectation, true)
  if (!(await isGranted(pointOfNoReturn, note))) {
    own.forget(message.id)
    return WITHDRAWN
  }
  pacer.spend(isNew)
  const answer = await script.send(target, message.text)
  const proven = provenUnsent(answer)
  if (proven !== null) {
    own.forget(message.id)
    await onAnswer(answer)
    return proven
  }
  const outcome = await watchRow(tools, expectation, answer)
  if (outcome.outcome === 'not_sent') own.forget(message.id)
  else own.land(message.id, outcome.outcome === 'accepted')
  if (outcome.outcome === 'unknown') await onAnswer(answer)
  await onOutcome(outcome)
  return outcome
}

/**
 * The script says itself how far it came: before its stage `send` nothing of the message was handed
 * over, and it has ended, so nothing can act any more. From there on only the row counts.
 */
function provenUnsent(answer: ScriptAnswer): SendOutcome | null {
  if (answer.answer === 'not_run') return refusal(answer)
  const isBefore = answer.answer === 'refused' && answer.stage !== 'send'
  return isBefore ? refusal(answer) : null
}
