// Rules for sends of AI agents: a person's takeover stops them, and a message that an agent repeats isn't sent twice.

import { RelayError } from '../domain/errors.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, KeyId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { MessageSource, Outbound, StoredStatus } from '../domain/message.ts'
import type { ConversationLimit } from '../domain/permissions.ts'
import { findPaused } from '../storage/conversations.ts'
import { lineageOf } from '../storage/credentials.ts'
import type { Tx } from '../storage/database.ts'
import { newestIn } from '../storage/message-lists.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import type { Settings } from '../storage/settings.ts'
import { isoTime } from '../system/iso-time.ts'

/** What an agent says about its message. */
export type AgentSend = {
  /** The id of the message that it answers. */
  readonly answers: MessageId | null
  /** True to send it even if it seems to be a repeat. */
  readonly isAgain: boolean
}

/**
 * Keeps programs out of a conversation that a person answers: agents and keys of conversations always, others if the
 * setting says so.
 */
export function requireUnpaused(
  settings: Settings,
  tx: Tx,
  send: {
    readonly source: MessageSource
    readonly isAgent: boolean
    readonly conversationIds: ConversationLimit
    readonly lineId: LineId
    readonly handle: Handle
  },
): void {
  const isKept = send.source === 'api' && settings.get('enforce_automation_pause')
  if (!isKept && !send.isAgent && send.conversationIds === null) return
  const paused = findPaused(tx, send.lineId, send.handle)
  if (paused === null) return
  throw new RelayError(
    'automation_paused',
    'A person answers this conversation: send when its automation_paused is false again.',
    { details: { conversation_id: paused } },
  )
}

/** True if an agent's message came to its turn while a person answers: then it isn't sent. */
export function isTakenOver(tx: Tx, { extras, lineId, handle }: Outbound): boolean {
  return extras?.isOfAgent === true && findPaused(tx, lineId, handle) !== null
}

/** The messages of a conversation that a repeat is looked for among. */
const EXAMINED_MAX = 200

/** Statuses of messages that certainly weren't sent, so that they may be sent again. */
const NOT_SENT: readonly StoredStatus[] = ['failed', 'expired']

type Sent = {
  readonly agent: AgentSend
  readonly hasKey: boolean
  /** The lineage of the key; null for the owner. */
  readonly lineage: KeyId | null
  /** Null if this message opens the conversation. */
  readonly conversationId: ConversationId | null
  readonly text: string
}

/**
 * Throws `already_sent` for an agent's repeat: a second answer to one message, or, without an idempotency key, the
 * same text with nothing received in between.
 */
export function requireFirst(tx: Tx, send: Sent): void {
  const { agent, conversationId, hasKey } = send
  const { answers, isAgain } = agent
  if (answers !== null && requireMessage(tx, answers).conversationId !== conversationId) {
    throw noMessage()
  }
  const mayRepeat = isAgain || (answers === null && hasKey)
  if (conversationId === null || mayRepeat) return
  for (const message of newestIn(tx, conversationId, EXAMINED_MAX)) {
    const isEarlier = answers === null ? message.direction === 'inbound' : message.id === answers
    if (isEarlier) return
    if (isRepeated(tx, message, send)) throw alreadySent(message, answers)
  }
}

/** True if the send would repeat the message. */
function isRepeated(tx: Tx, message: Outbound, { agent: { answers }, text, lineage }: Sent) {
  const isSame = answers === null ? message.text === text : message.extras?.answers === answers
  if (!isSame || NOT_SENT.includes(message.status)) return false
  const { source, keyId } = message
  if (lineage === null) return keyId === null && source === 'cli'
  return keyId !== null && lineageOf(tx, keyId) === lineage
}

function alreadySent(message: Outbound, answers: MessageId | null): RelayError {
  const at: Timestamp = message.sentAt ?? message.createdAt
  const what = answers === null ? 'The same text was sent' : `The message ${answers} was answered`
  return new RelayError(
    'already_sent',
    `${what} at ${isoTime(at)}; pass again: true to send it again.`,
    { details: { message_id: message.id, status: message.status, at: isoTime(at) } },
  )
}
