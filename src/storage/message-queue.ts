// What dispatch, recovery and the drivers ask for. Each query runs on a partial index, so its cost
// depends on what waits, not on what was ever sent.

import type { AttendedLine, OutgoingMessage } from '../domain/driver.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import { UNCERTAIN_ANNOUNCED_AFTER_MS, type Outbound } from '../domain/message.ts'
import type { Db, Tx } from './database.ts'
import { firstSeqFrom } from './message-lists.ts'
import { OUTBOUND_COLUMNS, findMessage, toOutbound, type OutboundRow } from './message-rows.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number>
type IdRow = { readonly id: MessageId }

const ids = (sql: string) => prepared(({ sqlite }) => sqlite.prepare<IdRow, [Values]>(sql))

const whole = (sql: string) =>
  prepared(({ sqlite }) =>
    sqlite.prepare<OutboundRow, [Values]>(`SELECT ${OUTBOUND_COLUMNS} FROM messages ${sql}`),
  )

const dueOnLine = ids(
  `SELECT id FROM messages INDEXED BY messages_due_by_line
   WHERE status = 'queued' AND line_id = +$lineId AND due_at <= +$now
   ORDER BY due_at, seq LIMIT +$limit`,
)

/** The queued messages that a line may take now: the first of each conversation, longest due first. */
export function dueMessages(
  db: Db,
  line: { readonly lineId: LineId; readonly now: number },
  limit: number,
): readonly MessageId[] {
  return dueOnLine(db)
    .all({ ...line, limit })
    .map((row) => row.id)
}

const dueUnpinned = ids(
  `SELECT id FROM messages INDEXED BY messages_due_by_line
   WHERE status = 'queued' AND line_id = +$lineId AND due_at <= +$now AND is_pinned = 0
   ORDER BY due_at, seq LIMIT +$limit`,
)

/** Those of them that may go to another line. */
export function movableMessages(
  db: Db,
  line: { readonly lineId: LineId; readonly now: number },
  limit: number,
): readonly MessageId[] {
  return dueUnpinned(db)
    .all({ ...line, limit })
    .map((row) => row.id)
}

const nextDue = prepared(({ sqlite }) =>
  sqlite.prepare<{ due_at: number }, [Values]>(
    `SELECT due_at FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_id = +$lineId AND due_at > +$now ORDER BY due_at LIMIT 1`,
  ),
)

export function nextDueAt(db: Db, lineId: LineId, now: number): number | null {
  return nextDue(db).get({ lineId, now })?.due_at ?? null
}

const unfinished = whole(
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_id = +$conversationId AND status IN ('queued', 'sending', 'uncertain')
   ORDER BY seq LIMIT +$limit`,
)

/** What of a conversation is not settled; far more than that wait behind the first. */
export type Unfinished = {
  /** The message whose turn it is: the earliest that is queued or sending. */
  readonly first: Outbound | null
  /** Those that nobody can say of whether they left. */
  readonly uncertain: readonly Outbound[]
}

/** Uncertain messages of one conversation that are looked at, and one that waits. */
const UNFINISHED_MAX = 50

export function unfinishedIn(db: Db, conversationId: ConversationId): Unfinished {
  const rows = unfinished(db).all({ conversationId, limit: UNFINISHED_MAX })
  const uncertain = rows.filter((row) => row.status === 'uncertain')
  const isCut = uncertain.length === UNFINISHED_MAX
  const first = isCut
    ? firstWaiting(db).get({ conversationId })
    : (rows.find((row) => row.status !== 'uncertain') ?? null)
  return {
    first: first === null ? null : toOutbound(first),
    uncertain: uncertain.map(toOutbound),
  }
}

const firstWaiting = whole(
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_id = +$conversationId AND status IN ('queued', 'sending', 'uncertain')
     AND status <> 'uncertain' ORDER BY seq LIMIT 1`,
)

