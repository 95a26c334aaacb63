// The questions of dispatch. Each query runs on a partial index, or on the few rows of a passing status,
// so its cost depends on what waits, not on what was ever sent.

import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import {
  UNCERTAIN_ANNOUNCED_AFTER_MS,
  type Outbound,
  type OutgoingMessage,
  type Unsettled,
} from '../domain/message.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Db, Tx } from './database.ts'
import { CONVERSATION_SEQ, LINE_SEQ } from './id-lookup.ts'
import { findMessage, messagesWhere } from './messages.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { prepared, type Values } from './statement.ts'

type IdRow = { readonly id: MessageId }

const ids = (sql: string) => {
  const query = prepared(({ sqlite }) => sqlite.prepare<IdRow, [Values]>(sql))
  return (db: Db, values: Values): readonly MessageId[] =>
    query(db)
      .all(values)
      .map((row) => row.id)
}

const dueWhere = (condition: string) =>
  `INDEXED BY messages_due_by_line
   WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at <= +$now ${condition}
   ORDER BY due_at, seq LIMIT +$limit`

type Due = { readonly lineId: LineId; readonly now: number }

const due = messagesWhere(dueWhere(''))

/** The queued messages that a line may take now: the first of each conversation, longest due first. */
export function dueMessages(db: Db, line: Due, limit: number): readonly Outbound[] {
  return due(db, { ...line, limit })
}

const dueUnpinned = ids(`SELECT id FROM messages ${dueWhere('AND is_pinned = 0')}`)

/** The due messages that may go to another line: see `dueMessages`. */
export function movableMessages(db: Db, line: Due, limit: number): readonly MessageId[] {
  return dueUnpinned(db, { ...line, limit })
}

const nextDue = prepared(({ sqlite }) =>
  sqlite.prepare<{ due_at: number }, [Values]>(
    `SELECT due_at FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at > +$now ORDER BY due_at LIMIT 1`,
  ),
)

export function nextDueAt(db: Db, lineId: LineId, now: number): number | null {
  return nextDue(db).get({ lineId, now })?.due_at ?? null
}

/** The words of the index over unfinished messages: SQLite takes it for no others. */
const IS_UNFINISHED = "(status = 'queued' OR status = 'sending' OR status = 'uncertain')"

