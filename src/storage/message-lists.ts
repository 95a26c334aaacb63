import type { Attention } from '../api/dashboard.ts'
import type { Found } from '../api/paging.ts'
import type { ConversationType } from '../domain/conversation.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
  type Timestamp,
} from '../domain/ids.ts'
import {
  ENDED_ON_PURPOSE,
  STORED_STATUSES,
  type DeferralReason,
  type Message,
} from '../domain/message.ts'
import type { ConversationLimit } from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import { IS_HISTORY, STOOD_FOR } from './conversations.ts'
import type { Db } from './database.ts'
import { messageAt, messagesWhere } from './messages.ts'
import { EXAMINED_MAX, inSteps, scan, scanRanges, type ListPage } from './scan.ts'
import { firstSeqSince } from './seq-by-time.ts'
import {
  CONVERSATION_SEQ,
  CONVERSATION_SEQS,
  LINE_SEQ,
  LINE_SEQS,
  given,
  limitValue,
  namesIn,
  type Values,
} from './statement.ts'

export type MessageFilter = {
  readonly lineIds: LineLimit
  readonly conversationIds: ConversationLimit
  readonly conversationId?: string | undefined
  readonly handle?: string | undefined
  readonly direction?: 'inbound' | 'outbound' | undefined
  readonly status?: string | undefined
  readonly queuedReason?: DeferralReason | undefined
  readonly endedOnPurpose?: boolean | undefined
  readonly service?: string | undefined
  readonly type: ConversationType
  /** Neither bound is included. */
  readonly createdAfter?: Timestamp | undefined
  readonly createdBefore?: Timestamp | undefined
}

export function listMessages(db: Db, filter: MessageFilter, page: ListPage): Found<Message> {
  const { createdAfter: after, createdBefore: before } = filter
  const from = after === undefined ? 0 : firstSeqSince(db, 'messages', after + 1)
  const until = before === undefined ? Infinity : firstSeqSince(db, 'messages', before)
  const start = Math.min(until, page.before ?? Infinity, Number.MAX_SAFE_INTEGER)
  const ranges = rangesOf(db, filter).map(({ by, value, rest }) => ({
    from: `messages ${by} AND seq >= +$from`,
    fits: conditionsOf(rest),
    values: { ...valuesOf(rest), value, from },
  }))
  const { seqs, upTo } = scanRanges(db, ranges, { limit: page.limit, before: start })
  return { rows: messagesWithSeqs(db, seqs), upTo }
}

/** Messages in the order of recording, by an index, and the rest of the filter, which each of them is compared with. */
type MessageRange = {
  readonly by: string
  readonly value: number | string | null
  readonly rest: MessageFilter
}

/** Most groups whose messages are merged; if there are more, all messages are scanned. */
const MERGED_GROUPS_MAX = 100

const stoodFor = `SELECT seq FROM conversations WHERE seq = ${STOOD_FOR}`
const ofHandle = 'SELECT seq FROM conversations WHERE handle = $handle'
const someGroups = `SELECT seq FROM groups ORDER BY seq LIMIT ${MERGED_GROUPS_MAX + 1}`

const ofConversations = `SELECT seq FROM conversations WHERE seq IN ${CONVERSATION_SEQS}`

const BY_CONVERSATION = 'INDEXED BY messages_by_conversation WHERE conversation_seq = +$value'
const BY_STATUS = 'INDEXED BY messages_by_status WHERE status = +$value'
const BY_REASON = `INDEXED BY messages_deferred_by_reason
  WHERE status = 'deferred' AND queued_reason = +$value`
const BY_LINE = `INDEXED BY messages_by_line
  WHERE line_seq = (SELECT l.seq FROM lines l WHERE l.id = +$value)`
const ALL = 'NOT INDEXED WHERE +$value IS NULL'

/**
 * The newest messages of a handle are among the newest of its conversations, one on each line. The same goes for
 * groups, if they are few, and for lines. So messages need no more indexes.
 */
