import type { QueryOf } from '../api/operation.ts'
import type { CONVERSATIONS } from '../api/operations/conversations.ts'
import { allFound, type Found } from '../api/paging.ts'
import type { PAGE_QUERY } from '../api/query.ts'
import type { ConversationType } from '../domain/conversation.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, Timestamp } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { ConversationLimit } from '../domain/permissions.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Db, Tx } from './database.ts'
import { everyLineId } from './lines.ts'
import { messageAt } from './messages.ts'
import { scanRanges, type ListPage } from './scan.ts'
import { conversations, groups } from './schema.ts'
import {
  CONVERSATION_SEQS,
  columnsOf,
  isOfLines,
  limitValue,
  selected,
  type RawRow,
  type Values,
} from './statement.ts'

export type Group = Readonly<Omit<typeof groups.$inferSelect, 'seq'>>

/** All messages of one line with one handle. */
export type Conversation = Readonly<
  Omit<typeof conversations.$inferSelect, 'seq' | 'lastSeq' | 'readSeq' | 'movedTo'>
> & {
  /** Set if its messages moved to another line. All other fields are then those of the conversation with this id. */
  readonly movedTo: ConversationId | null
  /** Null for a conversation with one person. */
  readonly group: Group | null
  readonly lastMessage: Message | null
}

type ListedConversation = Conversation & { readonly lastSeq: number }

type Row = RawRow<typeof conversations> & RawRow<typeof groups>

const HIDDEN = ['movedTo', 'readSeq'] as const
const COLUMNS = `${selected(groups, columnsOf(groups, ['seq']), 'g.')},
  ${selected(conversations, columnsOf(conversations, HIDDEN), 'c.')}`

/** A query for conversations `c`; `condition` follows WHERE. */
function conversationsWhere(condition: string) {
  const sql = `SELECT ${COLUMNS} FROM conversations c LEFT JOIN groups g ON g.seq = c.seq WHERE ${condition}`
  return (db: Db, values: Values): readonly ListedConversation[] =>
    db.rows<Row>(sql, values).map((row) => toConversation(db, row))
}

type Party = { readonly lineId: LineId; readonly handle: Handle }

function findByParty(db: Db, { lineId, handle }: Party) {
  const sql = `SELECT id, moved_to AS movedTo FROM conversations
    WHERE line_id = $lineId AND handle = $handle`
  return db.row<{ id: ConversationId; movedTo: number | null }>(sql, { lineId, handle })
}

export function findConversation(db: Db, party: Party): ConversationId | null {
  return findByParty(db, party)?.id ?? null
}

/** Returns the conversation of a line with a handle for a new message, and creates it if needed. */
export function openConversation(
  tx: Tx,
  ids: LogicalClock,
  party: Party & { readonly phoneNumber: string; readonly now: Timestamp },
): ConversationId {
  const known = findByParty(tx, party)
  if (known !== null) {
    const returning = 'UPDATE conversations SET moved_to = NULL WHERE id = $id'
    if (known.movedTo !== null) tx.execute(returning, { id: known.id })
    return known.id
  }
  const id = ids.id('conv')
  const sql = `INSERT INTO conversations (id, line_id, phone_number, handle, service, message_count, last_seq,
       created_at, updated_at)
     VALUES ($id, $lineId, $phoneNumber, $handle, 'iMessage', 0, 0, $now, $now)`
  tx.execute(sql, { id, ...party })
  touch(tx, id)
  return id
}

/** SQL: whether a message was history when it came; see `isHistory` in domain/message-extras. */
export const IS_HISTORY = `coalesce(extras ->> 'isHistory', 0)`
/** SQL: whether a message waits for approval or was denied, so that it counts as no answer. */
const IS_HELD = `coalesce(extras ->> '$.approval.state', 'approved') <> 'approved'`
/** SQL: whether a message was received and counts as unread. */
export const IS_NEWS = `(direction = 'inbound' AND NOT ${IS_HISTORY})`

/**
 * Updates a conversation for a message that is added. A message that moves here may be older than the last one, which
 * then stays the last. A message that waits for approval marks nothing as read, and answers nothing. History becomes
 * the last message only if it was sent later than the present last one, and never counts as unread.
 */
