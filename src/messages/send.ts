// Accepts what a caller sends: one transaction writes the idempotency record, the conversation, the
// place in the day's budget and the message. Nothing is lost after that.

import type * as api from '../api/messages.ts'
import type { ContactHold } from '../domain/contact-limit.ts'
import { RelayError } from '../domain/errors.ts'
import { guidFromBytes, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Message, MessageSource, Outbound } from '../domain/message.ts'
import { markKnown } from '../storage/contacts.ts'
import { openConversation, noteMessage } from '../storage/conversations.ts'
import type { Tx } from '../storage/database.ts'
import { findIdempotency, rememberAnswer, rememberRequest } from '../storage/idempotency.ts'
import { findMessage, insertMessage, newMessage } from '../storage/message-rows.ts'
import type { Settings } from '../storage/settings.ts'
import { sha256 } from '../system/hash.ts'
import { PassingMap } from '../system/passing.ts'
import type { Random } from '../system/random.ts'
import type { Signal } from '../system/signal.ts'
import { answerOf, sentAnswerOf, type Answer } from './answer.ts'
import { takePlace } from './contact-budget.ts'
import { turnOfNewcomer } from './conversation-order.ts'
import type { AttemptTools } from './dispatch-attempt.ts'
import type { BoardLine } from './line-board.ts'
import { takesMessages } from './line-board.ts'
import type { WaitReason } from './resource.ts'
import {
  askHistories,
  checkedRecipient,
  limitReached,
  lineFor,
  requireNoLoop,
  requireUnpaused,
  type Histories,
  type Target,
} from './send-target.ts'

export type SendRequest = {
  readonly to: string
  readonly text: string
  readonly lineId: string | null
  readonly idempotencyKey: string | null
  /** How long the answer may wait for the line, in milliseconds; null for the configured time. */
  readonly waitMs: number | null
  readonly source: MessageSource
}

export type SendAnswer = Answer & {
  readonly isReplay: boolean
  readonly messageId: string
  /** Why the line refused it for good, for `send_failed`. */
  readonly reason: string | null
}

export type SendTools = AttemptTools & {
  readonly random: Random
  readonly dispatchSignal: Signal
  readonly waitReason: WaitReason
  readonly defaultWaitMs: number
  readonly settings: Pick<Settings, 'get'>
  /** Gives lines what is due: one that takes it at once passes its point of no return in the same commit. */
  readonly giveDue: () => void
  /** Hears of a line on which two programs seem to answer each other. */
  readonly onLoop: (line: Line) => void
  /** Throws where nothing is accepted now: `storage_full`, `stopping`. */
  readonly requireAccepting: () => void
}

type Accepted = { readonly messageId: MessageId; readonly isReplay: boolean } & (
  | { readonly first: Answer }
  | { readonly first: null; readonly message: Outbound }
)

/** A request that is not answered yet: the same one again gets its answer. */
type Running = { readonly print: string; readonly answer: Promise<SendAnswer> }

/** Sends a message: see `api.md`, "Sending". Throws RelayError for what is not accepted. */
export function createSend(tools: SendTools): (request: SendRequest) => Promise<SendAnswer> {
  const running = new PassingMap<string, Running>()
  return async (request) => {
    const key = request.idempotencyKey
    const print = fingerprint(request)
    const twin = key === null ? null : running.get(key)
    if (twin !== null) {
      requireSame(twin.print, print)
      return { ...(await twin.answer), isReplay: true }
    }
    const answer = sendOnce(tools, request, print)
    if (key === null) return answer
    running.set(key, { print, answer })
    try {
      return await answer
    } finally {
      running.delete(key)
    }
  }
}

async function sendOnce(
  tools: SendTools,
  request: SendRequest,
  print: string,
): Promise<SendAnswer> {
  const target = { recipient: checkedRecipient(request.to), lineId: request.lineId }
  const histories = await askHistories(tools, target)
  const accepted = await tools.writer.write(
    (tx) => acceptOrRefuse(tools, tx, { request, print, target, histories }),
    'repeatable',
  )
  if (accepted instanceof RelayError) throw accepted
  const { isReplay, messageId } = accepted
  const answer = accepted.first ?? (await waitForEnd(tools, request, accepted.message))
  return { ...answer, isReplay, messageId, reason: reasonOf(answer) }
}

/** Why the line refused it for good: the code in the message's error. */
function reasonOf(answer: Answer): string | null {
  if (answer.kind !== 'send_failed') return null
  const told = JSON.parse(answer.body) as api.Message // `answerOf` wrote it.
  return told.error?.code ?? null
}

type Acceptance = {
  readonly request: SendRequest
  readonly print: string
  readonly target: Target
  readonly histories: Histories
}

/** What speaks against a message comes before anything is written of it, so nothing must be undone. */
function acceptOrRefuse(tools: SendTools, tx: Tx, acceptance: Acceptance): Accepted | RelayError {
  try {
    return accept(tools, tx, acceptance)
  } catch (error) {
    if (error instanceof RelayError) return error
    throw error
  }
}

