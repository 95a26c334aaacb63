// The things that a key with limits may see: everything that belongs to its lines and its conversations.

import type { Handle } from '../domain/handle.ts'
import { parseId, type ConversationId, type Timestamp, type WebhookId } from '../domain/ids.ts'
import type { CallerId, ConversationLimit } from '../domain/permissions.ts'
import { includesLine, isNarrower, type LineLimit, type LineLimits } from '../domain/routing.ts'
import { STOOD_FOR } from './conversations.ts'
import type { Db } from './database.ts'
import { findDelivery } from './deliveries.ts'
import { IS_FOR_LINES } from './events.ts'
import { firstSeqSince } from './seq-by-time.ts'
import {
  CONVERSATION_SEQ,
  CONVERSATION_SEQS,
  LINE_SEQS,
  isOfLines,
  limitValue,
} from './statement.ts'
import { findWebhook } from './webhooks.ts'

const CONVERSATION = `SELECT 1 FROM conversations c WHERE c.seq = ${STOOD_FOR.replace('$conversationId', '$id')}`

/** SQL: a file of a message that fits, or a file without a message that the caller uploaded. */
function attachmentOf(fits: string): string {
  return `SELECT 1 FROM attachments a WHERE a.id = $id AND (
      (a.caller = $caller AND NOT EXISTS
        (SELECT 1 FROM message_attachments l WHERE l.attachment_seq = a.seq))
      OR EXISTS (SELECT 1 FROM message_attachments l JOIN messages m ON m.id = l.message_id
        WHERE l.attachment_seq = a.seq AND ${fits}))`
}

/** Queries by id prefix that find a thing only if it belongs to the conversations; no other prefix does. */
const IN_CONVERSATIONS: Readonly<Record<string, string>> = {
  msg: `SELECT 1 FROM messages WHERE id = $id AND conversation_seq IN ${CONVERSATION_SEQS}`,
  conv: `${CONVERSATION} AND c.seq IN ${CONVERSATION_SEQS}`,
  att: attachmentOf(`m.conversation_seq IN ${CONVERSATION_SEQS}`),
}

/**
 * Queries by id prefix that find a thing only if it belongs to the lines. A file without a message belongs to its
 * uploader. Deliveries are checked too, because their webhook may have had more lines before.
 */
const SEEN: Readonly<Record<string, string>> = {
  msg: `SELECT 1 FROM messages WHERE id = $id AND line_seq IN ${LINE_SEQS}`,
  conv: `${CONVERSATION} AND ${isOfLines('c.line_id')}`,
  att: attachmentOf(`m.line_seq IN ${LINE_SEQS}`),
  dlv: `SELECT 1 FROM deliveries d JOIN events e ON e.seq = d.event_seq WHERE d.id = $id AND ${IS_FOR_LINES}`,
}

/** The caller's limits, and the caller itself, for uploads that no message has yet. */
export type Viewer = {
  readonly lineIds: LineLimit
  /** The limits as they were set; those of a visible webhook must be within them. */
  readonly limits: LineLimits
  readonly conversationIds: ConversationLimit
  readonly caller: CallerId
}

/**
 * True if the caller may know of the thing with this id, by its lines and conversations. The id may be any text from
 * outside; the prefix decides which table is read.
 */
export function isSeenBy(db: Db, viewer: Viewer, id: string): boolean {
  return isOnLines(db, viewer, id) && isInConversations(db, viewer, id)
}

/** True if a thing belongs to one of the caller's conversations, or the caller is not limited to any. */
export function isInConversations(
  db: Db,
  { conversationIds, caller }: Pick<Viewer, 'conversationIds' | 'caller'>,
  id: string,
): boolean {
  if (conversationIds === null) return true
  const kind = kindOf(id)
  const query = Object.hasOwn(IN_CONVERSATIONS, kind) ? IN_CONVERSATIONS[kind] : undefined
  const values = { id, conversationIds: limitValue(conversationIds), caller }
  return query !== undefined && db.row(query, values) !== null
}

function kindOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf('_')))
}

/** True if a thing belongs to the caller's lines, or to no line. */
function isOnLines(db: Db, { lineIds: limit, limits, caller }: Viewer, id: string): boolean {
  if (limit === null) return true
  const kind = kindOf(id)
  const query = Object.hasOwn(SEEN, kind) ? SEEN[kind] : undefined
  const values = { id, lineIds: limitValue(limit), caller }
  if (query !== undefined && db.row(query, values) === null) return false
  if (kind === 'line') return includesLine(limit, id)
  if (kind === 'wh') return isWebhookOn(db, limits, parseId('wh', id))
  if (kind !== 'dlv') return true
  const delivery = parseId('dlv', id)
  return isWebhookOn(db, limits, delivery && (findDelivery(db, delivery)?.webhookId ?? null))
}

function isWebhookOn(db: Db, limits: LineLimits, id: WebhookId | null): boolean {
  const webhook = id === null ? null : findWebhook(db, id)
  return webhook !== null && isNarrower(webhook, limits)
}

const known = `SELECT 1 FROM contacts c WHERE c.handle = $handle
   AND (c.known_at IS NOT NULL OR c.spent_day IS NOT NULL) AND ${isOfLines('c.line_id')} LIMIT 1`

export function isKnownOn(db: Db, limit: LineLimit, handle: Handle): boolean {
  return db.row(known, { handle, lineIds: limitValue(limit) }) !== null
}

const NEW_INBOUND = `m.seq >= +$from AND m.direction = 'inbound' AND m.sent_at > +$since LIMIT 1`

const repliedByHandle = `SELECT 1 FROM conversations c
   CROSS JOIN messages m INDEXED BY messages_by_conversation ON m.conversation_seq = c.seq
   WHERE c.handle = $handle AND ${isOfLines('c.line_id')} AND ${NEW_INBOUND}`

const wroteInGroup = `SELECT 1 FROM messages m INDEXED BY messages_by_conversation
   WHERE m.conversation_seq = ${CONVERSATION_SEQ} AND m.handle = $handle AND ${NEW_INBOUND}`

/** True if the handle wrote to one of the lines after `since`. */
export function hasWrittenSince(
  db: Db,
  { limit, handle }: { readonly limit: LineLimit; readonly handle: Handle },
  since: Timestamp,
): boolean {
  const from = firstSeqSince(db, 'messages', since)
  return db.row(repliedByHandle, { handle, lineIds: limitValue(limit), from, since }) !== null
}

/** True if the member wrote in the group after `since`. */
export function hasWrittenInSince(
  db: Db,
  { id: conversationId, handle }: { readonly id: ConversationId; readonly handle: Handle },
  since: Timestamp,
): boolean {
  const from = firstSeqSince(db, 'messages', since)
  return db.row(wroteInGroup, { conversationId, handle, from, since }) !== null
}
