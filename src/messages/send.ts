// Accepts what a caller sends. One transaction writes the idempotency record, the conversation, the place
// in the day's budget and the message; what speaks against the message is thrown, and so leaves no trace.
// After the commit dispatch is signalled, and a driver starts.

import type { SendAttachment } from '../api/attachments.ts'
import type * as api from '../api/messages.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { guidFromBytes, type AttachmentId, type MemberId, type Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageExtras, WantedService } from '../domain/message-extras.ts'
import {
  SCHEDULED_MS_MAX,
  isOnTheWay,
  type Message,
  type MessageSource,
  type Outbound,
} from '../domain/message.ts'
import { NO_RULES, callerId, type KeyCaller } from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import { markKnown } from '../storage/contacts.ts'
import { openConversation, noteMessage } from '../storage/conversations.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  findIdempotency,
  keepFirstAnswer,
  recordRequest,
  type RequestKey,
} from '../storage/idempotency.ts'
import { findMessage, insertMessage, newMessage } from '../storage/messages.ts'
import { evidenceOf } from '../storage/recipients.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import { sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'
import type { Signal } from '../system/signal.ts'
import { reserveSlot } from './contact-budget.ts'
import { deferredPosition, initialPosition, newApproval } from './conversation-order.ts'
import type { AttemptTools } from './dispatch-attempt.ts'
import { countByRules, requireByRules } from './key-rules.ts'
import { takesMessages } from './line-directory.ts'
import { attach, attachmentsFor, type AttachmentTools } from './parts.ts'
import type { WaitReason } from './resource.ts'
import {
  askHistories,
  checkedRecipient,
  conversationTarget,
  limitReached,
  lineFor,
  LoopError,
  notSupported,
  requireNoLoop,
  requireText,
  requireUnpaused,
  type Histories,
  type Target,
} from './send-target.ts'
import { answerOf, type Answer } from './waiting-callers.ts'

export type SendRequest = {
  /** A recipient, or the conversation in which the message goes. */
  readonly to: string | { readonly conversationId: string }
  /** Empty where attachments are all of it. */
  readonly text: string
  readonly lineId: string | null
  readonly attachments?: readonly SendAttachment[] | undefined
  readonly service?: WantedService | undefined
  readonly replyTo?: api.SendRequest['reply_to']
  readonly idempotencyKey: string | null
  /** The key of the caller; null for its owner. */
  readonly key: KeyCaller | null
  /** The longest wait of the answer for the line, in milliseconds; null for the configured time. */
  readonly waitMs: number | null
  readonly source: MessageSource
  /** The member of the dashboard who wrote it. */
  readonly memberId?: MemberId | undefined
  /** The time before which it does not leave. */
  readonly sendAt?: Timestamp | undefined
  /** It goes in the quiet hours of its line, too. */
  readonly isUrgent?: boolean | undefined
  /** A person sends it although the recipient has opted out. */
  readonly isConfirmed?: boolean | undefined
}

export type SendAnswer = Answer & {
  readonly isReplay: boolean
  readonly messageId: string
  /** Reason of a permanent refusal by the line, for `send_failed`. */
  readonly reason: string | null
}

export type SendTools = AttemptTools &
  AttachmentTools & {
    readonly random: Random
    readonly dispatchSignal: Signal
    readonly waitReason: WaitReason
    readonly defaultWaitMs: number
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
  readonly attachmentIds: readonly AttachmentId[]
}

/** Sends a message: see `api.md`, "Sending". Throws RelayError for what is not accepted. */
export function createSend(tools: SendTools): (request: SendRequest) => Promise<SendAnswer> {
  return async (request) => {
    const fingerprint = fingerprintOf(request)
    const known = await repeatKnown(tools, request, fingerprint)
    const accepted = known ?? (await acceptNew(tools, request, fingerprint))
    const { isReplay, messageId } = accepted
    const answer = accepted.answer ?? (await waitForEnd(tools, request, accepted.message))
    return { ...answer, isReplay, messageId, reason: reasonOf(answer) }
  }
}

/** A repeat looks for no conversation and fetches no URL: both may be gone by now. */
async function repeatKnown(
  tools: SendTools,
  request: SendRequest,
  fingerprint: string,
): Promise<Accepted | null> {
  const { to, attachments } = request
  if (attachments === undefined && typeof to === 'string') return null
  const key = requestKeyOf(request)
  if (key === null || findIdempotency(tools.db, key) === null) return null
  return tools.writer.write((tx) => repeat(tools, tx, request, fingerprint))
}

