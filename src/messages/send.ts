// Accepts a caller's message. One transaction writes the idempotency record, the conversation, the slot in the daily
// contact limit and the message; a rejected message throws and stores nothing. The commit wakes dispatch.

import type * as api from '../api/messages.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { AttachmentStore } from '../attachments/store.ts'
import type { Days } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import {
  guidFromBytes,
  uuidV4,
  type AttachmentId,
  type MessageId,
  type Timestamp,
} from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Approval, MessageCallback, MessageExtras } from '../domain/message-extras.ts'
import { SCHEDULED_MS_MAX, type Outbound } from '../domain/message.ts'
import { NO_RULES, callerId, type KeyCaller } from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import { conversationsWith, openConversation, noteMessage } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import { markKnown, reserveSlot, daysOf } from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import { findIdempotency, recordRequest, type RequestKey } from '../storage/idempotency.ts'
import { findMessage, insertMessage, newMessage, updateMessage } from '../storage/messages.ts'
import { evidenceOf } from '../storage/recipients.ts'
import type { Work } from '../storage/writer.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import { sha256 } from '../system/hash.ts'
import type { Signal } from '../system/signal.ts'
import type { Publish } from '../webhooks/publish.ts'
import { linesThatCount, requireFirst, requireUnpaused } from './agents.ts'
import { countByRules, newApproval, requireByRules } from './key-rules.ts'
import { attach, attachmentsFor } from './parts.ts'
import type { MessageQueue } from './queue.ts'
import type { Routing } from './routing.ts'
import {
  conversationTarget,
  limitReached,
  LoopError,
  notSupported,
  personTarget,
  requireInLimit,
  requireNoLoop,
  requireText,
  extrasOf,
  type Histories,
  type SendRequest,
  type Target,
} from './send-target.ts'
import type { Accepted, Answer, WaitingCallers } from './waiting-callers.ts'

export type SendAnswer = Answer & {
  readonly isReplay: boolean
  readonly messageId: string
  /** The line's reason for a permanent refusal, for `send_failed`. */
  readonly reason: string | null
}

type Acceptance = {
  readonly request: SendRequest
  readonly fingerprint: string
  readonly target: Target
  readonly histories: Histories
  readonly attachmentIds: readonly AttachmentId[]
}

export class Sender {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Sender>[1]
  readonly #days: Days