const withTurn = whole(
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_id = +$conversationId AND status IN ('queued', 'sending', 'uncertain')
     AND status = 'queued' AND due_at IS NOT NULL ORDER BY seq`,
)

/** The messages of a conversation that are queued with a time of their own: they are or were first. */
export function queuedWithTurn(db: Db, conversationId: ConversationId): readonly Outbound[] {
  return withTurn(db).all({ conversationId }).map(toOutbound)
}

/** Messages that come along with one that moves. */
const BEHIND_MAX = 1_000

const behind = whole(
  `INDEXED BY messages_unfinished_by_conversation
   WHERE conversation_id = +$conversationId AND status IN ('queued', 'sending', 'uncertain')
     AND status = 'queued' AND seq > +$seq ORDER BY seq LIMIT +$limit`,
)

/** Those that wait behind a message of a conversation, as far as one that is bound to its line. */
export function queuedBehind(
  db: Db,
  { conversationId, seq }: Pick<Outbound, 'conversationId' | 'seq'>,
): readonly Outbound[] {
  const queued = behind(db).all({ conversationId, seq, limit: BEHIND_MAX }).map(toOutbound)
  const bound = queued.findIndex((message) => message.isPinned)
  return bound === -1 ? queued : queued.slice(0, bound)
}

const onTheWay = prepared(({ sqlite }) =>
  sqlite.prepare<{ lineId: LineId }, [Values]>(
    `SELECT m.line_id AS lineId FROM conversations c
     CROSS JOIN messages m INDEXED BY messages_unfinished_by_conversation
       ON m.conversation_id = c.id AND m.status IN ('queued', 'sending', 'uncertain')
     WHERE c.handle = +$handle AND m.status <> 'uncertain' AND m.is_pinned = 0
       AND m.platform_guid IS NULL
     LIMIT 1`,
  ),
)

/** The line of a message to `handle` that named no line and is queued or just being sent. */
export function lineOnTheWayTo(db: Db, handle: Handle): LineId | null {
  return onTheWay(db).get({ handle })?.lineId ?? null
}

const oldestQueued = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId; createdAt: number }, [Values]>(
    `SELECT id, created_at AS createdAt FROM messages INDEXED BY messages_by_status
     WHERE status = 'queued' ORDER BY seq LIMIT +$limit`,
  ),
)

/** Queued messages that were accepted at `until` or before, oldest first. */
export function queuedUntil(db: Db, until: number, limit: number): readonly MessageId[] {
  const oldest = oldestQueued(db).get({ limit: 1 })
  if (oldest === null || oldest.createdAt > until) return []
  const rows = oldestQueued(db).all({ limit })
  return rows.filter((row) => row.createdAt <= until).map((row) => row.id)
}

const announceable = ids(
  `SELECT id FROM messages INDEXED BY messages_to_announce
   WHERE status = 'uncertain' AND due_at <= +$now ORDER BY due_at LIMIT +$limit`,
)

/** Uncertain messages of which `message.failed` has to tell now. */
export function messagesToAnnounce(db: Db, now: number, limit: number): readonly MessageId[] {
  return announceable(db)
    .all({ now, limit })
    .map((row) => row.id)
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
const oldestOfStatus = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId; seq: number }, [Values]>(
    `SELECT id, seq FROM messages INDEXED BY messages_by_status
     WHERE status = +$status AND seq >= +$from AND line_id = +$lineId
     ORDER BY seq LIMIT +$limit`,
  ),
)

const newestWithGuid = prepared(({ sqlite }) =>
  sqlite.prepare<{ guid: string; note: string | null; seq: number }, [Values]>(
    `SELECT platform_guid AS guid, note, seq FROM messages INDEXED BY messages_by_status
     WHERE status = +$status AND seq >= +$from AND line_id = +$lineId
       AND direction = 'outbound' AND platform_guid IS NOT NULL
     ORDER BY seq DESC LIMIT +$limit`,
  ),
)

/** What a driver claims first when it attends a line: see `AttendedLine`. */
export function unfinishedOf(
  db: Db,
  lineId: LineId,
  now: number,
): Pick<AttendedLine, 'unsettled' | 'open'> {
  const weekAgo = { lineId, from: firstSeqFrom(db, now - UNSETTLED_MS_MAX), limit: UNSETTLED_MAX }
  const unsettled = ['sending', 'uncertain']
    .flatMap((status) => oldestOfStatus(db).all({ ...weekAgo, status }))
    .sort((a, b) => a.seq - b.seq)
    .slice(0, UNSETTLED_MAX)
    .flatMap((row) => findMessage(db, row.id) ?? [])
  const monthAgo = { lineId, from: firstSeqFrom(db, now - OPEN_MS_MAX), limit: OPEN_MAX }
  const open = ['sent', 'delivered']
    .flatMap((status) => newestWithGuid(db).all({ ...monthAgo, status }))
    .sort((a, b) => a.seq - b.seq)
    .slice(-OPEN_MAX)
  return {
    unsettled: unsettled.map((m) => ({ message: outgoing(m), note: m.note })),
    open: open.map(({ guid, note }) => ({ guid, note })),
  }
}

/** What a driver is given of a message. */
export function outgoing(message: Outbound): OutgoingMessage {
  return {
    id: message.id,
    to: message.handle,
    text: message.text,
    createdAt: message.createdAt,
    platformGuid: message.platformGuid,
  }
}

/** Lets a queue that waits for the day's budget try again at once: the limit was raised. */
export function wakeLimited(tx: Tx, lineId: LineId, now: number): void {
  tx.sqlite
    .query(
      `UPDATE messages SET due_at = $now WHERE status = 'queued' AND due_at IS NOT NULL
         AND line_id = +$lineId AND queued_reason = 'daily_contact_limit'`,
    )
    .run({ lineId, now })
}

/** When a message that becomes uncertain now is announced. */
export function announcementAt(now: Timestamp): Timestamp {
  return (now + UNCERTAIN_ANNOUNCED_AFTER_MS) as Timestamp // A sum of whole milliseconds.
}

/** How many messages have a status; meant for those that are passed through, which are few. */
export function countByStatus(db: Db, status: 'queued' | 'sending' | 'uncertain'): number {
  const counting = db.sqlite.query<{ count: number }, [Values]>(
    'SELECT count(*) AS count FROM messages INDEXED BY messages_by_status WHERE status = $status',
  )
  return counting.get({ status })?.count ?? 0
}
