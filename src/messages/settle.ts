// The outcomes of outbound messages, with everything that belongs in the same transaction: the contact slot, the
// guid, events, the answer to a waiting caller, and the next message's turn.

import { timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import {
  FAILURES,
  failBy,
  hasAttachments,
  isOnTheWay,
  progressBy,
  type Outbound,
  type Progress,
  type Carried,
  type Receipt,
  type SentenceOf,
} from '../domain/message.ts'
import type { Parts, SendOutcome, SentParts } from '../lines/driver.ts'
import { noteService } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { confirmContact, daysOf, noteFailure, releaseSlot } from '../storage/daily-contacts.ts'
import type { Tx } from '../storage/database.ts'
import { ignoreGuid, rememberGuid, takeChanges, takeReceipts } from '../storage/intake-records.ts'
import {
  announcementAt,
  heldBeside,
  promoteNext,
  queuedOnDeletedLines,
  sendingWithoutGuid,
  wakeSameText,
} from '../storage/message-queue.ts'
import { currentMessage, updateMessage, type MessageUpdate } from '../storage/messages.ts'
import type { Publish } from '../webhooks/publish.ts'
import type { DeviceChanges } from './device-changes.ts'
import {
  markByEnd,
  markFirst,
  markUnknownButLast,
  markSent,
  provenParts,
  rememberParts,
} from './parts.ts'
import type { WaitingCallers } from './waiting-callers.ts'

const FAILED = { kind: 'failed' } as const

type Unproven = Extract<SendOutcome, { readonly outcome: 'not_sent' | 'postponed' | 'unknown' }>

type Decision = Pick<Approval, 'state'> & Partial<Approval>

/**
 * Each method that takes a `tx` is one step of its caller's transaction: dispatch's with a driver's answer, intake's
 * with a device's report, or that of a person's decision. None waits or asks a device. A report of less than what is
 * stored changes nothing.
 */
export class Outcomes {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Outcomes>[1]

  constructor(
    core: Core,
    deps: {
      readonly publish: Publish
      readonly callers: WaitingCallers
      readonly sentenceOf: SentenceOf
      readonly deviceChanges: DeviceChanges
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  /**
   * Applies an outcome that proves where the message is. Returns any other outcome: what it means depends on whether
   * the driver answers a send, or finds out later.
   */
  applyProven(tx: Tx, message: Outbound, outcome: SendOutcome): Unproven | null {
    switch (outcome.outcome) {
      case 'accepted':
        this.accept(tx, message, outcome)
        return null
      case 'held':
        this.assignGuid(tx, message, outcome)
        return null
      case 'partly_sent':
        markSent(tx, message, outcome.sent, null)
        this.fail(tx, message, outcome.reason)
        return null
      case 'not_sent':
        if (outcome.strayGuid !== undefined)
          ignoreGuid(tx, message.lineId, outcome.strayGuid, this.#core.ids.now())
        return outcome
      case 'postponed':
      case 'unknown':
        return outcome
    }
  }

  /** Applies a receipt of the device: `sent`, `delivered`, `read` or `failed`. */
  applyReceipt(tx: Tx, message: Outbound, receipt: Omit<Receipt, 'guid'>): Outbound {
    return this.#applyReport(tx, message, receipt)
  }

  /** Applies a receipt; stores `answered`, fields of the driver's answer, with it. */
  #applyReport(
    tx: Tx,
    message: Outbound,
    receipt: Omit<Receipt, 'guid'>,
    answered: Pick<MessageUpdate, 'platformGuid'> = {},
  ): Outbound {
    const reported = { ...answered, ...carriedBy(tx, message, receipt) }
    const isOfOne = receipt.kind === 'delivered' || receipt.kind === 'read'
    // In a group a receipt comes from one member: it proves only that the message was sent.
    const known = message.isGroup && isOfOne ? ({ ...receipt, kind: 'sent' } as const) : receipt
    const progress =
      receipt.kind === 'failed'
        ? this.#failureOf(tx, message, receipt.reason)
        : progressBy(message, known, this.#deps.sentenceOf)
    if (progress !== null) return this.#settle(tx, message, progress, reported)
    const isNew = Object.keys(reported).length > 0
    return isNew ? updateMessage(tx, message, reported, this.#core.ids.now()) : message
  }

  /** The failure of a message of which nothing, or only the proven parts, was sent. */
  #failureOf(tx: Tx, message: Outbound, reason: string | null): Progress | null {
    const sentenceOf = this.#deps.sentenceOf
    const isPartlySent =
      hasAttachments(message) && message.sentAt === null && provenParts(tx, message).length > 0
    if (!isPartlySent) return failBy(message, reason, sentenceOf)
    const why = sentenceOf(reason ?? 'send_failed')
    return failBy(message, 'partly_sent', (code) => `${sentenceOf(code)} ${why}`)
  }

  /** Fails a message of which nothing, or only the proven parts, was sent. */
  fail(tx: Tx, message: Outbound, reason: string): Outbound {
    const progress = this.#failureOf(tx, message, reason)
    return progress === null ? message : this.#settle(tx, message, progress)
  }

  /** Rereads a listed message and fails it: the end of the one before may have changed it. */
  failNext(tx: Tx, listed: Outbound, reason: string): void {
    const message = currentMessage(tx, listed)
    if (message !== null) this.fail(tx, message, reason)
  }

  /** A receipt for a part other than the last: only a failure says something about the whole message. */
  applyPartReceipt(tx: Tx, message: Outbound, { kind }: Pick<Receipt, 'kind'>): Outbound {
    const progress =
      kind === 'failed' ? failBy(message, 'partly_sent', this.#deps.sentenceOf) : null
    if (progress === null) return message
    markUnknownButLast(tx, message)
    return this.#settle(tx, message, progress)
  }

  /** The message was queued for too long: nothing of it was sent. */
  expire(tx: Tx, message: Outbound): Outbound {
    return this.#settle(tx, message, {
      status: 'expired',
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      error: { code: 'expired', message: FAILURES.expired },
      events: ['message.failed'],
    })
  }

  /** Nobody can say whether all or a part was sent: the message is never sent again, and blocks no other. */
  makeUncertain(
    tx: Tx,
    message: Outbound,
    { reason, sent }: { readonly reason: string; readonly sent?: SentParts | undefined },
  ): Outbound {
    if (message.status !== 'queued' && message.status !== 'sending') return message
    if (sent !== undefined) markSent(tx, message, sent, null)
    const now = this.#core.ids.now()
    const because = reason === 'outcome_unknown' ? '' : ` (${reason.replaceAll('_', ' ')})`
    const error = { code: 'outcome_unknown', message: `${FAILURES.outcome_unknown}${because}` }
    const end = { status: 'uncertain', queuedReason: null, error } as const
    const saved = updateMessage(tx, message, { ...end, dueAt: announcementAt(now) }, now)
    promoteNext(tx, message.conversationId, now)
    this.#deps.callers.settled(tx, saved)
    return saved
  }

  /** Reports a message that stayed uncertain as failed. */
  announceUncertain(tx: Tx, message: Outbound): void {
    this.#deps.publish(tx, 'message.failed', message)
    updateMessage(tx, message, { dueAt: null }, this.#core.ids.now())
  }

  /** Stores the device's guid and service, and applies receipts that came before its answer. */
  assignGuid(
    tx: Tx,
    message: Outbound,
    report: Carried & Parts & { readonly guid: string },
  ): Outbound {
    const carried = carriedBy(tx, message, report)
    const isKnown = carried.service === undefined && message.platformGuid === report.guid
    if (isKnown) return message
    rememberGuid(tx, message.lineId, report.guid, message.id)
    const named = { ...carried, platformGuid: report.guid }
    let saved = updateMessage(tx, message, named, this.#core.ids.now())
    const { partGuids } = report
    if (partGuids !== undefined) {
      markFirst(tx, saved, partGuids.length)
      if (rememberParts(tx, saved, partGuids)) saved = this.applyPartReceipt(tx, saved, FAILED)
    }
    return this.#applyWaiting(tx, saved, report.guid)
  }

  /** The device accepted the message: it is sent, whatever came before. `guid` is null if the device gave none. */
  accept(
    tx: Tx,
    message: Outbound,
    { guid, service, partGuids }: Carried & Parts & { readonly guid: string | null },
  ): Outbound {
    const at = this.#core.ids.now()
    const sent = { kind: 'sent', at, reason: null, service } as const
    const hasFailed = partGuids !== undefined && rememberParts(tx, message, partGuids)
    if (guid === null) return this.applyReceipt(tx, message, sent)
    rememberGuid(tx, message.lineId, guid, message.id)
    let saved = this.#applyReport(tx, message, sent, { platformGuid: guid })
    if (hasFailed) saved = this.applyPartReceipt(tx, saved, FAILED)
    return this.#applyWaiting(tx, saved, guid)
  }

  #applyWaiting(tx: Tx, message: Outbound, guid: string): Outbound {
    let saved = message
    for (const receipt of takeReceipts(tx, message.lineId, guid)) {
      saved = this.applyReceipt(tx, saved, receipt)
    }
    return this.applyWaitingChanges(tx, saved, guid)
  }

  /** Applies reactions and edits that came before their message. */
  applyWaitingChanges(tx: Tx, message: Outbound, guid: string): Outbound {
    let saved = message
    for (const { change } of takeChanges(tx, message.lineId, guid)) {
      saved = this.#deps.deviceChanges.apply(tx, saved, change)
    }
    return saved
  }

  /** Ends a pending approval; messages that waited behind it are checked again. */
  resolveApproval(tx: Tx, message: Outbound, decision: Decision): Outbound {
    const { extras } = message
    if (extras?.approval?.state !== 'pending') return message
    const now = this.#core.ids.now()
    const dueAt = timestamp(this.#core.clock.now())
    const approval = { ...extras.approval, resolvedAt: now, ...decision }
    const resolved = updateMessage(tx, message, { extras: { ...extras, approval } }, now)
    this.#deps.publish(tx, 'approval.resolved', resolved)
    for (const behind of heldBeside(tx, resolved)) {
      if (behind.id === message.id || behind.extras?.approval?.state !== 'approved') continue
      const waitsFrom = timestamp(Math.max(behind.waitsFrom, now))
      updateMessage(tx, behind, { waitsFrom, dueAt }, now)
    }
    return resolved
  }

  /** `reported` is stored with the outcome. */
  #settle(tx: Tx, pending: Outbound, progress: Progress, reported: MessageUpdate = {}): Outbound {
    const state = progress.status === 'expired' ? 'expired' : 'canceled'
    const message = this.resolveApproval(tx, pending, { state })
    const now = this.#core.ids.now()
    const wasWaiting = isOnTheWay(message)
    const wasUncertain = message.status === 'uncertain'
    const hasLeft = hasAttachments(message)
      ? markByEnd(tx, message, progress)
      : progress.sentAt !== null
    const day = () => daysOf(this.#core).of(now, message.lineId)
    if (isRefusal(message, progress)) noteFailure(tx, message, day())
    if (!hasLeft) releaseSlot(tx, message, day())
    else if (message.sentAt === null) confirmContact(tx, message, now)
    const { events, ...end } = progress
    const settled = { dueAt: null, queuedReason: null, contactHold: 'none' } as const
    const saved = updateMessage(tx, message, { ...reported, ...end, ...settled }, now)
    if (saved.source !== 'device' || this.#core.settings.get('announce_device_messages')) {
      for (const event of events) this.#deps.publish(tx, event, saved)
    }
    if (wasUncertain) wakeSameText(tx, message.conversationId, now)
    if (wasWaiting) {
      promoteNext(tx, message.conversationId, now)
      this.#deps.callers.settled(tx, saved)
    }
    return saved
  }

  /**
   * Runs before anything else: messages that a dead process left past their point of no return are uncertain until
   * their driver finds their row. A message that the device holds, because it has a guid, keeps waiting for its
   * receipt.
   */
  async recover(): Promise<number> {
    const left = sendingWithoutGuid(this.#core.db)
    if (left.length === 0) return 0
    await this.#core.writer.write((tx) => {
      for (const message of left) this.makeUncertain(tx, message, { reason: 'outcome_unknown' })
    })
    return left.length
  }

  async failOrphans(): Promise<void> {
    await this.#core.writer.write((tx) => {
      for (const message of queuedOnDeletedLines(tx)) this.failNext(tx, message, 'line_removed')
    })
  }
}

/** True if the message was tried and didn't go through, rather than canceled or given up before. */
function isRefusal(message: Outbound, { status, error }: Progress): boolean {
  if (status !== 'failed' || message.isGroup || message.source === 'device') return false
  return !isOnTheWay(message) || message.status === 'sending' || error?.code === 'line_refused'
}

/** The service that the device reports, if it is another one; the caller stores it. */
function carriedBy(
  tx: Tx,
  message: Outbound,
  { service = message.service }: Carried,
): Pick<MessageUpdate, 'service'> {
  if (service === message.service) return {}
  noteService(tx, message.conversationId, { seq: message.seq, service })
  return { service }
}