function rangesOf(db: Db, filter: MessageFilter): readonly MessageRange[] {
  const { handle, conversationId, type, status, queuedReason, lineIds, direction } = filter
  const { conversationIds } = filter
  const seqs = (sql: string, values: Values) =>
    db.rows<{ seq: number }>(sql, values).map(({ seq }) => seq)
  if (conversationId !== undefined) {
    const rest = { ...filter, conversationId: undefined }
    return seqs(stoodFor, { conversationId }).map((value) => ({ by: BY_CONVERSATION, value, rest }))
  }
  if (handle !== undefined) {
    const rest = { ...filter, handle: undefined }
    return seqs(ofHandle, { handle }).map((value) => ({ by: BY_CONVERSATION, value, rest }))
  }
  if (conversationIds !== null) {
    const values = { conversationIds: limitValue(conversationIds) }
    return seqs(ofConversations, values).map((value) => ({
      by: BY_CONVERSATION,
      value,
      rest: filter,
    }))
  }
  const groups = type === 'group' ? seqs(someGroups, {}) : null
  if (groups !== null && groups.length <= MERGED_GROUPS_MAX)
    return groups.map((value) => ({ by: BY_CONVERSATION, value, rest: filter }))
  if (queuedReason !== undefined) return [{ by: BY_REASON, value: queuedReason, rest: filter }]
  if (status !== undefined) {
    // A deferred message is shown as queued.
    const stored = status === 'queued' ? ['queued', 'deferred'] : [status]
    return stored.map((value) => ({ by: BY_STATUS, value, rest: filter }))
  }
  if (lineIds !== null) return lineIds.map((value) => ({ by: BY_LINE, value, rest: filter }))
  if (direction !== undefined) {
    // A received message stays `received`, and every other message was sent.
    const isOf = (stored: string) => (stored === 'received') === (direction === 'inbound')
    return STORED_STATUSES.filter(isOf).map((value) => ({ by: BY_STATUS, value, rest: filter }))
  }
  return [{ by: ALL, value: null, rest: filter }]
}

export const messagesAfter = messagesWhere(
  `WHERE conversation_seq = ${CONVERSATION_SEQ} AND seq > +$after ORDER BY seq LIMIT +$limit`,
)

const received = `SELECT seq FROM messages INDEXED BY messages_by_conversation
   WHERE conversation_seq = ${CONVERSATION_SEQ} AND direction = 'inbound' AND NOT ${IS_HISTORY}
   ORDER BY seq DESC LIMIT 1`

/** The seq of the last message received in the conversation that isn't history; 0 if there is none. */
export function lastReceived(db: Db, conversationId: ConversationId): number {
  return db.row<{ seq: number }>(received, { conversationId })?.seq ?? 0
}

/**
 * Messages sent in a conversation after the seq `after`, newest first: those by which an agent answers the message
 * `answers`, or, if that is null, those with this text.
 */
export const sentAfter = messagesWhere(
  `INDEXED BY messages_by_conversation WHERE conversation_seq = ${CONVERSATION_SEQ} AND seq > +$after
     AND direction = 'outbound' AND NOT ${IS_HISTORY}
     AND iif(+$answers IS NULL, text = $text, extras ->> 'answers' = $answers)
   ORDER BY seq DESC LIMIT ${EXAMINED_MAX}`,
)

/** The newest messages of a line or a conversation that are searched for its last sends. */
const NEWEST_MAX = 200

const times = `SELECT direction = 'inbound' AS isInbound,
     source = 'api' OR coalesce(extras ->> 'isOfAgent', 0) AS isOfProgram, coalesce(sent_at, created_at) AS at
   FROM messages INDEXED BY messages_by_conversation
   WHERE conversation_seq = ${CONVERSATION_SEQ} AND seq > +$from AND NOT ${IS_HISTORY}
     AND status NOT IN ('failed', 'expired', 'deferred') ORDER BY seq DESC LIMIT ${NEWEST_MAX}`

/** The times of a conversation's messages after the seq `from`, newest first. */
export function timesIn(
  db: Db,
  of: { readonly conversationId: ConversationId; readonly from: number },
) {
  return db.each<{ isInbound: 0 | 1; isOfProgram: 0 | 1; at: number }>(times, of)
}

export function messagesWithSeqs(db: Db, seqs: readonly number[]) {
  return seqs.flatMap((seq) => messageAt(db, { seq }))
}

/** Number and oldest time of messages sent to a handle at `since` or later, except by practice lines. */
export function sendsToSince(
  db: Db,
  handle: string,
  given: { readonly since: Timestamp; readonly practiceKinds: readonly string[] },
): { readonly count: number; readonly oldest: number } {
  const { since, practiceKinds } = given
  const from = firstSeqSince(db, 'messages', since)
  const sql = `SELECT count(*) AS count, min(m.created_at) AS oldest
   FROM conversations c JOIN lines l ON l.id = c.line_id
   CROSS JOIN messages m INDEXED BY messages_by_conversation ON m.conversation_seq = c.seq
   WHERE c.handle = +$handle AND instr(+$practice, l.driver || ' ') = 0 AND m.seq >= +$from
     AND m.direction = 'outbound' AND m.source <> 'device'`
  const values = { handle, from, practice: namesIn(practiceKinds) }
  const row = db.row<{ count: number; oldest: number | null }>(sql, values)
  return { count: row?.count ?? 0, oldest: row?.oldest ?? since }
}

