// In order for each recipient: of the messages of a conversation that are queued or sending, only the
// first has a time of its own (`dueAt`); those behind it have none, and get it when their turn comes. Those
// that are deferred, until they are approved, their time comes or quiet hours end, are outside of the order.

import type { ContactHold } from '../domain/contact-limit.ts'
import type { Days } from '../domain/days.ts'
import { timestamp, type ConversationId, type Timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import { QUEUED_MS_MAX, type Outbound, type QueuedReason } from '../domain/message.ts'
import type { KeyCaller } from '../domain/permissions.ts'
import { quietUntil } from '../domain/quiet-hours.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  firstInConversation,
  heldBeside,
  queuedWithTurn,
  sameTextUncertainUntil,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import type { LineDirectory } from './line-directory.ts'

/** The time from which a queued message may go, and the reason why not before. */
type Position = Pick<Outbound, 'dueAt' | 'queuedReason'>

/** The position of a message that comes last into the conversation. */
export function initialPosition(
  tx: Tx,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Position {
  return firstInConversation(tx, message.conversationId) === null
    ? positionOfFirst(tx, message, now)
    : { dueAt: null, queuedReason: 'earlier_message' }
}

/** Lets the next message of the conversation go: the one before it is settled. */
export function promoteNext(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInConversation(tx, conversationId)
  if (first?.status !== 'queued' || first.dueAt !== null) return
  saveMessage(tx, { ...first, ...positionOfFirst(tx, first, now) }, now)
}

/** An uncertain message is settled: one with the same text that waited for that may go. */
export function wakeSameText(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInConversation(tx, conversationId)
  if (first?.status !== 'queued' || first.queuedReason !== 'same_text_uncertain') return
  saveMessage(tx, { ...first, ...positionOfFirst(tx, first, now) }, now)
}

/** A message came in from another line: only the message that is first now may go. */
export function reorder(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInConversation(tx, conversationId)
  for (const message of queuedWithTurn(tx, { conversationId })) {
    if (message.id === first?.id) continue
    saveMessage(tx, { ...message, dueAt: null, queuedReason: 'earlier_message' }, now)
  }
  promoteNext(tx, conversationId, now)
}

/** An uncertain message with the same text is waited for until it is announced. */
function positionOfFirst(
  tx: Tx,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Position {
  const until = sameTextUncertainUntil(tx, message, now)
  return until === null
    ? { dueAt: now, queuedReason: null }
    : { dueAt: until, queuedReason: 'same_text_uncertain' }
}

export type DeferralTools = {
  readonly directory: Pick<LineDirectory, 'find'>
  readonly days: Days
  readonly clock: Pick<ConfirmedClock, 'now' | 'wall' | 'ageOf' | 'earliest' | 'doubt'>
}

/** Reason why a message does not queue now, and the time at which that is decided again. */
export type Deferral = { readonly reason: QueuedReason; readonly until: Timestamp }

type Deferrable = Pick<Outbound, 'lineId' | 'conversationId' | 'extras' | 'waitsFrom' | 'seq'>

/**
 * Returns why the message may not queue, or leave, now, or null if it may. The clock decides, not a timestamp:
 * after a clock that was set back, timestamps are ahead of it, and a message would leave before its time.
 */
export function deferralOf(tools: DeferralTools, db: Db, message: Deferrable): Deferral | null {
  const now = timestamp(tools.clock.now())
  const held = approvalHold(tools, db, message, now)
  if (held !== null) return held
  const sendAt = message.extras?.sendAt
  if (sendAt !== undefined && sendAt > now) return { reason: 'scheduled', until: sendAt }
  return timeInDoubt(tools, message) ?? quietHold(tools, message)
}

/** After time off that is not confirmed, its time may not have come. */
function timeInDoubt({ clock }: DeferralTools, { extras, waitsFrom }: Deferrable): Deferral | null {
  if (extras?.sendAt === undefined || waitsFrom <= clock.earliest()) return null
  const doubt = clock.doubt()
  return doubt && { reason: 'clock_jumped', until: timestamp(Math.ceil(doubt.until)) }
}

/**
 * An urgent message goes in the quiet hours of its line, but not in those of the key that wrote it. While the wall
 * clock is in doubt, it may be right: hours that are quiet by it are quiet too.
 */
function quietHold(
  { clock, directory, days }: DeferralTools,
  { extras, lineId }: Deferrable,
): Deferral | null {
  const now = clock.now()
  const ofLine = extras?.isUrgent === true ? null : directory.find(lineId)?.line.quietHours
  const lefts = [ofLine, extras?.quietHours, extras?.approval?.quietHours].flatMap((hours) =>
    [now, clock.wall()].map((at) => (hours ? (quietUntil(hours, at, days.zone()) ?? at) - at : 0)),
  )
  const leftMs = Math.max(...lefts)
  return leftMs === 0 ? null : { reason: 'quiet_hours', until: timestamp(now + leftMs) }
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
): Pick<Outbound, 'status' | 'queuedReason' | 'dueAt'> | null {
  const deferral = deferralOf(tools, tx, message)
  return deferral && positionOf(deferral)
}

export function positionOf({ reason, until }: Deferral) {
  return { status: 'deferred', queuedReason: reason, dueAt: until } as const
}
