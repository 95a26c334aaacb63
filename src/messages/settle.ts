// The ends of an outbound message, and all that goes with them in the same transaction: its place
// in the day's budget, its guid, its events, the answer to a waiting caller, the next message's turn.

import type { Days } from '../domain/days.ts'
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
import type { Parts, SentParts } from '../lines/driver.ts'
import { noteService } from '../storage/conversations.ts'
import type { Tx, Db } from '../storage/database.ts'
import { rememberGuid, takeChanges, takeReceipts } from '../storage/intake-records.ts'
import {
  announcementAt,
  heldBeside,
  queuedOnDeletedLines,
  sendingWithoutGuid,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'
import type { Writer } from '../storage/writer.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Publish } from '../webhooks/publish.ts'
import { applyChange } from './changes.ts'
import { confirmContact, releaseSlot } from './contact-budget.ts'
import { promoteNext, wakeSameText } from './conversation-order.ts'
import {
  markByEnd,
  markFirst,
  markOtherFailed,
  markSent,
  provenParts,
  rememberParts,
} from './parts.ts'
import type { WaitingCallers } from './waiting-callers.ts'

export type SettleTools = {
  readonly sentenceOf: SentenceOf
  readonly ids: LogicalClock
  readonly clock: Pick<ConfirmedClock, 'now'>
  readonly days: Days
  readonly publish: Publish
  readonly callers: WaitingCallers
  /** Messages typed on the device are announced like those that the relay sends. */
  readonly announcesDeviceMessages: () => boolean
}

/** The device has the message, or says something of it: `sent`, `delivered`, `read` or `failed`. */
export function applyReceipt(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  receipt: Omit<Receipt, 'guid'>,
): Outbound {
  const carried = carriedBy(tx, message, receipt)
  const isOfOne = receipt.kind === 'delivered' || receipt.kind === 'read'
  // In a group it is said of one of its people only: that it was sent is all that follows.
  const known = message.isGroup && isOfOne ? ({ ...receipt, kind: 'sent' } as const) : receipt
  const progress =
    receipt.kind === 'failed'
      ? failureOf(tools, tx, message, receipt.reason)
      : progressBy(message, known, tools.sentenceOf)
  if (progress !== null) return settle(tools, tx, carried, progress)
  return carried === message ? message : saveMessage(tx, carried, tools.ids.now())
}

/** The message with the service that the device names; the caller saves it. */
function carriedBy(tx: Tx, message: Outbound, { service = message.service }: Carried): Outbound {
  if (service === message.service) return message
  noteService(tx, message.conversationId, { seq: message.seq, service })
  return { ...message, service }
}

/** The end of a message that did not leave, or of which no more than the proven parts did. */
function failureOf(
  { sentenceOf }: SettleTools,
  tx: Tx,
  message: Outbound,
  reason: string | null,
): Progress | null {
  const isPartlySent =
    hasAttachments(message) && message.sentAt === null && provenParts(tx, message).length > 0
  if (!isPartlySent) return failBy(message, reason, sentenceOf)
  const why = sentenceOf(reason ?? 'send_failed')
  return failBy(message, 'partly_sent', (code) => `${sentenceOf(code)} ${why}`)
}

/** The message did not leave and never will, or no more of it than is proven to be sent. */
export function failMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  reason: string,
): Outbound {
  const progress = failureOf(tools, tx, message, reason)
  return progress === null ? message : settle(tools, tx, message, progress)
}

/** These parts were sent, and the rest was refused. */
export function failPartly(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  { reason, sent }: { readonly reason: string; readonly sent: SentParts },
): Outbound {
  markSent(tx, message, sent, null)
  return failMessage(tools, tx, message, reason)
}

/** A receipt of another part than the last: only its failure says something of the whole. */
export function applyPartReceipt(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  { kind }: Pick<Receipt, 'kind'>,
): Outbound {
  const progress = kind === 'failed' ? failBy(message, 'partly_sent', tools.sentenceOf) : null
  if (progress === null) return message
  markOtherFailed(tx, message)
  return settle(tools, tx, message, progress)
}

/** Queued for too long: nothing of it left, and nothing follows. */
export function expireMessage(tools: SettleTools, tx: Tx, message: Outbound): Outbound {
  return settle(tools, tx, message, {
    status: 'expired',
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    error: { code: 'expired', message: FAILURES.expired },
    events: ['message.failed'],
  })
}

/** Nobody can say whether it left, or not of all its parts: it is never sent again, and holds up nobody. */
export function makeUncertain(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  { reason, sent }: { readonly reason: string; readonly sent?: SentParts | undefined },
): Outbound {
  if (message.status !== 'queued' && message.status !== 'sending') return message
  if (sent !== undefined) markSent(tx, message, sent, null)
  const now = tools.ids.now()
  const because = reason === 'outcome_unknown' ? '' : ` (${reason.replaceAll('_', ' ')})`
  const saved = saveMessage(
    tx,
    {
      ...message,
      status: 'uncertain',
      queuedReason: null,
      dueAt: announcementAt(now),
      error: { code: 'outcome_unknown', message: `${FAILURES.outcome_unknown}${because}` },
    },
    now,
  )
  promoteNext(tx, message.conversationId, now)
  tools.callers.settled(tx, saved)
  return saved
}

/**
 * The device's guid of a message, and its service. Receipts that came before it are applied now: a
 * device may report a message delivered before it answers that it took it.
 */
