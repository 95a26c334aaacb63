// What becomes of an outbound message, and all that goes with it in the same transaction: its place
// in the day's budget, its guid, its events, the answer to who waits, the turn of the next one.

import type { Receipt, ReceiptKind } from '../domain/driver.ts'
import type { Timestamp } from '../domain/ids.ts'
import { failBy, progressBy, sentenceOf, type Outbound, type Progress } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import { rememberGuid, takeReceipts } from '../storage/guids.ts'
import { announcementAt } from '../storage/message-queue.ts'
import { saveMessage } from '../storage/message-rows.ts'
import type { Stamps } from '../system/stamps.ts'
import type { Publish } from '../webhooks/publish.ts'
import { confirmContact, givePlaceBack } from './contact-budget.ts'
import { passTurn, wakeSameText } from './conversation-order.ts'
import type { WaitingCallers } from './waiting-callers.ts'

export type SettleTools = {
  readonly stamps: Stamps
  readonly publish: Publish
  readonly callers: WaitingCallers
  /** Whether what a person types on the device is announced like what the relay sends. */
  readonly announcesDeviceMessages: () => boolean
}

/** The device has the message, or says something of it: `sent`, `delivered`, `read` or `failed`. */
export function applyReceipt(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  receipt: Pick<Receipt, 'kind' | 'at' | 'reason'>,
): Outbound {
  const progress = progressBy(message, receipt)
  return progress === null ? message : settle(tools, tx, message, progress)
}

/** The message did not leave and never will. */
export function failMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  reason: string,
): Outbound {
  const progress = failBy(message, reason)
  return progress === null ? message : settle(tools, tx, message, progress)
}

/** Queued for too long: nothing of it left, and nothing follows. */
export function expireMessage(tools: SettleTools, tx: Tx, message: Outbound): Outbound {
  return settle(tools, tx, message, {
    status: 'expired',
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    error: { code: 'expired', message: sentenceOf('expired') },
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
      error: { code: 'outcome_unknown', message: `${sentenceOf('outcome_unknown')}${because}` },
    },
    now,
  )
  passTurn(tx, message.conversationId, now)
  tools.callers.settled(tx, saved)
  return saved
}

/**
 * The device's guid of a message. Receipts that came before it are applied now: a device may tell
 * that a message was delivered before it answers that it took it.
 */
export function assignGuid(tools: SettleTools, tx: Tx, message: Outbound, guid: string): Outbound {
  if (message.platformGuid === guid) return message
  rememberGuid(tx, message.lineId, guid, message.id)
  let saved = saveMessage(tx, { ...message, platformGuid: guid }, tools.stamps.now())
  for (const receipt of takeReceipts(tx, message.lineId, guid)) {
    saved = applyReceipt(tools, tx, saved, receipt)
  }
  return saved
}

/** `accepted`: sent now, whatever came before; with its guid where the device told one. */
export function acceptMessage(
  tools: SettleTools,
  tx: Tx,
  message: Outbound,
  guid: string | null,
): Outbound {
  const at = tools.stamps.now()
  if (guid === null) return applyReceipt(tools, tx, message, receiptOf('sent', at))
  rememberGuid(tx, message.lineId, guid, message.id)
  const named = { ...message, platformGuid: guid }
  let saved = applyReceipt(tools, tx, named, receiptOf('sent', at))
  if (saved === named) saved = saveMessage(tx, named, at)
  for (const receipt of takeReceipts(tx, message.lineId, guid)) {
    saved = applyReceipt(tools, tx, saved, receipt)
  }
  return saved
}

function settle(tools: SettleTools, tx: Tx, message: Outbound, progress: Progress): Outbound {
  const now = tools.stamps.now()
  const wasWaiting = message.status === 'queued' || message.status === 'sending'
  const wasUncertain = message.status === 'uncertain'
  if (progress.sentAt === null) givePlaceBack(tx, message, now)
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
  if (wasWaiting) passTurn(tx, message.conversationId, now)
  if (wasUncertain) wakeSameText(tx, message.conversationId, now)
  tools.callers.settled(tx, saved)
  return saved
}

function receiptOf(kind: ReceiptKind, at: Timestamp): Pick<Receipt, 'kind' | 'at' | 'reason'> {
  return { kind, at, reason: null }
}
