// Accepts what a caller sends. One transaction writes the idempotency record, the conversation, the place
// in the day's budget and the message; what speaks against the message is thrown, and so leaves no trace.
// After the commit dispatch is signalled, and a driver starts.

import type * as api from '../api/messages.ts'
import { RelayError } from '../domain/errors.ts'
import { guidFromBytes, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Message, MessageSource, Outbound } from '../domain/message.ts'
import { markKnown } from '../storage/contacts.ts'
import { openConversation, noteMessage } from '../storage/conversations.ts'
import type { Tx } from '../storage/database.ts'
import {
  findIdempotency,
  keepFirstAnswer,
  recordRequest,
  type IdempotencyRecord,
} from '../storage/idempotency.ts'
import { findMessage, insertMessage, newMessage } from '../storage/messages.ts'
import type { Settings } from '../storage/settings.ts'
import { sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'
import type { Signal } from '../system/signal.ts'
import { reserveSlot } from './contact-budget.ts'
import { initialPosition } from './conversation-order.ts'
import type { AttemptTools } from './dispatch-attempt.ts'
import { takesMessages } from './line-directory.ts'
import type { WaitReason } from './resource.ts'
import {
  askHistories,
  checkedRecipient,
  limitReached,
  lineFor,
  LoopError,
  requireNoLoop,
  requireUnpaused,
  type Histories,
  type Target,
} from './send-target.ts'
import { answerOf, type Answer } from './waiting-callers.ts'

export type SendRequest = {
  readonly to: string
  readonly text: string
  readonly lineId: string | null
  readonly idempotencyKey: string | null
  /** The longest wait of the answer for the line, in milliseconds; null for the configured time. */
  readonly waitMs: number | null
  readonly source: MessageSource
}

export type SendAnswer = Answer & {
  readonly isReplay: boolean
  readonly messageId: string
  /** Reason of a permanent refusal by the line, for `send_failed`. */
  readonly reason: string | null
}

export type SendTools = AttemptTools & {
  readonly random: Random
  readonly dispatchSignal: Signal
  readonly waitReason: WaitReason
  readonly defaultWaitMs: number
  readonly settings: Pick<Settings, 'get'>
  /** Called for a line on which two programs seem to answer each other. */
  readonly onLoop: (line: Line) => void
  /** Throws where nothing is accepted now: `storage_full`, `stopping`. */
  readonly requireAccepting: () => void
}

/** A request as it is decided on in its transaction. */
type Acceptance = {
  readonly request: SendRequest
  readonly fingerprint: string
  readonly target: Target
  readonly histories: Histories
}

/** Sends a message: see `api.md`, "Sending". Throws RelayError for what is not accepted. */
export function createSend(tools: SendTools): (request: SendRequest) => Promise<SendAnswer> {
  return async (request) => {
    const target = { recipient: checkedRecipient(request.to), lineId: request.lineId }
    const histories = await askHistories(tools, target)
    const acceptance = { request, fingerprint: fingerprintOf(request), target, histories }
    const accepted = await tools.writer
      .write((tx) => repeat(tools, tx, acceptance) ?? accept(tools, tx, acceptance))
      .catch((error: unknown) => {
        if (error instanceof LoopError) tools.onLoop(error.line)
        throw error
      })
    const { isReplay, messageId } = accepted
    const answer = accepted.answer ?? (await waitForEnd(tools, request, accepted.message))
    return { ...answer, isReplay, messageId, reason: reasonOf(answer) }
  }
}

/** The result of a request: an answer that was given before, or a message whose end is waited for. */
type Accepted = { readonly messageId: string; readonly isReplay: boolean } & (
  | { readonly answer: Answer }
  | { readonly answer: null; readonly message: Outbound }
)

/** Decides on a new message and stores it, or throws and so stores nothing. */
function accept(tools: SendTools, tx: Tx, acceptance: Acceptance): Accepted {
  const { request, fingerprint, target, histories } = acceptance
  tools.requireAccepting()
  const now = tools.stamps.now()
  const { handle } = target.recipient
  for (const [lineId, isKnown] of histories) {
    if (isKnown === true) markKnown(tx, { lineId, handle }, now)
  }
  const found = lineFor(tools, tx, target, now)
  const { line } = found
  requireUnpaused(tools, tx, { source: request.source, lineId: line.id, handle })
  requireNoLoop(tx, found, { handle, now, practiceKinds: tools.directory.practiceKinds })
  const history = histories.get(line.id) ?? null
  const contactHold = reserveSlot(tx, line, handle, { history, now })
  if (contactHold === 'full') throw limitReached(tx, line, now)
  const message = record(tools, tx, acceptance, { line, contactHold, now })
  const key = request.idempotencyKey
  if (key !== null) recordRequest(tx, { key, fingerprint, messageId: message.id, now })
  tools.writer.afterCommit(() => tools.dispatchSignal.notify())
  return { message, messageId: message.id, answer: null, isReplay: false }
}

function record(
  tools: SendTools,
  tx: Tx,
  { request, target }: Acceptance,
  place: {
    readonly line: Line
    readonly contactHold: Outbound['contactHold']
    readonly now: Timestamp
  },
): Outbound {
  const { line, contactHold, now } = place
  const { text, source } = request
  const party = { lineId: line.id, phoneNumber: line.number, handle: target.recipient.handle }
  const conversationId = openConversation(tx, tools.stamps, { ...party, now })
  const id = tools.stamps.id('msg')
  const guid = randomGuid(tools.random)
  const message = insertMessage(
    tx,
    newMessage(
      { ...party, id, conversationId, text, guid, source, createdAt: now },
      {
        isPinned: target.lineId !== null,
        contactHold,
        ...initialPosition(tx, { conversationId, text }, now),
      },
    ),
  )
  noteMessage(tx, conversationId, { seq: message.seq, service: message.service, now })
  return message
}

/**
 * The same request again: its first answer; the message's end, where it is still under way; or, where a
 * crash left it unanswered, the message as it is now. Null where the request is new.
 */
function repeat(tools: SendTools, tx: Tx, { request, fingerprint }: Acceptance): Accepted | null {
  const key = request.idempotencyKey
  const known = key === null ? null : findIdempotency(tx, key)
  if (key === null || known === null) return null
  requireSame(known, fingerprint)
  const { messageId, answer } = known
  if (answer !== null) return { messageId, isReplay: true, answer }
  const message = findMessage(tx, messageId)
  if (message === null) throw new RelayError('not_found', 'The message of this key was deleted.')
  if (message.status === 'queued' || message.status === 'sending') {
    return { messageId, isReplay: true, answer: null, message }
  }
  const first = keepFirstAnswer(tx, key, answerOf(message, tools.waitReason))
  return { messageId, isReplay: true, answer: first }
}

/** Waits while a line works on the message; one that waits for more than that is answered at once. */
async function waitForEnd(
  tools: SendTools,
  request: SendRequest,
  message: Outbound,
): Promise<Answer> {
  const key = request.idempotencyKey
  const found = tools.directory.find(message.lineId)
  const isTurn = message.queuedReason === null || message.queuedReason === 'earlier_message'
  const isWorkedOn = found !== null && takesMessages(found) && isTurn && tools.mayLeave()
  const waitMs = isWorkedOn ? (request.waitMs ?? tools.defaultWaitMs) : 0
  const answer = await tools.callers.wait(message.id, key, waitMs)
  if (answer !== null) return answer
  const latest = (): Message => findMessage(tools.db, message.id) ?? message
  if (key === null) return answerOf(latest(), tools.waitReason)
  return tools.writer.write((tx) => keepFirstAnswer(tx, key, answerOf(latest(), tools.waitReason)))
}

/** The code of the message's error, where the line refused it permanently. */
function reasonOf(answer: Answer): string | null {
  if (answer.kind !== 'send_failed') return null
  const resource = JSON.parse(answer.body) as api.Message // `answerOf` wrote it.
  return resource.error?.code ?? null
}

function requireSame(known: IdempotencyRecord, fingerprint: string): void {
  if (known.fingerprint === fingerprint) return
  throw new RelayError(
    'idempotency_conflict',
    'This Idempotency-Key was used with other values: use a new key for a new message.',
  )
}

function fingerprintOf({ to, text, lineId }: SendRequest): string {
  return Buffer.from(sha256(JSON.stringify([to, text, lineId]))).toString('base64url')
}

/** A version 4 UUID in upper case, as Messages writes them. */
function randomGuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = 0x40 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return guidFromBytes(bytes)
}