export function noteMessage(
  tx: Tx,
  id: ConversationId,
  message: Pick<Message, 'seq' | 'service' | 'direction' | 'extras' | 'sentAt'>,
  now: Timestamp,
): void {
  const { seq, service, direction, extras, sentAt } = message
  const isHistory = extras?.isHistory === true
  const lastAt = isHistory ? lastSentAt(tx, id) : null
  if (lastAt !== null && lastAt >= (sentAt ?? now)) {
    tx.execute('UPDATE conversations SET message_count = message_count + 1 WHERE id = $id', { id })
    touch(tx, id)
    return
  }
  const isReceived = direction === 'inbound'
  const isHeld = extras?.approval?.state === 'pending'
  const sql = `UPDATE conversations SET message_count = message_count + 1, last_seq = max(last_seq, $seq),
       read_seq = iif($isMark AND $seq >= last_seq, $seq, read_seq),
       unread_count = iif($isMark AND $seq >= last_seq, 0, unread_count + $isNews),
       is_unanswered = iif($seq < last_seq OR $isHeld OR ($isReceived AND NOT $isNews), is_unanswered, $isReceived),
       service = $service, updated_at = $now WHERE id = $id`
  const isNews = isReceived && !isHistory
  const isMark = !isReceived && !isHeld
  tx.execute(sql, { id, seq, service, isReceived, isNews, isHeld, isMark, now })
  touch(tx, id)
}

/** The date of the last message; null if there is none. */
export function lastSentAt(db: Db, id: ConversationId): Timestamp | null {
  const sql = `SELECT coalesce(m.sent_at, m.created_at) AS at
     FROM conversations c JOIN messages m ON m.seq = c.last_seq WHERE c.id = $id`
  return db.row<{ at: Timestamp }>(sql, { id })?.at ?? null
}

/** Marks the messages up to `seq` as read; no change if they are. */
export function markRead(tx: Tx, id: ConversationId, seq: number): void {
  const sql = `UPDATE conversations SET read_seq = $seq, unread_count =
       (SELECT count(*) FROM messages m
        WHERE m.conversation_seq = conversations.seq AND m.seq > $seq AND ${IS_NEWS})
     WHERE id = $id AND read_seq < $seq`
  if (tx.execute(sql, { id, seq }).changes > 0) touch(tx, id)
}

/** Called when a waiting message was approved: it answers the messages before it. */
export function markAnswered(tx: Tx, id: ConversationId, seq: number): void {
  const sql = `UPDATE conversations SET is_unanswered = EXISTS (SELECT 1 FROM messages m
       WHERE m.conversation_seq = conversations.seq AND m.seq > $seq AND ${IS_NEWS})
     WHERE id = $id AND is_unanswered = 1`
  if (tx.execute(sql, { id, seq }).changes > 0) touch(tx, id)
}

/** The number of conversations with unread messages, at most 1,000. */
export function countUnread(db: Db, lines: LineLimit): number {
  const sql = `SELECT count(*) AS count FROM
    (SELECT 1 FROM conversations c WHERE c.unread_count > 0 AND ${isOfLines('c.line_id')} LIMIT 1000)`
  return db.row<{ count: number }>(sql, { lineIds: limitValue(lines) })?.count ?? 0
}

/** SQL: the newest message that isn't history, or 0. History after it is the last message if it was sent later. */
const LAST_LIVE = `coalesce((SELECT m.seq FROM messages m
  WHERE m.conversation_seq = conversations.seq AND NOT ${IS_HISTORY} ORDER BY m.seq DESC LIMIT 1), 0)`

/**
 * For the SET of an UPDATE: recomputes the last message from the remaining ones, as `noteMessage` would. `read_seq`
 * is reduced too, because SQLite reuses the seq of a deleted message.
 */
export const LAST_LEFT = `
  (last_seq, is_unanswered) = (
    SELECT coalesce(max(l.seq), 0), coalesce(iif(l.isHeld OR (l.direction = 'inbound' AND l.isHistory),
      is_unanswered, l.direction = 'inbound'), 0)
    FROM (SELECT m.seq, m.direction, ${IS_HISTORY} AS isHistory, ${IS_HELD} AS isHeld FROM messages m
      WHERE m.conversation_seq = conversations.seq AND m.seq >= ${LAST_LIVE}
      ORDER BY coalesce(m.sent_at, m.created_at) DESC, m.seq LIMIT 1) l),
  read_seq = min(read_seq, (SELECT coalesce(max(m.seq), 0) FROM messages m
    WHERE m.conversation_seq = conversations.seq))`

/** Called when another service carried the message: sets the conversation's service too, if it is the last message. */
export function noteService(
  tx: Tx,
  id: ConversationId,
  message: { readonly seq: number; readonly service: string },
): void {
  const sql = 'UPDATE conversations SET service = $service WHERE id = $id AND last_seq = $seq'
  tx.execute(sql, { id, ...message })
  touch(tx, id)
}

/**
 * Called after a message moved to the conversation `to`. If this one has no message left, its id stands for `to` from
 * now on, because callers know the id; and if a person answered here, a person answers there.
 */
