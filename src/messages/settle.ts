// The ends of an outbound message, and all that goes with them in the same transaction: its place
// in the day's budget, its guid, its events, the answer to a waiting caller, the next message's turn.

import {
  FAILURES,
  failBy,
  progressBy,
  type Outbound,
  type Progress,
  type Carried,
  type Receipt,
  type SentenceOf,
} from '../domain/message.ts'
import { noteService } from '../storage/conversations.ts'
import type { Tx, Db } from '../storage/database.ts'
import { rememberGuid, takeReceipts } from '../storage/intake-records.ts'
import {
  announcementAt,
  queuedOnDeletedLines,
  sendingWithoutGuid,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'
import type { Writer } from '../storage/writer.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Publish } from '../webhooks/publish.ts'
import { confirmContact, releaseSlot } from './contact-budget.ts'
import { promoteNext, wakeSameText } from './conversation-order.ts'
import type { WaitingCallers } from './waiting-callers.ts'

export type SettleTools = {
  readonly sentenceOf: SentenceOf
  readonly stamps: LogicalClock
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
  const progress = progressBy(message, receipt, tools.sentenceOf)
  if (progress !== null) return settle(tools, tx, carried, progress)
  return carried === message ? message : saveMessage(tx, carried, tools.stamps.now())
}

/** The message with the service that the device names; the caller saves it. */
function carriedBy(tx: Tx, message: Outbound, { service = message.service }: Carried): Outbound {
  if (service === message.service) return message
  noteService(tx, message.conversationId, { seq: message.seq, service })
  return { ...message, service }
}

/** The message did not leave and never will. */
export function failMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  reason: string,
): Outbound {
  const progress = failBy(message, reason, tools.sentenceOf)
  return progress === null ? message : settle(tools, tx, message, progress)
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

/** Nobody can say whether it left: it is never sent again, and holds up nobody. */
export function makeUncertain(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  reason: string,
): Outbound {
  if (message.status !== 'queued' && message.status !== 'sending') return message
  const now = tools.stamps.now()
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
  report: Carried & { readonly guid: string },
): Outbound {
  const carried = carriedBy(tx, message, report)
  if (carried === message && message.platformGuid === report.guid) return message
  rememberGuid(tx, message.lineId, report.guid, message.id)
  const named = saveMessage(tx, { ...carried, platformGuid: report.guid }, tools.stamps.now())
  return applyWaiting(tools, tx, named, report.guid)
}

/** `accepted`: sent now, whatever came before; with its guid where the device gave one. */
export function acceptMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  { guid, service }: Carried & { readonly guid: string | null },
): Outbound {
  const at = tools.stamps.now()
  const sent = { kind: 'sent', at, reason: null, service } as const
  if (guid === null) return applyReceipt(tools, tx, message, sent)
  rememberGuid(tx, message.lineId, guid, message.id)
  const named = { ...message, platformGuid: guid }
  let saved = applyReceipt(tools, tx, named, sent)
  if (saved === named) saved = saveMessage(tx, named, at)
  return applyWaiting(tools, tx, saved, guid)
}

function applyWaiting(tools: SettleTools, tx: Tx, message: Outbound, guid: string): Outbound {
  let saved = message
  for (const receipt of takeReceipts(tx, message.lineId, guid)) {
    saved = applyReceipt(tools, tx, saved, receipt)
  }
  return saved
}

function settle(tools: SettleTools, tx: Tx, message: Outbound, progress: Progress): Outbound {
  const now = tools.stamps.now()
  const wasWaiting = message.status === 'queued' || message.status === 'sending'
  const wasUncertain = message.status === 'uncertain'
  if (progress.sentAt === null) releaseSlot(tx, message, now)
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
    for (const message of left) makeUncertain(tools, tx, message, 'outcome_unknown')
  })
  return left.length
}

/** After a line was deleted: what was queued on it has failed, and says so. */
export async function failOrphans(tools: Tools): Promise<void> {
  await tools.writer.write((tx) => {
    for (const message of queuedOnDeletedLines(tx)) failMessage(tools, tx, message, 'line_removed')
  })
}