const unfinishedWhere = (rest: string) =>
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_seq = ${CONVERSATION_SEQ} AND ${IS_UNFINISHED} AND ${rest}`

const first = messagesWhere(unfinishedWhere("status <> 'uncertain' ORDER BY seq LIMIT 1"))

/** The message whose turn it is in a conversation: the earliest that is queued or sending. */
export function firstInConversation(db: Db, conversationId: ConversationId): Outbound | null {
  return first(db, { conversationId })[0] ?? null
}

const sameTextUncertain = prepared(({ sqlite }) =>
  sqlite.prepare<{ at: Timestamp | null }, [Values]>(
    `SELECT max(due_at) AS at FROM messages
     ${unfinishedWhere("status = 'uncertain' AND text = +$text AND due_at > +$now")}`,
  ),
)

/** The time at which the last uncertain message of the conversation with this text is announced; null for none. */
export function sameTextUncertainUntil(
  db: Db,
  message: Pick<Outbound, 'conversationId' | 'text'>,
  now: Timestamp,
): Timestamp | null {
  const { conversationId, text } = message
  return sameTextUncertain(db).get({ conversationId, text, now })?.at ?? null
}

const withTurn = messagesWhere(
  unfinishedWhere("status = 'queued' AND due_at IS NOT NULL ORDER BY seq"),
)

/** The messages of a conversation that are queued with a time of their own: they are or were first. */
export function queuedWithTurn(db: Db, conversationId: ConversationId): readonly Outbound[] {
  return withTurn(db, { conversationId })
}

/** Messages that come along with one that moves. */
const BEHIND_MAX = 1_000

const behind = messagesWhere(
  unfinishedWhere("status = 'queued' AND seq > +$seq ORDER BY seq LIMIT +$limit"),
)

/** The messages that wait behind one of a conversation, as far as one that is bound to its line. */
export function queuedBehind(
  db: Db,
  { conversationId, seq }: Pick<Outbound, 'conversationId' | 'seq'>,
): readonly Outbound[] {
  const queued = behind(db, { conversationId, seq, limit: BEHIND_MAX })
  const bound = queued.findIndex((message) => message.isPinned)
  return bound === -1 ? queued : queued.slice(0, bound)
}

const onTheWay = prepared(({ sqlite }) =>
  sqlite.prepare<{ lineId: LineId }, [Values]>(
    `SELECT c.line_id AS lineId FROM conversations c
     CROSS JOIN messages m INDEXED BY messages_unfinished_by_conversation
       ON m.conversation_seq = c.seq AND ${IS_UNFINISHED}
     WHERE c.handle = +$handle AND m.status <> 'uncertain' AND m.is_pinned = 0
       AND m.platform_guid IS NULL
     LIMIT 1`,
  ),
)

/** The line of a message to `handle` that named no line and is queued or just being sent. */
export function lineOnTheWayTo(db: Db, handle: Handle): LineId | null {
  return onTheWay(db).get({ handle })?.lineId ?? null
}

type Aged = { readonly id: MessageId; readonly at: number }

const oldestOf = (status: 'queued' | 'sending', since: 'created_at' | 'passed_at') =>
  prepared(({ sqlite }) =>
    sqlite.prepare<Aged, [Values]>(
      `SELECT id, ${since} AS at FROM messages INDEXED BY messages_by_status
       WHERE status = '${status}' ORDER BY seq LIMIT +$limit`,
    ),
  )

const oldestQueued = oldestOf('queued', 'created_at')
const oldestSending = oldestOf('sending', 'passed_at')

/** Queued messages that were accepted at `until` or before, oldest first. */
export function queuedUntil(db: Db, until: number, limit: number): readonly MessageId[] {
  return agedUntil(oldestQueued(db), until, limit)
}

/** Messages that passed their point of no return at `until` or before and are still sending. */
export function heldUntil(db: Db, until: number, limit: number): readonly MessageId[] {
  return agedUntil(oldestSending(db), until, limit)
}

/** Most of the time the oldest one is young, and nothing more is read. */
function agedUntil(
  oldest: ReturnType<typeof oldestQueued>,
  until: number,
  limit: number,
): readonly MessageId[] {
  const first = oldest.get({ limit: 1 })
  if (first === null || first.at > until) return []
  return oldest
    .all({ limit })
    .filter((row) => row.at <= until)
    .map((row) => row.id)
}

/** Queued messages whose line is no longer listed: nobody would ever send them. */
export function queuedOnDeletedLines(db: Db): readonly Outbound[] {
  const rows = db.sqlite
    .query<IdRow, []>(
      `SELECT m.id FROM messages m INDEXED BY messages_by_status
       JOIN lines l ON l.seq = m.line_seq
       WHERE m.status = 'queued' AND l.deleted_at IS NOT NULL ORDER BY m.seq`,
    )
    .all()
  return rows.flatMap((row) => findMessage(db, row.id) ?? [])
}

const announceable = ids(
  `SELECT id FROM messages INDEXED BY messages_to_announce
   WHERE status = 'uncertain' AND due_at <= +$now ORDER BY due_at LIMIT +$limit`,
)

/** Uncertain messages that `message.failed` has to announce now. */
export function messagesToAnnounce(db: Db, now: number, limit: number): readonly MessageId[] {
  return announceable(db, { now, limit })
}

const nextAnnouncement = prepared(({ sqlite }) =>
  sqlite.prepare<{ due_at: number }, []>(
    `SELECT due_at FROM messages INDEXED BY messages_to_announce
     WHERE status = 'uncertain' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
  ),
)

export function nextAnnouncementAt(db: Db): number | null {
  return nextAnnouncement(db).get()?.due_at ?? null
}

/** Lets what waited for the clock to be settled go on at once. */
export function wakeHeldBack(tx: Tx, now: number): void {
  tx.sqlite
    .query(
      `UPDATE messages INDEXED BY messages_by_status SET due_at = $now
       WHERE status = 'queued' AND due_at IS NOT NULL AND queued_reason = 'clock_jumped'`,
    )
    .run({ now })
}

/** The longest wait after the time of a wrong clock: that of an announcement. */
const WAIT_MS_MAX = UNCERTAIN_ANNOUNCED_AFTER_MS

/**
 * Changes that are dated after `now` become changes of now, in their order, and what is due then is due
 * soon. When a message was made, sent or read stays as it was recorded.
 */
export function bringBackChanges(tx: Tx, now: number): void {
  tx.sqlite
    .query(
      `UPDATE messages INDEXED BY messages_by_change
       SET updated_at = $now, due_at = min(due_at, $latest) WHERE updated_at > $now`,
    )
    .run({ now, latest: now + WAIT_MS_MAX })
}

