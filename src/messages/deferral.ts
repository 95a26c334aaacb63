// Accepted messages that do not queue yet: they wait for an approval, for their time, or for the end of quiet
// hours. Meanwhile they are outside of their conversation's order, so they hold up nobody.

import type { ContactHold } from '../domain/contact-limit.ts'
import type { Days } from '../domain/days.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import { QUEUED_MS_MAX, type Outbound, type QueuedReason } from '../domain/message.ts'
import type { KeyCaller } from '../domain/permissions.ts'
import { quietUntil } from '../domain/quiet-hours.ts'
import type { Db, Tx } from '../storage/database.ts'
import { heldBeside } from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import { reserveAgain } from './contact-budget.ts'
import { promoteNext, reorder } from './conversation-order.ts'
import type { LineDirectory } from './line-directory.ts'
import { expireMessage, type SettleTools } from './settle.ts'

export type DeferralTools = {
  readonly directory: Pick<LineDirectory, 'find'>
  readonly days: Days
  readonly clock: Pick<ConfirmedClock, 'ageOf' | 'earliest' | 'doubt'>
}

/** Reason why a message does not queue now, and the time at which that is decided again. */
export type Deferral = { readonly reason: QueuedReason; readonly until: Timestamp }

type Deferrable = Pick<Outbound, 'lineId' | 'conversationId' | 'extras' | 'waitsFrom' | 'seq'>

/** Null where the message may queue, and leave, at `now`. */
export function deferralOf(
  tools: DeferralTools,
  db: Db,
  message: Deferrable,
  now: Timestamp,
): Deferral | null {
  const held = approvalHold(tools, db, message, now)
  if (held !== null) return held
  const { waitsFrom } = message
  if (waitsFrom > now) return { reason: 'scheduled', until: waitsFrom }
  return timeInDoubt(tools, message) ?? quietHold(tools, message, now)
}

/** After time off that is not confirmed, its time may not have come. */
function timeInDoubt({ clock }: DeferralTools, { extras, waitsFrom }: Deferrable): Deferral | null {
  if (extras?.sendAt === undefined || waitsFrom <= clock.earliest()) return null
  const doubt = clock.doubt()
  return doubt && { reason: 'clock_jumped', until: timestamp(Math.ceil(doubt.until)) }
}

/** An urgent message goes in the quiet hours of its line, but not in those of its key. */
function quietHold(
  { directory, days }: DeferralTools,
  { extras, lineId }: Deferrable,
  now: Timestamp,
): Deferral | null {
  const ofLine = extras?.isUrgent === true ? null : directory.find(lineId)?.line.quietHours
  const ends = [ofLine, extras?.quietHours].map((hours) =>
    hours ? (quietUntil(hours, now, days.zone()) ?? 0) : 0,
  )
  const until = Math.max(...ends)
  return until === 0 ? null : { reason: 'quiet_hours', until: timestamp(until) }
}

/** The approval that a message of this key needs; null for none. Known contacts hold no place of the day. */
export function newApproval(key: KeyCaller | null, contactHold: ContactHold): Approval | null {
  const rule = key?.permissions.rules.approval ?? 'never'
  if (key === null || rule === 'never') return null
  if (rule === 'new_contacts' && contactHold === 'none') return null
  const open = { resolvedBy: null, resolvedAt: null, reason: null, originalText: null }
  return { state: 'pending', requestedBy: key.keyId, ...open }
}

/** One that was approved still waits for earlier ones of its key. */
function approvalHold(
  { clock }: DeferralTools,
  db: Db,
  message: Deferrable,
  now: Timestamp,
): Deferral | null {
  const { extras, waitsFrom, seq } = message
  if (extras?.approval === undefined) return null
  const until = timestamp(now + QUEUED_MS_MAX - Math.max(0, clock.ageOf(waitsFrom)))
  if (extras.approval.state === 'pending') return { reason: 'approval', until }
  const isEarlier = (other: Outbound) =>
    other.waitsFrom < waitsFrom || (other.waitsFrom === waitsFrom && other.seq < seq)
  const isBehind = heldBeside(db, message).some(
    (other) => other.extras?.approval?.state === 'pending' && isEarlier(other),
  )
  return isBehind ? { reason: 'earlier_message', until } : null
}

/** The position of a new message that does not queue yet; null for one that does. */
export function deferredPosition(
  tools: DeferralTools,
  tx: Tx,
  message: Deferrable,
  now: Timestamp,
): Pick<Outbound, 'status' | 'queuedReason' | 'dueAt'> | null {
  const deferral = deferralOf(tools, tx, message, now)
  return deferral && positionOf(deferral)
}

function positionOf({ reason, until }: Deferral) {
  return { status: 'deferred', queuedReason: reason, dueAt: until } as const
}

/** Takes a queued message out of its conversation's order. */
export function defer(tools: SettleTools, tx: Tx, message: Outbound, deferral: Deferral): void {
  const now = tools.stamps.now()
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
  const now = tools.stamps.now()
  const deferral = deferralOf(tools, tx, message, now)
  if (deferral !== null) {
    saveMessage(tx, { ...message, ...positionOf(deferral) }, now)
    return
  }
  const contactHold = reserveAgain(tx, message, tools.days.of(now))
  const last = { status: 'queued', queuedReason: 'earlier_message', dueAt: null } as const
  saveMessage(tx, { ...message, ...last, contactHold }, now)
  reorder(tx, message.conversationId, now)
}