function accept(tools: SendTools, tx: Tx, acceptance: Acceptance): Accepted {
  const { request, print } = acceptance
  const repeated = request.idempotencyKey === null ? null : repeat(tools, tx, request, print)
  if (repeated !== null) return repeated
  tools.requireAccepting()
  const now = tools.stamps.now()
  const { handle } = acceptance.target.recipient
  for (const [lineId, isKnown] of acceptance.histories) {
    if (isKnown === true) markKnown(tx, { lineId, handle }, now)
  }
  const found = lineFor(tools, tx, acceptance.target, now)
  requireUnpaused(tools, tx, { source: request.source, lineId: found.line.id, handle })
  requireNoLoop(tx, found.line, { handle, now, onLoop: tools.onLoop })
  const history = acceptance.histories.get(found.line.id) ?? null
  const hold = takePlace(tx, found.line, handle, { history, now })
  if (hold === 'full') throw limitReached(tx, found.line, now)
  const message = record(tools, tx, acceptance, { found, hold, now })
  tools.writer.beforeCommit(tools.giveDue)
  tools.writer.notifyAfterCommit(tools.dispatchSignal)
  return { message, messageId: message.id, first: null, isReplay: false }
}

function record(
  tools: SendTools,
  tx: Tx,
  { request, print, target }: Acceptance,
  place: { readonly found: BoardLine; readonly hold: ContactHold; readonly now: Timestamp },
): Outbound {
  const { line } = place.found
  const { handle } = target.recipient
  const conversationId = openConversation(tx, tools.stamps, {
    lineId: line.id,
    phoneNumber: line.number,
    handle,
    now: place.now,
  })
  const message = insertMessage(
    tx,
    newMessage(
      {
        id: tools.stamps.id('msg'),
        lineId: line.id,
        conversationId,
        phoneNumber: line.number,
        handle,
        text: request.text,
        guid: randomGuid(tools.random),
        source: request.source,
        createdAt: place.now,
      },
      {
        isPinned: target.lineId !== null,
        contactHold: place.hold,
        ...turnOfNewcomer(tx, { conversationId, text: request.text }, place.now),
      },
    ),
  )
  noteMessage(tx, conversationId, { seq: message.seq, service: 'iMessage', now: place.now })
  const key = request.idempotencyKey
  if (key !== null) {
    rememberRequest(tx, { key, fingerprint: print, messageId: message.id, now: place.now })
  }
  return message
}

/**
 * The same request again: its first answer, which was kept or is that of a message that was sent; or,
 * where a crash left none, the message as it is now.
 */
function repeat(tools: SendTools, tx: Tx, request: SendRequest, print: string): Accepted | null {
  const key = request.idempotencyKey
  const known = key === null ? null : findIdempotency(tx, key)
  if (known === null) return null
  requireSame(known.fingerprint, print)
  const { messageId, answer: kind, body } = known
  const replay = { messageId, isReplay: true }
  if (kind !== null && body !== null) return { ...replay, first: { kind, body } }
  const message = findMessage(tx, messageId)
  if (message === null) throw new RelayError('not_found', 'The message of this key was deleted.')
  const isUnderWay = message.status === 'queued' || message.status === 'sending'
  if (isUnderWay) return { ...replay, first: null, message }
  const asSent = kind === null ? sentAnswerOf(message) : null
  return { ...replay, first: asSent ?? answerOf(message, tools.waitReason) }
}

/** Waits while a line works on the message; one that waits for more than that is answered at once. */
async function waitForEnd(
  tools: SendTools,
  request: SendRequest,
  message: Outbound,
): Promise<Answer> {
  const key = request.idempotencyKey
  const found = tools.board.find(message.lineId)
  const isTurn = message.queuedReason === null || message.queuedReason === 'earlier_message'
  const isWorkedOn = found !== null && takesMessages(found) && isTurn && tools.mayLeave()
  const waitMs = isWorkedOn ? (request.waitMs ?? tools.defaultWaitMs) : 0
  const answer = await tools.callers.wait(message.id, key, waitMs)
  if (answer !== null) return answer
  if (key === null) return answerOf(latest(tools, message), tools.waitReason)
  return tools.writer.write((tx) => {
    const kept = findIdempotency(tx, key)
    if (kept?.answer && kept.body !== null) return { kind: kept.answer, body: kept.body }
    const now = answerOf(latest(tools, message), tools.waitReason)
    rememberAnswer(tx, key, { answer: now.kind, body: now.body })
    return now
  })
}

function latest(tools: SendTools, message: Outbound): Message {
  return findMessage(tools.db, message.id) ?? message
}

function requireSame(known: string, print: string): void {
  if (known === print) return
  throw new RelayError(
    'idempotency_conflict',
    'This Idempotency-Key was used with other values: use a new key for a new message.',
  )
}

function fingerprint({ to, text, lineId }: SendRequest): string {
  return Buffer.from(sha256(JSON.stringify([to, text, lineId]))).toString('base64url')
}

/** A version 4 UUID in upper case, as Messages writes them. */
function randomGuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = 0x40 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return guidFromBytes(bytes)
}
