// In order for each recipient: of the messages of a conversation that are queued or sending, only the
// first has a time of its own (`dueAt`); those behind it have none, and get it when their turn comes.

import type { ConversationId, Timestamp } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import type { Tx } from '../storage/database.ts'
import { queuedWithTurn } from '../storage/message-queue.ts'
import { saveMessage } from '../storage/message-rows.ts'
import { unfinishedIn, type Unfinished } from '../storage/message-turns.ts'

type Turn = Pick<Outbound, 'dueAt' | 'queuedReason'>

/** When a message that comes last into the conversation may go, and what it waits for. */
export function turnOfNewcomer(
  tx: Tx,
  message: { readonly conversationId: ConversationId; readonly text: string },
  now: Timestamp,
): Turn {
  const unfinished = unfinishedIn(tx, message.conversationId)
  return unfinished.first === null
    ? turnOfFirst(unfinished, message.text, now)
    : { dueAt: null, queuedReason: 'earlier_message' }
}

/** Gives the next message of the conversation its turn: the one before it is settled. */
export function passTurn(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const unfinished = unfinishedIn(tx, conversationId)
  const { first } = unfinished
  if (first === null || first.status !== 'queued' || first.dueAt !== null) return
  saveMessage(tx, { ...first, ...turnOfFirst(unfinished, first.text, now) }, now)
}

/** An uncertain message is settled: one with the same text that waited for that may go. */
export function wakeSameText(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const unfinished = unfinishedIn(tx, conversationId)
  const { first } = unfinished
  if (first?.status !== 'queued' || first.queuedReason !== 'same_text_uncertain') return
  saveMessage(tx, { ...first, ...turnOfFirst(unfinished, first.text, now) }, now)
}

/** A message came in from another line: whoever is first now has the turn, and nobody else. */
export function reorder(tx: Tx, conversationId: ConversationId, now: Timestamp): void {
  const { first } = unfinishedIn(tx, conversationId)
  for (const message of queuedWithTurn(tx, conversationId)) {
    if (message.id === first?.id) continue
    saveMessage(tx, { ...message, dueAt: null, queuedReason: 'earlier_message' }, now)
  }
  passTurn(tx, conversationId, now)
}

/** An uncertain message with the same text is waited for until it is announced. */
function turnOfFirst({ uncertain }: Unfinished, text: string, now: Timestamp): Turn {
  const twins = uncertain.filter((message) => message.text === text)
  const until = twins.map((message) => message.dueAt).findLast((at) => at !== null && at > now)
  return until === undefined
    ? { dueAt: now, queuedReason: null }
    : { dueAt: until, queuedReason: 'same_text_uncertain' }
}