async function acceptNew(
  tools: SendTools,
  request: SendRequest,
  fingerprint: string,
): Promise<Accepted> {
  const target = targetOf(tools, request)
  const histories = await askHistories(tools, target)
  const requireTarget = () => {
    tools.requireAccepting()
    const now = tools.ids.now()
    requireAllowed(tools.db, { request, target, histories }, now)
    lineFor(tools, tools.db, target, startOf(request, { now, clock: tools.clock }))
  }
  const { attachments, key, memberId } = request
  const attachmentIds =
    attachments === undefined
      ? []
      : await attachmentsFor(tools, { attachments, key, memberId }, requireTarget)
  const acceptance = { request, fingerprint, target, histories, attachmentIds }
  return tools.writer
    .write((tx) => repeat(tools, tx, request, fingerprint) ?? accept(tools, tx, acceptance))
    .catch((error: unknown) => {
      if (error instanceof LoopError) tools.onLoop(error.line)
      throw error
    })
}

function targetOf(tools: SendTools, request: SendRequest): Target {
  const { to, lineId, replyTo } = request
  if (replyTo !== undefined && replyTo.if_supported !== true) {
    throw notSupported('replies', 'No line can send a reply: if_supported sends it plainly.')
  }
  const beside = { lines: linesOf(request), extras: extrasOf(request) }
  return typeof to === 'string'
    ? { recipient: checkedRecipient(to), lineId, ...beside }
    : { ...conversationTarget(tools.db, to.conversationId), ...beside }
}

function linesOf({ key }: SendRequest): LineLimit {
  return key?.permissions.lineIds ?? null
}

type Moment = { readonly now: Timestamp; readonly clock: Pick<ConfirmedClock, 'now'> }

/** The time from which the message may go; the clock says what is in the future. */
function startOf({ sendAt }: SendRequest, { now, clock }: Moment): Timestamp {
  if (sendAt === undefined) return now
  const aheadMs = sendAt - clock.now()
  if (aheadMs > 0 && aheadMs <= SCHEDULED_MS_MAX) return sendAt
  throw invalidRequest({ path: 'send_at', message: 'must be in the future, at most 90 days ahead' })
}

/** Null for a text message, as it always was. */
function extrasOf(request: SendRequest): MessageExtras | null {
  const { to, lineId, attachments, service, sendAt, isUrgent, isConfirmed, memberId } = request
  const lineIds = lineId === null && typeof to === 'string' ? linesOf(request) : null
  const extras: MessageExtras = {
    lineIds: lineIds ?? undefined,
    attachmentCount: attachments?.length,
    wantedService: service,
    sendAt,
    isUrgent: isUrgent || undefined,
    isConfirmed: isConfirmed || undefined,
    quietHours: request.key?.permissions.rules.quietHours ?? undefined,
    memberId,
  }
  return Object.values(extras).every((value) => value === undefined) ? null : extras
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
  const now = tools.ids.now()
  const { recipient } = target
  const { handle } = recipient
  for (const [lineId, isKnown] of histories) {
    if (isKnown === true) markKnown(tx, { lineId, handle }, now)
  }
  const waitsFrom = startOf(request, { now, clock: tools.clock })
  requireAllowed(tx, acceptance, now)
  const found = lineFor(tools, tx, target, waitsFrom)
  const { line } = found
  requireUnpaused(tools, tx, { source: request.source, lineId: line.id, handle })
  requireNoLoop(tx, found, { recipient, now, practiceKinds: tools.directory.practiceKinds })
  const history = histories.get(line.id) ?? null
  requireText(tx, found, { text: request.text, extras: target.extras }, { handle, history })
  const isGroup = recipient.kind === 'group'
  const day = tools.days.of(waitsFrom)
  const isLater = day > tools.days.of(now)
  const contactHold = isGroup ? 'none' : reserveSlot(tx, line, handle, { history, day, isLater })
  if (contactHold === 'full') throw limitReached(tools, tx, line, { now, at: waitsFrom })
  const message = record(tools, tx, acceptance, { line, contactHold, now, waitsFrom })
  const key = requestKeyOf(request)
  if (key !== null) recordRequest(tx, { ...key, fingerprint, messageId: message.id, now })
  if (hasRules(request.key)) countByRules(tx, request.key, message.id, now)
  tools.writer.afterCommit(() => tools.dispatchSignal.notify())
  return { message, messageId: message.id, answer: null, isReplay: false }
}

type Considered = Pick<Acceptance, 'request' | 'target' | 'histories'>

/** Throws where a rule of the caller's key speaks against the message. */
function requireAllowed(db: Db, { request, ...send }: Considered, now: Timestamp): void {
  const { key } = request
  if (hasRules(key)) requireByRules(db, { key, ...send }, now)
}

function hasRules(key: KeyCaller | null): key is KeyCaller {
  return key !== null && key.permissions.rules !== NO_RULES
}