/** Lets a queue that waits for the day's budget try again at once: the limit was raised. */
export function wakeLimited(tx: Tx, lineId: LineId, now: number): void {
  tx.sqlite
    .query(
      `UPDATE messages SET due_at = $now WHERE status = 'queued' AND due_at IS NOT NULL
         AND line_seq = ${LINE_SEQ} AND queued_reason = 'daily_contact_limit'`,
    )
    .run({ lineId, now })
}

/** The time at which a message that becomes uncertain now is announced. */
export function announcementAt(now: Timestamp): Timestamp {
  return (now + UNCERTAIN_ANNOUNCED_AFTER_MS) as Timestamp // A sum of whole milliseconds.
}

/** The number of messages with a status that is passed through; those are few. */
export function countByStatus(db: Db, status: 'queued' | 'sending' | 'uncertain'): number {
  const counting = db.sqlite.query<{ count: number }, [Values]>(
    'SELECT count(*) AS count FROM messages INDEXED BY messages_by_status WHERE status = $status',
  )
  return counting.get({ status })?.count ?? 0
}

/** Turns what a dead process left as `sending` into `uncertain`, but for what the device holds. */
export function sendingWithoutGuid(db: Db): readonly Outbound[] {
  const rows = db.sqlite
    .query<IdRow, []>(
      `SELECT id FROM messages INDEXED BY messages_by_status
       WHERE status = 'sending' AND platform_guid IS NULL ORDER BY seq`,
    )
    .all()
  return rows.flatMap((row) => findMessage(db, row.id) ?? [])
}

const UNSETTLED_MS_MAX = 7 * 86_400_000
const UNSETTLED_MAX = 1_000
const OPEN_MS_MAX = 30 * 86_400_000
const OPEN_MAX = 10_000

// One status at a time, and from a seq on, so that the index alone gives the order and the bound.
const newestOfStatus = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId; seq: number }, [Values]>(
    `SELECT id, seq FROM messages INDEXED BY messages_by_status
     WHERE status = +$status AND seq >= +$from AND line_seq = ${LINE_SEQ}
     ORDER BY seq DESC LIMIT +$limit`,
  ),
)

const newestWithGuid = prepared(({ sqlite }) =>
  sqlite.prepare<{ guid: string; note: string | null; seq: number }, [Values]>(
    `SELECT platform_guid AS guid, note, seq FROM messages INDEXED BY messages_by_status
     WHERE status = +$status AND seq >= +$from AND line_seq = ${LINE_SEQ}
       AND direction = 'outbound' AND platform_guid IS NOT NULL
     ORDER BY seq DESC LIMIT +$limit`,
  ),
)

/** Messages of a line that its driver claims before it reads anything new. */
export type Unfinished = {
  readonly unsettled: readonly Unsettled[]
  readonly open: readonly { readonly guid: string; readonly note: string | null }[]
}

export function unfinishedOf(db: Db, lineId: LineId, age: Age): Unfinished {
  const weekAgo = {
    lineId,
    from: firstSeqSince(db, 'messages', age.ago(UNSETTLED_MS_MAX)),
    limit: UNSETTLED_MAX,
  }
  // The newest: older ones were looked for at earlier starts already.
  const unsettled = ['sending', 'uncertain']
    .flatMap((status) => newestOfStatus(db).all({ ...weekAgo, status }))
    .sort((a, b) => a.seq - b.seq)
    .slice(-UNSETTLED_MAX)
    .flatMap((row) => findMessage(db, row.id) ?? [])
  const monthAgo = {
    lineId,
    from: firstSeqSince(db, 'messages', age.ago(OPEN_MS_MAX)),
    limit: OPEN_MAX,
  }
  const open = ['sent', 'delivered']
    .flatMap((status) => newestWithGuid(db).all({ ...monthAgo, status }))
    .sort((a, b) => a.seq - b.seq)
    .slice(-OPEN_MAX)
  return {
    unsettled: unsettled.map((m) => ({ message: outgoing(m), note: m.note })),
    open: open.map(({ guid, note }) => ({ guid, note })),
  }
}

/** The part of a message that a driver is given. */
export function outgoing(message: Outbound): OutgoingMessage {
  return {
    id: message.id,
    to: message.handle,
    text: message.text,
    createdAt: message.createdAt,
    platformGuid: message.platformGuid,
  }
}
