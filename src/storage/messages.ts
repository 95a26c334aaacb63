// Reads and saves one message at a time. Lists are in `message-lists.ts`, the queries of dispatch in
// `message-queue.ts`.

import { RelayError } from '../domain/errors.ts'
import { deviceHandle, type Handle } from '../domain/handle.ts'
import { parseId, type ConversationId, type LineId, type Timestamp } from '../domain/ids.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import type { MessageSource, Outbound } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { messages } from './schema.ts'
import {
  CONVERSATION_ID,
  CONVERSATION_SEQ,
  LINE_ID,
  LINE_SEQ,
  assigned,
  columnsOf,
  inserted,
  selected,
  type RawRow,
  type Values,
} from './statement.ts'

export type NewMessage = Omit<Outbound, 'seq' | 'updatedAt'>

/** Line and conversation of a message; its row has their `seq` instead. */
type PartyIds = { readonly lineId: LineId; readonly conversationId: ConversationId }
type RawMessage = Omit<RawRow<typeof messages>, 'lineSeq' | 'conversationSeq'> & PartyIds

const RAW_MESSAGE = `${selected(messages, columnsOf(messages, ['lineSeq', 'conversationSeq']))},
  ${LINE_ID} AS lineId, ${CONVERSATION_ID} AS conversationId`

/** `revision` is the cursor of `updated_since`. */
type ReadMessage = Outbound & { readonly revision: number }

/** A query for messages; `rest` follows `FROM messages`. */
export function messagesWhere(rest: string): (db: Db, values?: Values) => readonly ReadMessage[] {
  const sql = `SELECT ${RAW_MESSAGE} FROM messages ${rest}`
  return (db, values) => db.rows<RawMessage>(sql, values).map(fromRaw)
}

/** Changes the row in place, because copying its columns costs as much as reading them. */
function fromRaw(row: RawMessage): ReadMessage {
  return Object.assign(row, {
    isPinned: row.isPinned === 1,
    isGroup: row.isGroup === 1,
    extras: row.extras === null ? null : (JSON.parse(row.extras) as MessageExtras), // `valuesOf` wrote it.
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    refusedBy: row.refusedBy === null ? [] : (JSON.parse(row.refusedBy) as LineId[]), // `valuesOf` wrote it.
  })
}

/** The message with this `seq`, if any. */
export const messageAt = messagesWhere('WHERE seq = $seq')

const byId = messagesWhere('WHERE id = $id')

export function findMessage(db: Db, id: string): Outbound | null {
  return byId(db, { id })[0] ?? null
}

/** Returns the message with an id from outside; throws `not_found`. */
export function requireMessage(db: Db, id: string): Outbound {
  const message = parseId('msg', id) === null ? null : findMessage(db, id)
  if (message === null) throw noMessage()
  return message
}

export function noMessage(): RelayError {
  return new RelayError('not_found', 'There is no message with this id.')
}

const insertion = `INSERT INTO messages ${inserted(messages, columnsOf(messages, ['seq']), {
  lineSeq: LINE_SEQ,
  conversationSeq: CONVERSATION_SEQ,
})}`

/** Stores a new message; later changes go through `saveMessage`. */
export function insertMessage(tx: Tx, recorded: NewMessage): Outbound {
  const message = { ...recorded, updatedAt: recorded.createdAt }
  const { lastInsertRowid } = tx.execute(insertion, valuesOf(tx, message))
  touch(tx, message)
  return { ...message, seq: Number(lastInsertRowid) }
}

/** Columns that `saveMessage` doesn't write; `placeMessage` changes those of the line. */
const FIXED = [
  'seq',
  'id',
  'lineSeq',
  'conversationSeq',
  'phoneNumber',
  'handle',
  'direction',
  'text',
  'guid',
  'isGroup',
  'source',
  'keyId',
  'isPinned',
  'createdAt',
] as const

const update = `UPDATE messages SET ${assigned(messages, columnsOf(messages, FIXED))} WHERE seq = $seq`

/** Saves everything that can change, except the line and the text. */
export function saveMessage(tx: Tx, changed: Outbound, now: Timestamp): Outbound {
  const message = { ...changed, updatedAt: now }
  tx.execute(update, valuesOf(tx, message))
  touch(tx, message)
  return message
}

/** Changes the text; the caller saves the rest. */
export function saveText(tx: Tx, seq: number, text: string): void {
  const sql = 'UPDATE messages SET text = $text WHERE seq = $seq'
  tx.execute(sql, { seq, text })
}

function valuesOf(tx: Tx, message: Omit<Outbound, 'seq'>): Values {
  const { error, refusedBy, extras } = message
  return {
    ...message,
    refusedBy: refusedBy.length === 0 ? null : JSON.stringify(refusedBy),
    extras: extras === null ? null : JSON.stringify(extras),
    error: null, // In the two columns below.
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    revision: nextRevision(tx),
  }
}

function touch(tx: Tx, { id, conversationId }: NewMessage): void {
  tx.changes?.push({ what: 'message', id, conversationId })
}

export type MessagePlace = PartyIds & { readonly phoneNumber: string }

/** Moves a message to another line; the caller updates conversations and daily contacts. */
export function placeMessage(tx: Tx, seq: number, place: MessagePlace): void {
  const sql = `UPDATE messages SET line_seq = ${LINE_SEQ}, conversation_seq = ${CONVERSATION_SEQ},
       phone_number = $phoneNumber
     WHERE seq = $seq`
  tx.execute(sql, { ...place, seq })
}

/** A message with defaults for everything that a device or client doesn't say. */
export function newMessage(
  base: Pick<
    NewMessage,
    'id' | 'lineId' | 'conversationId' | 'phoneNumber' | 'text' | 'guid' | 'createdAt'
  > & { readonly handle: Handle; readonly source: MessageSource },
  more: Partial<NewMessage>,
): NewMessage {
  return {
    direction: 'outbound',
    status: 'queued',
    service: 'iMessage',
    platformGuid: null,
    isGroup: false,
    extras: null,
    queuedReason: null,
    error: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    keyId: null,
    isPinned: false,
    waitsFrom: base.createdAt,
    dueAt: null,
    round: 0,
    refusedBy: [],
    contactHold: 'none',
    note: null,
    passedAt: null,
    ...base,
    handle: deviceHandle(base.handle),
    ...more,
  }
}

/** The newest stored timestamp: time goes on from it, so that a clock set back reorders nothing. */
export function newestTimestamp(db: Db): number {
  const sql = 'SELECT max(updated_at) AS at FROM messages'
  return db.row<{ at: number | null }>(sql)?.at ?? 0
}

const lastRevisions = new WeakMap<Tx['sqlite'], number>()

/** Counts in memory: a rollback leaves a gap, which is harmless. */
function nextRevision(tx: Tx): number {
  const sql = 'SELECT revision FROM messages ORDER BY updated_at DESC, revision DESC LIMIT 1'
  const last = lastRevisions.get(tx.sqlite) ?? tx.row<{ revision: number }>(sql)?.revision ?? 0
  lastRevisions.set(tx.sqlite, last + 1)
  return last + 1
}