export function forgetMessage(tx: Tx, id: ConversationId, to: ConversationId): void {
  const sql = `UPDATE conversations SET automation_paused = 1 WHERE id = $to
         AND EXISTS (SELECT 1 FROM conversations WHERE id = $id AND automation_paused = 1)
         AND NOT EXISTS (SELECT 1 FROM messages WHERE conversation_seq =
           (SELECT seq FROM conversations WHERE id = $id))`
  tx.execute(sql, { id, to })
  const more = `UPDATE conversations SET message_count = message_count - 1, ${LAST_LEFT} WHERE id = $id`
  tx.execute(more, { id })
  // Ids that stood for this one stand for `to` as well, so no id leads to another one that was moved.
  const then = `UPDATE conversations SET automation_paused = 0,
         moved_to = (SELECT seq FROM conversations WHERE id = $to)
       WHERE seq IN (
         SELECT seq FROM conversations WHERE id = $id AND last_seq = 0
         UNION ALL
         SELECT other.seq FROM conversations other JOIN conversations empty ON other.moved_to = empty.seq
         WHERE empty.id = $id AND empty.last_seq = 0)`
  tx.execute(then, { id, to })
  touch(tx, id)
}

type Query = QueryOf<typeof CONVERSATIONS.listConversations>

/** The parameters of the API's list, but with the lines that its caller may see. */
export type ConversationFilter = {
  readonly [Name in Exclude<keyof Query, keyof typeof PAGE_QUERY>]?: Query[Name] | undefined
} & {
  readonly lineIds: LineLimit
  readonly conversationIds: ConversationLimit
  readonly type: ConversationType
}

const IS_GROUP = 'EXISTS (SELECT 1 FROM groups g WHERE g.seq = c.seq)'
const OF_TYPE = { direct: `NOT ${IS_GROUP}`, group: IS_GROUP, all: 'TRUE' } as const
const UNREAD = 'unread_count > 0'
const UNANSWERED = 'is_unanswered = 1'

/**
 * Conversations in the order in which their latest messages were recorded, newest first: by `last_seq`, which is 0 if
 * there is no message. `before` is the cursor's `last_seq`.
 */
export function listConversations(
  db: Db,
  filter: ConversationFilter,
  { limit, before }: ListPage,
): Found<ListedConversation> {
  const { lineIds, conversationIds, handle, type, unread = false, unanswered = false } = filter
  const both = `${unread ? UNREAD : 'TRUE'} AND ${unanswered ? UNANSWERED : 'TRUE'}`
  if (handle !== undefined || conversationIds !== null) {
    const few = [
      ...(handle === undefined ? [] : ['c.handle = $handle']),
      ...(conversationIds === null ? [] : [`c.seq IN ${CONVERSATION_SEQS}`]),
    ]
    const query = conversationsWhere(
      `${few.join(' AND ')} AND ${isOfLines('c.line_id')} AND c.last_seq > 0
       AND c.last_seq < $start AND ${OF_TYPE[type]} AND ${both}`,
    )
    const start = before ?? Number.MAX_SAFE_INTEGER
    const limits = { lineIds: limitValue(lineIds), conversationIds: limitValue(conversationIds) }
    const found = query(db, { ...limits, start, handle: handle ?? null })
    return allFound(found.toSorted((a, b) => b.lastSeq - a.lastSeq).slice(0, limit))
  }
  // The lists of all lines are merged: an index over all lines would have to be rewritten by each message.
  const ranges = (lineIds ?? everyLineId(db)).map((lineId) => ({
    from: `conversations c ${rangeOf(filter)} AND line_id = +$lineId AND last_seq > 0`,
    fits: `${OF_TYPE[type]} AND ${both}`,
    values: { lineId },
    place: 'last_seq',
  }))
  const { seqs, upTo } = scanRanges(db, ranges, { limit, before })
  return { rows: conversationsWithSeqs(db, seqs), upTo }
}

/** The index with the fewest rows that don't match the filter. */
function rangeOf({ unread, unanswered }: ConversationFilter): string {
  if (unread) return `INDEXED BY conversations_unread WHERE ${UNREAD}`
  if (unanswered) return `INDEXED BY conversations_unanswered WHERE ${UNANSWERED}`
  return 'INDEXED BY conversations_by_line_and_last WHERE TRUE'
}

/** SQL: the seq of the conversation that `$conversationId` stands for. */
export const STOOD_FOR =
  '(SELECT coalesce(moved_to, seq) FROM conversations WHERE id = $conversationId)'

const stoodFor = conversationsWhere(`c.seq = ${STOOD_FOR}`)

