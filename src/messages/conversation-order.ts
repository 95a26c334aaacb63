// In order for each recipient: of the messages of a conversation that are queued or sending, only the
// first has a time of its own (`dueAt`); those behind it have none, and get it when their turn comes.

import type { ConversationId, Timestamp } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import {
  firstInOrder,
  hasWaiting,
  queuedWithTurn,
  sameTextUntil,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/message-rows.ts'

type Turn = Pick<Outbound, 'dueAt' | 'queuedReason'>

/** When a message that comes last into the conversation may go, and what it waits for. */
export function turnOfNewcomer(
  tx: Tx,
  message: { readonly conversationId: ConversationId; readonly text: string },
  now: Timestamp,
): Turn {
  if (hasWaiting(tx, message.conversationId)) {
    return { dueAt: null, queuedReason: 'earlier_message' }
  }
  return turnOfFirst(tx, message, now)
}

/** Gives the next message of the conversation its turn: the one before it is settled. */
export function passTurn(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInOrder(tx, conversationId)
  if (first === null || first.status !== 'queued' || first.dueAt !== null) return
  saveMessage(tx, { ...first, ...turnOfFirst(tx, first, now) }, now)
}

/** An uncertain message is settled: one with the same text that waited for that may go. */
export function wakeSameText(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInOrder(tx, conversationId)
  if (first?.status !== 'queued' || first.queuedReason !== 'same_text_uncertain') return
  saveMessage(tx, { ...first, ...turnOfFirst(tx, first, now) }, now)
}

/** A message came in from another line: whoever is first now has the turn, and nobody else. */
export function reorder(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const first = firstInOrder(tx, conversationId)
  for (const message of queuedWithTurn(tx, conversationId)) {
    if (message.id === first?.id) continue
    saveMessage(tx, { ...message, dueAt: null, queuedReason: 'earlier_message' }, now)
  }
  passTurn(tx, conversationId, now)
}

function turnOfFirst(
  tx: Tx,
  message: { readonly conversationId: ConversationId; readonly text: string },
  now: Timestamp,
): Turn {
  const until = sameTextUntil(tx, message, now)
  return until === null
    ? { dueAt: now, queuedReason: null }
    : { dueAt: until, queuedReason: 'same_text_uncertain' }
}