/** Like `sendsToSince`, for one conversation. */
export function sendsInSince(db: Db, conversationId: ConversationId, since: Timestamp) {
  const sql = `SELECT count(*) AS count, min(created_at) AS oldest
   FROM messages INDEXED BY messages_by_conversation
   WHERE conversation_seq = ${CONVERSATION_SEQ} AND seq >= +$from
     AND direction = 'outbound' AND source <> 'device'`
  const values = { conversationId, from: firstSeqSince(db, 'messages', since) }
  const row = db.row<{ count: number; oldest: number | null }>(sql, values)
  return { count: row?.count ?? 0, oldest: row?.oldest ?? since }
}

export type ChangeCursor = { readonly updatedAt: number; readonly revision: number }

type ChangePlace = ChangeCursor & { readonly seq: number; readonly fits: 0 | 1 }

/**
 * Messages by their latest change, oldest change first, from `since` (inclusive) or after `cursor`.
 * Revisions grow with every change, so a reader leaves no gap.
 */
export function listChanges(
  db: Db,
  filter: MessageFilter,
  page: { readonly limit: number; readonly since: Timestamp; readonly cursor: ChangeCursor | null },
): Found<Message & ChangeCursor> {
  const start = page.cursor ?? { updatedAt: page.since, revision: 0 }
  const { createdAfter = null, createdBefore = null } = filter
  const sql = `SELECT seq, updated_at AS updatedAt, revision, (${conditionsOf(filter)}
      AND (+$createdAfter IS NULL OR created_at > +$createdAfter)
      AND (+$createdBefore IS NULL OR created_at < +$createdBefore)) AS fits
    FROM messages INDEXED BY messages_by_change
    WHERE (updated_at, revision) > (+$updatedAt, +$revision)
    ORDER BY updated_at, revision LIMIT +$limit`
  const values = { ...valuesOf(filter), createdAfter, createdBefore, limit: page.limit }
  const list = inSteps<ChangePlace>(page.limit, (after) => {
    const { updatedAt, revision } = after ?? start
    return db.rows<ChangePlace>(sql, { ...values, updatedAt, revision })
  })
  const { rows, last } = scan(list, page.limit)
  const seqs = rows.map(({ seq }) => seq)
  return { rows: messagesWithSeqs(db, seqs), upTo: last && [last.updatedAt, last.revision] }
}

/** SQL: whether a caller canceled or denied the message, or marked it as failed. */
const IS_ENDED_ON_PURPOSE = `coalesce(error_code IN ('${ENDED_ON_PURPOSE.join("', '")}'), FALSE)`

const CONDITIONS = {
  lineId: `line_seq = ${LINE_SEQ}`,
  lineIds: `line_seq IN ${LINE_SEQS}`,
  conversationIds: `conversation_seq IN ${CONVERSATION_SEQS}`,
  conversationId: `conversation_seq = ${STOOD_FOR}`,
  handle: 'handle = $handle',
  direction: 'direction = $direction',
  status: "iif(status = 'deferred', 'queued', status) = $status",
  queuedReason: "status = 'deferred' AND queued_reason = $queuedReason",
  endedOnPurpose: `${IS_ENDED_ON_PURPOSE} = $endedOnPurpose`,
  service: 'service = $service',
}

function conditionsOf(filter: MessageFilter): string {
  const given = Object.keys(valuesOf(filter)) as (keyof typeof CONDITIONS)[] // `valuesOf` has only these names.
  const ofType = { all: 'TRUE', direct: 'is_group = 0', group: 'is_group = 1' }[filter.type]
  return [...given.map((name) => CONDITIONS[name]), ofType].join(' AND ')
}

/** Ids from outside are only compared, so any string is allowed. */
function valuesOf(filter: MessageFilter): Values {
  const { lineIds, conversationIds, conversationId, handle } = filter
  const { direction, status, queuedReason, endedOnPurpose, service } = filter
  const ofLines = lineIds?.length === 1 ? { lineId: lineIds[0] } : { lineIds: limitValue(lineIds) }
  return given({
    ...(lineIds && ofLines),
    ...(conversationIds && { conversationIds: limitValue(conversationIds) }),
    conversationId,
    handle,
    direction,
    status,
    queuedReason,
    endedOnPurpose,
    service,
  })
}

// Queries of the health findings. Each uses an index and has a limit, so it costs the same with a million
// messages.

/** Most waiting or uncertain messages counted. */
export const COUNTED_MAX = 1_000