export function getConversation(db: Db, id: string): Conversation | null {
  const [conversation] = stoodFor(db, { conversationId: id })
  if (conversation === undefined || conversation.id === id) return conversation ?? null
  // A row has this id, so it is one of ours.
  return { ...conversation, id: id as ConversationId, movedTo: conversation.id }
}

const bySeq = conversationsWhere('c.seq = $seq')

/** The conversations with these seqs, the latest message first. */
export function conversationsWithSeqs(
  db: Db,
  seqs: readonly number[],
): readonly ListedConversation[] {
  return seqs.flatMap((seq) => bySeq(db, { seq })).sort((a, b) => b.lastSeq - a.lastSeq)
}

/** Sets whether a person answers in the conversation. */
export function pauseAutomation(tx: Tx, id: ConversationId, isAutomationPaused: boolean): void {
  const sql = `UPDATE conversations SET automation_paused = $isPaused,
       loop_from = iif($isPaused OR looped_at IS NULL, loop_from, last_seq),
       looped_at = iif($isPaused, looped_at, NULL) WHERE seq = ${STOOD_FOR}`
  tx.execute(sql, { conversationId: id, isPaused: isAutomationPaused })
  touch(tx, id)
}

type Pause = {
  readonly id: ConversationId
  readonly lineId: LineId
  /** 1 if a person answers there, or if two programs answered each other. */
  readonly isPaused: 0 | 1
  readonly loopedAt: Timestamp | null
}

export function conversationsWith(
  db: Db,
  { lineIds, handle }: { readonly lineIds: LineLimit; readonly handle: Handle },
): readonly Pause[] {
  const sql = `SELECT id, line_id AS lineId, automation_paused AS isPaused, looped_at AS loopedAt
     FROM conversations WHERE handle = $handle`
  return db.rows<Pause>(sql, { handle }).filter(({ lineId }) => includesLine(lineIds, lineId))
}

/** Stops programs from answering in a conversation until a person lets them go on. */
export function stopLoop(tx: Tx, id: ConversationId, now: Timestamp): void {
  const sql = 'UPDATE conversations SET automation_paused = 1, looped_at = $now WHERE id = $id'
  tx.execute(sql, { id, now })
  touch(tx, id)
}

/** The conversations that were stopped because two programs seemed to answer each other, at most a hundred. */
export function loopedConversations(db: Db) {
  const sql = `SELECT id, line_id AS lineId FROM conversations INDEXED BY conversations_looped
     WHERE looped_at IS NOT NULL ORDER BY looped_at LIMIT 100`
  return db.rows<{ readonly id: ConversationId; readonly lineId: LineId }>(sql)
}

/** The seq up to which messages count toward no loop; null if the conversation is stopped already. */
export function loopFrom(db: Db, id: ConversationId): number | null {
  const sql = 'SELECT loop_from AS seq FROM conversations WHERE id = $id AND automation_paused = 0'
  return db.row<{ seq: number }>(sql, { id })?.seq ?? null
}

/** SQL: ids of the conversations with a handle, and ids that stand for one. */
export const IDS_WITH = `SELECT id FROM conversations WHERE handle = +$handle
  UNION ALL SELECT o.id FROM conversations c CROSS JOIN conversations o ON o.moved_to = c.seq
  WHERE c.handle = +$handle AND o.handle <> c.handle`

export function conversationsOf(db: Db, handle: string): readonly ConversationId[] {
  return db.rows<{ id: ConversationId }>(IDS_WITH, { handle }).map((row) => row.id)
}

/** True if the line (null: any line) has a conversation with the handle. Used for email addresses. */
export function hasConversation(db: Db, handle: Handle, lineId: LineId | null): boolean {
  const sql = `SELECT 1 FROM conversations WHERE handle = $handle AND moved_to IS NULL
    AND ($lineId IS NULL OR line_id = $lineId) LIMIT 1`
  return db.row(sql, { handle, lineId }) !== null
}

function touch(tx: Tx, id: ConversationId): void {
  tx.changes?.push({ what: 'conversation', id })
}

function toConversation(
  db: Db,
  { seq: _seq, chatGuid, name, participants, state, ...row }: Row,
): ListedConversation {
  const [lastMessage = null] = messageAt(db, { seq: row.lastSeq })
  // groups.ts wrote the JSON; it is null for a conversation with one person.
  const people = JSON.parse(participants) as Handle[] | null
  return {
    ...row,
    movedTo: null,
    group: people && { chatGuid, name, participants: people, state },
    lastMessage,
    isAutomationPaused: row.isAutomationPaused === 1,
    isUnanswered: row.isUnanswered === 1,
  }
}