export function assignGuid(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  report: Carried & Parts & { readonly guid: string },
): Outbound {
  const carried = carriedBy(tx, message, report)
  if (carried === message && message.platformGuid === report.guid) return message
  rememberGuid(tx, message.lineId, report.guid, message.id)
  let named = saveMessage(tx, { ...carried, platformGuid: report.guid }, tools.ids.now())
  const { partGuids } = report
  if (partGuids !== undefined) {
    markFirst(tx, named, partGuids.length)
    if (rememberParts(tx, named, partGuids)) named = applyPartReceipt(tools, tx, named, FAILED)
  }
  return applyWaiting(tools, tx, named, report.guid)
}

/** `accepted`: sent now, whatever came before; with its guid where the device gave one. */
export function acceptMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  { guid, service, partGuids }: Carried & Parts & { readonly guid: string | null },
): Outbound {
  const at = tools.ids.now()
  const sent = { kind: 'sent', at, reason: null, service } as const
  const hasFailed = partGuids !== undefined && rememberParts(tx, message, partGuids)
  if (guid === null) return applyReceipt(tools, tx, message, sent)
  rememberGuid(tx, message.lineId, guid, message.id)
  const named = { ...message, platformGuid: guid }
  let saved = applyReceipt(tools, tx, named, sent)
  if (saved === named) saved = saveMessage(tx, named, at)
  if (hasFailed) saved = applyPartReceipt(tools, tx, saved, FAILED)
  return applyWaiting(tools, tx, saved, guid)
}

const FAILED = { kind: 'failed' } as const

function applyWaiting(tools: SettleTools, tx: Tx, message: Outbound, guid: string): Outbound {
  let saved = message
  for (const receipt of takeReceipts(tx, message.lineId, guid)) {
    saved = applyReceipt(tools, tx, saved, receipt)
  }
  return applyWaitingChanges(tools, tx, saved, guid)
}

/** Reactions and edits that came before their message did are applied to it now. */
export function applyWaitingChanges(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  guid: string,
): Outbound {
  let saved = message
  for (const { change } of takeChanges(tx, message.lineId, guid)) {
    saved = applyChange(tools, tx, saved, change)
  }
  return saved
}

type Decision = Pick<Approval, 'state'> & Partial<Approval>

/** The approval is decided, or will never be: those that waited behind it are looked at again. */
export function resolveApproval(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  decision: Decision,
): Outbound {
  const { extras } = message
  if (extras?.approval?.state !== 'pending') return message
  const now = tools.ids.now()
  const dueAt = timestamp(tools.clock.now())
  const approval = { ...extras.approval, resolvedAt: now, ...decision }
  const resolved = saveMessage(tx, { ...message, extras: { ...extras, approval } }, now)
  tools.publish(tx, 'approval.resolved', resolved)
  for (const behind of heldBeside(tx, message)) {
    if (behind.extras?.approval?.state !== 'approved') continue
    const waitsFrom = timestamp(Math.max(behind.waitsFrom, now))
    saveMessage(tx, { ...behind, waitsFrom, dueAt }, now)
  }
  return resolved
}

function settle(tools: SettleTools, tx: Tx, pending: Outbound, progress: Progress): Outbound {
  const state = progress.status === 'expired' ? 'expired' : 'canceled'
  const message = resolveApproval(tools, tx, pending, { state })
  const now = tools.ids.now()
  const wasWaiting = isOnTheWay(message)
  const wasUncertain = message.status === 'uncertain'
  const hasLeft = hasAttachments(message)
    ? markByEnd(tx, message, progress)
    : progress.sentAt !== null
  if (!hasLeft) releaseSlot(tx, message, tools.days.of(now))
  else if (message.sentAt === null) confirmContact(tx, message, now)
  const saved = saveMessage(
    tx,
    {
      ...message,
      status: progress.status,
      sentAt: progress.sentAt,
      deliveredAt: progress.deliveredAt,
      readAt: progress.readAt,
      error: progress.error,
      dueAt: null,
      queuedReason: null,
      contactHold: 'none',
    },
    now,
  )
  if (saved.source !== 'device' || tools.announcesDeviceMessages()) {
    for (const event of progress.events) tools.publish(tx, event, saved)
  }
  if (wasUncertain) wakeSameText(tx, message.conversationId, now)
  if (wasWaiting) {
    promoteNext(tx, message.conversationId, now)
    tools.callers.settled(tx, saved)
  }
  return saved
}

type Tools = SettleTools & { readonly db: Db; readonly writer: Writer }

/**
 * Before anything runs: what a dead process left past its point of no return is uncertain, until its
 * driver finds its row. A message that the device holds (it has a guid) goes on waiting for its
 * receipt.
 */
export async function recoverMessages(tools: Tools): Promise<number> {
  const left = sendingWithoutGuid(tools.db)
  if (left.length === 0) return 0
  await tools.writer.write((tx) => {
    for (const message of left) makeUncertain(tools, tx, message, { reason: 'outcome_unknown' })
  })
  return left.length
}

/** After a line was deleted: what was queued on it has failed, and says so. */
export async function failOrphans(tools: Tools): Promise<void> {
  await tools.writer.write((tx) => {
    for (const message of queuedOnDeletedLines(tx)) failMessage(tools, tx, message, 'line_removed')
  })
}
