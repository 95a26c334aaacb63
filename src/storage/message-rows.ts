// One message at a time: read it, decide, save it. Lists are in `message-lists.ts`, what dispatch asks
// for in `message-queue.ts`.

import { eq } from 'drizzle-orm'

import { deviceHandle, type Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, Timestamp } from '../domain/ids.ts'
import type { Message, MessageSource, Outbound } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { forgetRows, recentRows } from './recent-rows.ts'
import { messages } from './schema.ts'
import { prepared } from './statement.ts'

/** A message that is not stored yet. */
export type NewMessage = Omit<Outbound, 'seq' | 'updatedAt'>

/** The columns of a message as they are selected, here and by the lists. */
type MessageRow = Omit<Message, 'error'> & {
  readonly errorCode: string | null
  readonly errorMessage: string | null
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
export const OUTBOUND_COLUMNS = `seq, id, line_id AS lineId, conversation_id AS conversationId,
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

// Without `RETURNING`, for which SQLite makes a table of its own at every run.
const insertion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Record<string, string | number | null>]>(
    `INSERT INTO messages (id, line_id, conversation_id, phone_number, handle, direction, status,
       service, text, guid, platform_guid, source, is_pinned, queued_reason, due_at, contact_hold,
       revision, created_at, updated_at, sent_at)
     VALUES ($id, $lineId, $conversationId, $phoneNumber, $handle, $direction, $status,
       $service, $text, $guid, $platformGuid, $source, $isPinned, $queuedReason, $dueAt,
       $contactHold, $revision, $createdAt, $createdAt, $sentAt)`,
  ),
)

/** Stores a message as it was recorded; what happens to it later is `saveMessage`'s. */
export function insertMessage(tx: Tx, message: NewMessage): Outbound {
  const { lastInsertRowid } = insertion(tx).run({
    id: message.id,
    lineId: message.lineId,
    conversationId: message.conversationId,
    phoneNumber: message.phoneNumber,
    handle: message.handle,
    direction: message.direction,
    status: message.status,
    service: message.service,
    text: message.text,
    guid: message.guid,
    platformGuid: message.platformGuid,
    source: message.source,
    isPinned: message.isPinned ? 1 : 0,
    queuedReason: message.queuedReason,
    dueAt: message.dueAt,
    contactHold: message.contactHold,
    revision: nextRevision(tx),
    createdAt: message.createdAt,
    sentAt: message.sentAt,
  })
  touch(tx, message)
  const inserted = { ...message, seq: Number(lastInsertRowid), updatedAt: message.createdAt }
  recentRows(tx).messages.set(inserted.id, inserted)
  return inserted
}

const update = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Record<string, string | number | null>]>(
    `UPDATE messages SET status = $status, service = $service, platform_guid = $platformGuid,
       queued_reason = $queuedReason, due_at = $dueAt, round = $round, refused_by = $refusedBy,
       contact_hold = $contactHold, note = $note, passed_at = $passedAt, error_code = $errorCode,
       error_message = $errorMessage, sent_at = $sentAt, delivered_at = $deliveredAt,
       read_at = $readAt, updated_at = $now, revision = $revision
     WHERE seq = $seq`,
  ),
)

/** Saves everything that can change but the line. */
export function saveMessage(tx: Tx, message: Outbound, now: Timestamp): Outbound {
  update(tx).run({
    seq: message.seq,
    status: message.status,
    service: message.service,
    platformGuid: message.platformGuid,
    queuedReason: message.queuedReason,
    dueAt: message.dueAt,
    round: message.round,
    refusedBy: message.refusedBy.length === 0 ? null : JSON.stringify(message.refusedBy),
    contactHold: message.contactHold,
    note: message.note,
    passedAt: message.passedAt,
    errorCode: message.error?.code ?? null,
    errorMessage: message.error?.message ?? null,
    sentAt: message.sentAt,
    deliveredAt: message.deliveredAt,
    readAt: message.readAt,
    now,
    revision: nextRevision(tx),
  })
  touch(tx, message)
  const saved = { ...message, updatedAt: now }
  recentRows(tx).messages.set(saved.id, saved)
  return saved
}

function touch(tx: Tx, { id, conversationId }: NewMessage): void {
  tx.touched?.push({ what: 'message', id, conversationId })
}

export type MessagePlace = {
  readonly lineId: LineId
  readonly phoneNumber: string
  readonly conversationId: ConversationId
}

/** Puts a message on another line; the caller keeps conversations and budgets in step. */
export function placeMessage(tx: Tx, seq: number, place: MessagePlace): void {
  tx.orm.update(messages).set(place).where(eq(messages.seq, seq)).run()
  forgetRows(tx)
}

/** What a message starts with that a device or a client does not say. */
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
    ...base,
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

const revisions = prepared(({ sqlite }) => {
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
