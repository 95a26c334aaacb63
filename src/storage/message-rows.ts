// One message at a time: read it, decide, save it. Lists are in `message-lists.ts`, what dispatch asks
// for in `message-queue.ts`.

import { deviceHandle, type Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, Timestamp } from '../domain/ids.ts'
import { isUnfinished, type Message, type MessageSource, type Outbound } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { CONVERSATION_ID, CONVERSATION_SEQ, LINE_ID, LINE_SEQ } from './parties.ts'
import { forgetRows, recentRows } from './recent-rows.ts'
import { messages } from './schema.ts'
import { prepared, preparedBeside } from './statement.ts'

/** A message that is not stored yet. */
export type NewMessage = Omit<Outbound, 'seq' | 'updatedAt'>

/** The columns of a message as they are selected, here and by the lists. */
type MessageRow = Omit<Message, 'error'> & {
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

/** What a row says of a message of a list; its line and its conversation are told by others. */
export const TOLD_COLUMNS = {
  seq: messages.seq,
  id: messages.id,
  phoneNumber: messages.phoneNumber,
  handle: messages.handle,
  direction: messages.direction,
  status: messages.status,
  service: messages.service,
  text: messages.text,
  guid: messages.guid,
  platformGuid: messages.platformGuid,
  source: messages.source,
  queuedReason: messages.queuedReason,
  errorCode: messages.errorCode,
  errorMessage: messages.errorMessage,
  createdAt: messages.createdAt,
  updatedAt: messages.updatedAt,
  sentAt: messages.sentAt,
  deliveredAt: messages.deliveredAt,
  readAt: messages.readAt,
}

/** A message of a list. Field by field: copying the rest of an object costs ten times as much. */
export function toMessage(row: MessageRow): Message {
  return {
    seq: row.seq,
    id: row.id,
    lineId: row.lineId,
    conversationId: row.conversationId,
    phoneNumber: row.phoneNumber,
    handle: row.handle,
    direction: row.direction,
    status: row.status,
    service: row.service,
    text: row.text,
    guid: row.guid,
    platformGuid: row.platformGuid,
    source: row.source,
    queuedReason: row.queuedReason,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    sentAt: row.sentAt,
    deliveredAt: row.deliveredAt,
    readAt: row.readAt,
  }
}

/** The columns of an `OutboundRow`, for the queries that want messages whole. */
export const OUTBOUND_COLUMNS = `seq, id, ${LINE_ID} AS lineId, ${CONVERSATION_ID} AS conversationId,
  phone_number AS phoneNumber, handle, direction, status, service, text, guid,
  platform_guid AS platformGuid, source, queued_reason AS queuedReason, error_code AS errorCode,
  error_message AS errorMessage, created_at AS createdAt, updated_at AS updatedAt,
  sent_at AS sentAt, delivered_at AS deliveredAt, read_at AS readAt, is_pinned AS isPinned,
  due_at AS dueAt, round, refused_by AS refusedBy, contact_hold AS contactHold, note,
  passed_at AS passedAt`

export type OutboundRow = Omit<Outbound, 'error' | 'isPinned' | 'refusedBy'> & {
  readonly errorCode: string | null
  readonly errorMessage: string | null
  readonly isPinned: 0 | 1
  readonly refusedBy: string | null
}

export function toOutbound(row: OutboundRow): Outbound {
  const { refusedBy } = row
  return Object.assign(toMessage(row), {
    isPinned: row.isPinned === 1,
    dueAt: row.dueAt,
    round: row.round,
    refusedBy: refusedBy === null ? [] : (JSON.parse(refusedBy) as LineId[]), // `saveMessage` wrote it.
    contactHold: row.contactHold,
    note: row.note,
    passedAt: row.passedAt,
  })
}

const byId = prepared(({ sqlite }) =>
  sqlite.prepare<OutboundRow, [Record<string, string>]>(
    `SELECT ${OUTBOUND_COLUMNS} FROM messages WHERE id = $id`,
  ),
)

export function findMessage(db: Db, id: string): Outbound | null {
  return recentRows(db).messages.getOrRead(id, () => {
    const row = byId(db).get({ id })
    return row === null ? null : toOutbound(row)
  })
}

/** Stores a message as it was recorded; what happens to it later is `saveMessage`'s. */
export function insertMessage(tx: Tx, message: NewMessage): Outbound {
  const seq = tx.late.messages.nextSeq()
  return save(tx, { ...message, seq, updatedAt: message.createdAt }, { isNew: true })
}

/** Saves everything that can change but the line. */
export function saveMessage(tx: Tx, message: Outbound, now: Timestamp): Outbound {
  return save(tx, { ...message, updatedAt: now }, { isNew: false })
}

function save(tx: Tx, message: Outbound, { isNew }: { readonly isNew: boolean }): Outbound {
  countUnfinished(tx, message)
  tx.late.messages.save({ message, revision: nextRevision(tx), isNew })
  touch(tx, message)
  recentRows(tx).messages.set(message.id, message)
  return message
}

/**
 * Where it is known how many of a conversation are unfinished, it stays known. One whose last state is
 * not remembered counts as new: too many cost a question, which mends it.
 */
function countUnfinished(tx: Tx, after: Outbound): void {
  const recent = recentRows(tx)
  const known = recent.unfinished.get(after.conversationId)
  if (known === null) return
  const before = recent.messages.get(after.id)
  known.count += Number(isUnfinished(after)) - Number(before !== null && isUnfinished(before))
}

function touch(tx: Tx, { id, conversationId }: NewMessage): void {
  tx.touched?.push({ what: 'message', id, conversationId })
}

export type MessagePlace = {
  readonly lineId: LineId
  readonly phoneNumber: string
  readonly conversationId: ConversationId
}

const placing = prepared(({ sqlite }) =>
  sqlite.prepare<null, [MessagePlace & { readonly seq: number }]>(
    `UPDATE messages SET line_seq = ${LINE_SEQ}, conversation_seq = ${CONVERSATION_SEQ},
       phone_number = $phoneNumber
     WHERE seq = $seq`,
  ),
)

/** Puts a message on another line; the caller keeps conversations and budgets in step. */
export function placeMessage(tx: Tx, seq: number, place: MessagePlace): void {
  placing(tx).run({ ...place, seq })
  forgetRows(tx)
}

/** What a message starts with that a device or a client does not say. Field by field, as `toMessage`. */
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
    queuedReason: null,
    error: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    isPinned: false,
    dueAt: null,
    round: 0,
    refusedBy: [],
    contactHold: 'none',
    note: null,
    passedAt: null,
    id: base.id,
    lineId: base.lineId,
    conversationId: base.conversationId,
    phoneNumber: base.phoneNumber,
    text: base.text,
    guid: base.guid,
    source: base.source,
    createdAt: base.createdAt,
    handle: deviceHandle(base.handle),
    ...more,
  }
}

/** The newest stamp that is stored, so that a clock that steps back reorders nothing. */
export function newestStamp(db: Db): number {
  const row = db.sqlite
    .query<{ at: number | null }, []>('SELECT max(updated_at) AS at FROM messages')
    .get()
  return row?.at ?? 0
}

const revisions = preparedBeside(({ sqlite }) => {
  const newest = sqlite.query<{ revision: number }, []>(
    'SELECT revision FROM messages ORDER BY updated_at DESC, revision DESC LIMIT 1',
  )
  return { last: newest.get()?.revision ?? 0 }
})

/** Counted in memory: a work that is rolled back leaves a gap, which nobody minds. */
function nextRevision(tx: Tx): number {
  const counter = revisions(tx)
  counter.last += 1
  return counter.last
}