function record(
  tools: SendTools,
  tx: Tx,
  { request, target, attachmentIds }: Acceptance,
  place: {
    readonly line: Line
    readonly contactHold: Outbound['contactHold']
    readonly now: Timestamp
    readonly waitsFrom: Timestamp
  },
): Outbound {
  const { line, contactHold, now, waitsFrom } = place
  const { text, source } = request
  const { recipient } = target
  const isGroup = recipient.kind === 'group'
  const party = { lineId: line.id, phoneNumber: line.number, handle: recipient.handle }
  const conversationId = isGroup
    ? recipient.conversationId
    : openConversation(tx, tools.ids, { ...party, now })
  const id = tools.ids.id('msg')
  const guid = randomGuid(tools.random)
  const approval = newApproval(request.key, contactHold)
  const extras = approval === null ? target.extras : { ...target.extras, approval }
  const draft = { lineId: line.id, conversationId, text, extras, waitsFrom, seq: Infinity }
  const message = insertMessage(
    tx,
    newMessage(
      { ...party, id, conversationId, text, guid, source, createdAt: now },
      {
        keyId: request.key?.keyId ?? null,
        isPinned: target.lineId !== null,
        contactHold,
        isGroup,
        extras,
        ...(extras?.wantedService === undefined ? {} : { service: firstService(tx, target) }),
        waitsFrom,
        ...(deferredPosition(tools, tx, draft) ?? initialPosition(tx, draft, now)),
      },
    ),
  )
  if (attachmentIds.length > 0) attach(tx, message, attachmentIds)
  noteMessage(tx, conversationId, message, now)
  if (approval !== null) tools.publish(tx, 'approval.requested', message)
  return message
}

/** The service of the first try, where the caller has asked for one. */
function firstService(tx: Tx, { recipient, extras }: Target): 'iMessage' | 'SMS' {
  if (extras?.wantedService !== 'auto') return extras?.wantedService ?? 'iMessage'
  return evidenceOf(tx, recipient.handle, null).service === 'SMS' ? 'SMS' : 'iMessage'
}

/**
 * The same request again: its first answer; the message's end, where it is still under way; or, where a
 * crash left it unanswered, the message as it is now. Null where the request is new.
 */
function repeat(
  tools: SendTools,
  tx: Tx,
  request: SendRequest,
  fingerprint: string,
): Accepted | null {
  const key = requestKeyOf(request)
  if (key === null) return null
  const known = findIdempotency(tx, key)
  if (known === null) return null
  if (known.caller === '') throw conflict('before an upgrade of Hookline')
  if (known.fingerprint !== fingerprint) throw conflict('with other values')
  const { messageId, answer } = known
  if (answer !== null) return { messageId, isReplay: true, answer }
  const message = findMessage(tx, messageId)
  if (message === null) throw new RelayError('not_found', 'The message of this key was deleted.')
  if (isOnTheWay(message)) {
    return { messageId, isReplay: true, answer: null, message }
  }
  const first = keepFirstAnswer(tx, key, answerOf(tx, message, tools.waitReason))
  return { messageId, isReplay: true, answer: first }
}

/** Waits while a line works on the message; one that waits for more than that is answered at once. */
async function waitForEnd(
  tools: SendTools,
  request: SendRequest,
  message: Outbound,
): Promise<Answer> {
  const key = requestKeyOf(request)
  const found = tools.directory.find(message.lineId)
  const isTurn = message.queuedReason === null || message.queuedReason === 'earlier_message'
  const isWorkedOn = found !== null && takesMessages(found) && isTurn && tools.mayLeave()
  const waitMs = isWorkedOn ? (request.waitMs ?? tools.defaultWaitMs) : 0
  const answer = await tools.callers.wait(message.id, key, waitMs)
  if (answer !== null) return answer
  const latest = (): Message => findMessage(tools.db, message.id) ?? message
  if (key === null) return answerOf(tools.db, latest(), tools.waitReason)
  return tools.writer.write((tx) =>
    keepFirstAnswer(tx, key, answerOf(tx, latest(), tools.waitReason)),
  )
}

/** The code of the message's error, where the line refused it permanently. */
function reasonOf(answer: Answer): string | null {
  if (answer.kind !== 'send_failed') return null
  const resource = JSON.parse(answer.body) as api.Message // `answerOf` wrote it.
  return resource.error?.code ?? null
}

function requestKeyOf(request: SendRequest): RequestKey | null {
  const { idempotencyKey: key } = request
  return key === null ? null : { caller: callerId(request.key, request.memberId), key }
}

function conflict(how: string): RelayError {
  return new RelayError(
    'idempotency_conflict',
    `This Idempotency-Key was used ${how}: use a new key for a new message.`,
  )
}

/** Of a text to a recipient it is what it always was: records outlive a version. */
function fingerprintOf(request: SendRequest): string {
  const { to, text, lineId, attachments, service, replyTo, sendAt } = request
  const later = JSON.stringify({
    attachments,
    service,
    replyTo,
    sendAt,
    lines: linesOf(request) ?? undefined,
    isUrgent: request.isUrgent || undefined,
    isConfirmed: request.isConfirmed || undefined,
  })
  const values = [to, text, lineId, ...(later === '{}' ? [] : [later])]
  return Buffer.from(sha256(JSON.stringify(values))).toString('base64url')
}

/** A version 4 UUID in upper case, as Messages writes them. */
function randomGuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = 0x40 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return guidFromBytes(bytes)
}