  constructor(
    core: Core,
    deps: {
      readonly routing: Routing
      /** Line kinds that don't really send. */
      readonly practiceKinds: readonly string[]
      readonly queue: MessageQueue
      readonly callers: WaitingCallers
      readonly publish: Publish
      readonly dispatchSignal: Signal
      readonly store: Pick<AttachmentStore, 'has'>
      readonly attachments: Pick<Attachments, 'fetch'>
      /** Throws `storage_full` if nothing is accepted now. */
      readonly disk: { requireRoom(): void }
      readonly mayLeave: () => boolean
      /** Called with a line on which two programs seem to answer each other. */
      readonly onLoop: (line: Line) => void
      /** The default wait for an answer, in milliseconds. */
      readonly waitMs: number
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#days = daysOf(core)
  }

  /**
   * Sends a message, as the guide `api` says in "Sending". Called for requests of the API and of compatible APIs, and
   * for replies in the answers of webhooks. Resolves once the message is durable and its caller can be answered: with
   * its outcome, because it has to wait, or after `waitMs`. Throws a RelayError, and stores nothing, if it is
   * rejected.
   */
  async send(request: SendRequest): Promise<SendAnswer> {
    const fingerprint = fingerprintOf(request)
    const known = await this.#repeatKnown(request, fingerprint)
    if (known !== null) return this.#answer(request, known)
    const acceptance = await this.#prepare(request, fingerprint)
    return this.#answer(request, await this.#write((tx) => this.#acceptOnce(tx, acceptance)))
  }

  /** Accepts all messages in one transaction; throws RelayError if one is rejected, and sends none then. */
  async sendAll(requests: readonly SendRequest[]): Promise<readonly SendAnswer[]> {
    const acceptances: Acceptance[] = []
    for (const request of requests) {
      acceptances.push(await this.#prepare(request, fingerprintOf(request)))
    }
    const all = await this.#write((tx) =>
      acceptances.map((acceptance) => ({
        request: acceptance.request,
        accepted: this.#acceptOnce(tx, acceptance),
      })),
    )
    return Promise.all(all.map(({ request, accepted }) => this.#answer(request, accepted)))
  }

  /**
   * Accepts the message and does `also` in one transaction; throws a RelayError if it is rejected. Called for alerts,
   * which wait for no line and no outcome.
   */
  async accept(request: SendRequest, also: (tx: Tx, id: MessageId) => void): Promise<void> {
    const acceptance = await this.#prepare(request, fingerprintOf(request))
    await this.#write((tx) => {
      also(tx, this.#acceptOnce(tx, acceptance).messageId)
    })
  }

  async #answer(request: SendRequest, accepted: Accepted): Promise<SendAnswer> {
    const { isReplay, messageId } = accepted
    const waitMs = this.#deps.mayLeave() ? (request.waitMs ?? this.#deps.waitMs) : 0
    const key = requestKeyOf(request)
    const answer =
      accepted.answer ?? (await this.#deps.callers.answer(accepted.message, key, waitMs))
    return { ...answer, isReplay, messageId, reason: reasonOf(answer) }
  }

  /** Answers a repeat without its conversation or URLs: both may be gone by now. */
  async #repeatKnown(request: SendRequest, fingerprint: string): Promise<Accepted | null> {
    const { to, attachments } = request
    if (attachments === undefined && typeof to === 'string') return null
    const key = requestKeyOf(request)
    if (key === null || findIdempotency(this.#core.db, key) === null) return null
    return this.#core.writer.write((tx) => this.#deps.callers.repeat(tx, key, fingerprint))
  }

  /** Gets what the transaction needs: the lines' histories of the recipient, and files by URL. */
  async #prepare(request: SendRequest, fingerprint: string): Promise<Acceptance> {
    const target = this.#targetOf(request)
    requireInLimit(this.#core.db, target, request.conversationIds)
    const histories = await this.#deps.routing.askHistories(target)
    const requireTarget = () => {
      this.#deps.disk.requireRoom()
      const now = this.#core.ids.now()
      requireAllowed(this.#core.db, { request, target, histories }, now)
      this.#deps.routing.lineFor(this.#core.db, target, startOf(request, now, this.#core.clock))
    }
    const { attachments } = request
    const { store, attachments: files } = this.#deps
    const given = attachments && { ...request, attachments, requireTarget }
    const attachmentIds = given ? await attachmentsFor(this.#core.db, store, files, given) : []
    return { request, fingerprint, target, histories, attachmentIds }
  }

  #write<T>(work: Work<T>): Promise<T> {
    return this.#core.writer.write(work).catch((error: unknown) => {
      if (error instanceof LoopError) this.#deps.onLoop(error.line)
      throw error
    })
  }

  #acceptOnce(tx: Tx, acceptance: Acceptance): Accepted {
    const { request, fingerprint } = acceptance
    const key = requestKeyOf(request)
    return (key && this.#deps.callers.repeat(tx, key, fingerprint)) ?? this.#accept(tx, acceptance)
  }

  #targetOf(request: SendRequest): Target {
    const { to, lineId, replyTo, conversationIds } = request
    if (replyTo !== undefined && replyTo.if_supported !== true) {
      throw notSupported('replies', 'No line can send a reply: if_supported sends it plainly.')
    }
    const lines = linesWithin(this.#core.db, request.limits)
    const extras = extrasOf(request)
    return typeof to === 'string'
      ? { ...personTarget(this.#core.db, to, { lineId, lines, within: conversationIds }), extras }
      : { ...conversationTarget(this.#core.db, to.conversationId), lines, extras }
  }

  /** Stores a new message, or throws and stores nothing. */
  #accept(tx: Tx, acceptance: Acceptance): Accepted {
    const { request, fingerprint, histories } = acceptance
    // The line may have moved to another site meanwhile.
    const target = { ...acceptance.target, lines: linesWithin(tx, request.limits) }
    this.#deps.disk.requireRoom()
    const now = this.#core.ids.now()
    const { recipient } = target
    const { handle } = recipient
    for (const [lineId, isKnown] of histories) {
      if (isKnown === true) markKnown(tx, { lineId, handle }, now)
    }
    const waitsFrom = startOf(request, now, this.#core.clock)
    requireAllowed(tx, { ...acceptance, target }, now)
    const found = this.#deps.routing.lineFor(tx, target, waitsFrom)
    const { line } = found
    const { source, agent, conversationIds } = request
    const isAgent = agent !== undefined
    const isPinned = target.lineId !== null
    const lineIds = linesThatCount({ isAgent, isPinned, lineId: line.id, limit: target.lines })
    requireUnpaused(this.#core.settings, tx, { source, isAgent, conversationIds, lineIds, handle })
    requireNoRepeat(tx, { ...acceptance, target }, lineIds)
    requireNoLoop(tx, found, { recipient, now, practiceKinds: this.#deps.practiceKinds })
    const history = histories.get(line.id) ?? null
    requireText(tx, found, { text: request.text, extras: target.extras }, { handle, history })
    const isGroup = recipient.kind === 'group'
    const findDay = () => this.#days.of(waitsFrom, line.id)
    const isLater = waitsFrom > now && findDay() > this.#days.of(now, line.id)
    const isFree = isGroup || request.isAlert === true
    const contactHold = isFree
      ? 'none'
      : reserveSlot(tx, line, handle, { history, findDay, isLater })
    if (contactHold === 'full') throw limitReached(this.#days, tx, line, { now, at: waitsFrom })
    const message = this.#record(tx, acceptance, { line, contactHold, now, waitsFrom })
    const key = requestKeyOf(request)
    if (key !== null) recordRequest(tx, { ...key, fingerprint, messageId: message.id, now })
    if (hasRules(request.key)) countByRules(tx, request.key, message.id, now)
    this.#core.writer.afterCommit(() => this.#deps.dispatchSignal.notify())
    return { message, messageId: message.id, answer: null, isReplay: false }
  }

  #record(
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
    const { text, source, key } = request
    const { recipient } = target
    const isGroup = recipient.kind === 'group'
    const party = { lineId: line.id, phoneNumber: line.number, handle: recipient.handle }
    const conversationId = isGroup
      ? recipient.conversationId
      : openConversation(tx, this.#core.ids, { ...party, now })
    const id = this.#core.ids.id('msg')
    const guid = guidFromBytes(uuidV4(this.#core.random.bytes(16)))
    const approval = hasRules(key) ? newApproval(tx, key, { recipient, line, contactHold }) : null
    noteResend(tx, request, { id, conversationId, now })
    const extras = extrasWith(target.extras, { approval, callback: request.callback?.(tx) ?? null })
    const draft = { lineId: line.id, conversationId, text, extras, waitsFrom, seq: Infinity }
    const message = insertMessage(
      tx,
      newMessage(
        { ...party, id, conversationId, text, guid, source, createdAt: now },
        {
          keyId: key?.keyId ?? null,
          isPinned: target.lineId !== null,
          contactHold,
          isGroup,
          extras,
          ...(extras?.wantedService === undefined ? {} : { service: firstService(tx, target) }),
          waitsFrom,
          ...this.#deps.queue.firstPosition(tx, draft, now),
        },
      ),
    )
    if (attachmentIds.length > 0) attach(tx, message, attachmentIds)
    noteMessage(tx, conversationId, message, now)
    if (approval !== null) this.#deps.publish(tx, 'approval.requested', message)
    return message
  }
}

/** The earliest send time. The clock, not a timestamp, decides what is in the future. */
function startOf({ sendAt }: SendRequest, now: Timestamp, clock: ConfirmedClock): Timestamp {
  if (sendAt === undefined) return now
  const aheadMs = sendAt - clock.now()
  if (aheadMs > 0 && aheadMs <= SCHEDULED_MS_MAX) return sendAt
  throw invalidRequest({ path: 'send_at', message: 'must be in the future, at most 90 days ahead' })
}

/**
 * Records on a failed message that it was sent again. Its `updatedAt` stays: by that time its failure is evidence of
 * the service that the recipient uses.
 */
function noteResend(
  tx: Tx,
  { resends, service: wantedService }: SendRequest,
  by: { readonly id: MessageId; readonly conversationId: string; readonly now: Timestamp },
): void {
  const failed = resends === undefined ? null : findMessage(tx, resends)
  if (failed?.conversationId !== by.conversationId || !isUnsent(failed)) return
  const sentAgain = { messageId: by.id, at: by.now, wantedService }
  updateMessage(tx, failed, { extras: { ...failed.extras, sentAgain } }, failed.updatedAt)
}

function isUnsent({ direction, status }: Outbound): boolean {
  return direction === 'outbound' && (status === 'failed' || status === 'expired')
}

type Considered = Pick<Acceptance, 'request' | 'target' | 'histories'>

function requireAllowed(db: Db, considered: Considered, now: Timestamp): void {
  const { request, target, histories } = considered
  const { key } = request
  if (hasRules(key)) requireByRules(db, { key, target, histories }, now)
}

/** Throws if an agent sends again what it has sent already. */
function requireNoRepeat(tx: Tx, { request, target }: Acceptance, lineIds: LineLimit): void {
  const { agent, key, text } = request
  if (agent === undefined) return
  const { recipient } = target
  const conversationIds =
    recipient.kind === 'group'
      ? [recipient.conversationId]
      : conversationsWith(tx, { lineIds, handle: recipient.handle }).map(({ id }) => id)
  const hasKey = request.idempotencyKey !== null
  requireFirst(tx, { agent, hasKey, lineage: key?.lineage ?? null, conversationIds, text })
}

function extrasWith(
  extras: MessageExtras | null,
  more: { readonly approval: Approval | null; readonly callback: MessageCallback | null },
): MessageExtras | null {
  const { approval, callback } = more
  if (approval === null && callback === null) return extras
  return { ...extras, ...(approval && { approval }), ...(callback && { callback }) }
}

function hasRules(key: KeyCaller | null): key is KeyCaller {
  return key !== null && key.permissions.rules !== NO_RULES
}

/** The service of the first try, if the caller asked for one. */
function firstService(tx: Tx, { recipient, extras }: Target): 'iMessage' | 'SMS' {
  if (extras?.wantedService !== 'auto') return extras?.wantedService ?? 'iMessage'
  return evidenceOf(tx, recipient.handle, null).service === 'SMS' ? 'SMS' : 'iMessage'
}

/** The message's error code, if the line refused it permanently. */
function reasonOf(answer: Answer): string | null {
  if (answer.kind !== 'send_failed') return null
  const resource = JSON.parse(answer.body) as api.Message // `answerOf` wrote it.
  return resource.error?.code ?? null
}

function requestKeyOf(request: SendRequest): RequestKey | null {
  const { idempotencyKey: key } = request
  return key === null ? null : { caller: callerId(request.key, request.memberId), key }
}

/** Unchanged for plain texts, so that stored records still match. */
function fingerprintOf(request: SendRequest): string {
  const { to, text, lineId, attachments, service, replyTo, sendAt } = request
  const later = JSON.stringify({
    attachments,
    service,
    replyTo,
    sendAt,
    lines: request.limits.lineIds ?? undefined,
    sites: request.limits.siteIds ?? undefined,
    isUrgent: request.isUrgent || undefined,
    isConfirmed: request.isConfirmed || undefined,
    answers: request.agent?.answers ?? undefined,
  })
  const values = [to, text, lineId, ...(later === '{}' ? [] : [later])]
  return Buffer.from(sha256(JSON.stringify(values))).toString('base64url')
}
