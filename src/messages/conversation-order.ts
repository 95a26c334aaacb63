// In order for each recipient: of the messages of a conversation that are queued or sending, only the
// first has a time of its own (`dueAt`); the ones behind it have none, and get it when their turn comes.
// Deferred messages are outside of the order.

import type { ConversationId, Timestamp } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import {
  firstInConversation,
  queuedWithTurn,
  sameTextUncertainUntil,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'

/** The time from which a queued message may go, and the reason why not before. */
export type Position = Pick<Outbound, 'dueAt' | 'queuedReason'>

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
