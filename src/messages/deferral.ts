// Accepted messages that do not queue yet: they wait for an approval, for their time, or for the end of quiet
// hours. Meanwhile they are outside of their conversation's order, so they hold up nobody.

import { QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import { saveMessage } from '../storage/messages.ts'
import { reserveAgain } from './contact-budget.ts'
import {
  deferralOf,
  positionOf,
  promoteNext,
  reorder,
  type Deferral,
  type DeferralTools,
} from './conversation-order.ts'
import { expireMessage, type SettleTools } from './settle.ts'

/** Takes a queued message out of its conversation's order. */
export function defer(tools: SettleTools, tx: Tx, message: Outbound, deferral: Deferral): void {
  const now = tools.ids.now()
  const deferred = saveMessage(tx, { ...message, ...positionOf(deferral) }, now)
  tools.callers.settled(tx, deferred)
  promoteNext(tx, message.conversationId, now)
}

/** Decides again on a deferred message: it queues, waits on, or has expired. */
export function review(tools: SettleTools & DeferralTools, tx: Tx, message: Outbound): void {
  if (message.status !== 'deferred') return
  if (tools.clock.ageOf(message.waitsFrom) >= QUEUED_MS_MAX) {
    expireMessage(tools, tx, message)
    return
  }
  const now = tools.ids.now()
  const deferral = deferralOf(tools, tx, message)
  if (deferral !== null) {
    saveMessage(tx, { ...message, ...positionOf(deferral) }, now)
    return
  }
  const contactHold = reserveAgain(tx, message, tools.days.of(now))
  const last = { status: 'queued', queuedReason: 'earlier_message', dueAt: null } as const
  saveMessage(tx, { ...message, ...last, contactHold }, now)
  reorder(tx, message.conversationId, now)
}