export type FinishedSend = {
  readonly isFailed: boolean
  readonly errorCode: string | null
  readonly at: Timestamp
}

type SendRow = Pick<Message, 'direction' | 'source' | 'status' | 'updatedAt' | 'sentAt'> & {
  readonly errorCode: string | null
}

const newestOfLine = `SELECT direction, source, status, error_code AS errorCode, updated_at AS updatedAt,
          sent_at AS sentAt
   FROM messages INDEXED BY messages_by_line
   WHERE line_seq = ${LINE_SEQ} ORDER BY seq DESC LIMIT ${NEWEST_MAX}`

/** Recent sends of a line and how they ended, the last one to finish first. */
export function finishedSends(db: Db, lineId: LineId): readonly FinishedSend[] {
  return db
    .rows<SendRow>(newestOfLine, { lineId })
    .filter(({ direction, source }) => direction === 'outbound' && source !== 'device')
    .flatMap(({ status, errorCode, updatedAt, sentAt }): FinishedSend[] => {
      if (status === 'failed') return [{ isFailed: true, errorCode, at: updatedAt }]
      const isSent = status === 'sent' || status === 'delivered' || status === 'read'
      return isSent ? [{ isFailed: false, errorCode: null, at: sentAt ?? updatedAt }] : []
    })
    .toSorted((a, b) => b.at - a.at)
}

/** At most so many messages of all lines are read to find those of some lines. */
const LOOKED_AT_MAX = 20 * COUNTED_MAX

/** SQL: the number of messages of the lines among the newest matching ones. */
const countOf = (index: string, matches: string) => `SELECT count(*) AS count FROM (SELECT 1 FROM (
     SELECT line_seq FROM messages INDEXED BY ${index} WHERE ${matches}
     ORDER BY seq DESC LIMIT ${LOOKED_AT_MAX})
   WHERE $lineIds IS NULL OR line_seq IN ${LINE_SEQS} LIMIT ${COUNTED_MAX})`

const withStatus = countOf(
  'messages_by_status',
  `status = +$status AND seq >= +$from AND NOT ${IS_ENDED_ON_PURPOSE}`,
)
const approvals = countOf(
  'messages_deferred_by_reason',
  "status = 'deferred' AND queued_reason = 'approval'",
)

/** Counts messages since `since` that weren't sent, except those ended on purpose, and all that are undecided. */
export function countAttention(db: Db, since: Timestamp, limit: LineLimit): Attention {
  const lineIds = limitValue(limit)
  const count = (status: string, from: number) =>
    db.row<{ count: number }>(withStatus, { status, from, lineIds })?.count ?? 0
  const from = firstSeqSince(db, 'messages', since)
  return {
    failed: count('failed', from),
    expired: count('expired', from),
    uncertain: count('uncertain', 0),
    queued: count('queued', 0),
    approval: db.row<{ count: number }>(approvals, { lineIds })?.count ?? 0,
  }
}

/**
 * Uncertain messages of real lines that nothing settled for ten minutes, so that they are announced as failed. Oldest
 * first.
 */
export function longUncertain(db: Db, now: Timestamp, practiceKinds: readonly string[]) {
  const sql = `SELECT m.id, l.id AS lineId
   FROM messages m INDEXED BY messages_by_status CROSS JOIN lines l ON l.seq = m.line_seq
   WHERE m.status = 'uncertain' AND (m.due_at IS NULL OR m.due_at <= +$now)
     AND instr(+$practice, l.driver || ' ') = 0
   ORDER BY m.seq LIMIT ${COUNTED_MAX}`
  const values = { now, practice: namesIn(practiceKinds) }
  return db.rows<{ readonly id: MessageId; readonly lineId: LineId }>(sql, values)
}

export type Waiting = { readonly count: number; readonly oldest: Timestamp }

// Messages that wait for the daily limit are due tomorrow, and so come after the others.
const waitingOnLine = `SELECT createdAt FROM (
     SELECT created_at AS createdAt, queued_reason FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at IS NOT NULL
     ORDER BY due_at LIMIT ${EXAMINED_MAX})
   WHERE queued_reason IS NOT 'daily_contact_limit' LIMIT ${COUNTED_MAX}`

/**
 * The number of conversations whose next message waits for the line, and the time of the oldest. Messages that wait
 * for the daily limit or for an earlier message don't count.
 */
export function waitingForLine(db: Db, lineId: LineId): Waiting | null {
  const times = db
    .rows<Pick<Message, 'createdAt'>>(waitingOnLine, { lineId })
    .map(({ createdAt }) => createdAt)
  return times.length === 0 ? null : { count: times.length, oldest: timestamp(Math.min(...times)) }
}
