import { and, asc, desc, eq, gt, gte, lt, or, sql, type SQL } from 'drizzle-orm'

import type { UtcDay } from '../domain/contact-limit.ts'
import type { Timestamp, LineId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { conversationSeq, conversationsOf } from './conversations.ts'
import type { Db } from './database.ts'
import { MESSAGE_FIELDS, toMessage } from './messages.ts'
import { messages } from './schema.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { namesIn, prepared, type Values } from './statement.ts'

export type MessageFilter = {
  readonly lineId?: string | undefined
  readonly conversationId?: string | undefined
  readonly handle?: string | undefined
  readonly direction?: 'inbound' | 'outbound' | undefined
  readonly status?: string | undefined
  /** Both exclusive. */
  readonly createdAfter?: Timestamp | undefined
  readonly createdBefore?: Timestamp | undefined
}

/** The size of a page, and its start; `before` is the cursor's seq. */
export type Newest = { readonly limit: number; readonly before: number | null }

/** Messages newest first. */
export function listMessages(db: Db, filter: MessageFilter, page: Newest): readonly Message[] {
  const { handle, ...others } = filter
  if (handle === undefined || filter.conversationId !== undefined) {
    return newest(db, filter, page)
  }
  // A handle has one conversation on each line: their newest are the handle's newest. That spares
  // every message an index of its own for this.
  return conversationsOf(db, handle)
    .flatMap((conversationId) => newest(db, { ...others, conversationId }, page))
    .sort((a, b) => b.seq - a.seq)
    .slice(0, page.limit)
}

function newest(db: Db, filter: MessageFilter, page: Newest): readonly Message[] {
  const bounds = [
    page.before === null ? undefined : lt(messages.seq, page.before),
    filter.createdAfter === undefined
      ? undefined
      : gte(messages.seq, firstSeqSince(db, 'messages', filter.createdAfter + 1)),
    filter.createdBefore === undefined
      ? undefined
      : lt(messages.seq, firstSeqSince(db, 'messages', filter.createdBefore)),
  ]
  return db.orm
    .select(MESSAGE_FIELDS)
    .from(messages)
    .where(and(...matching(filter), ...bounds))
    .orderBy(desc(messages.seq))
    .limit(page.limit)
    .all()
    .map(toMessage)
}

const sendsSince = prepared(({ sqlite }) =>
  sqlite.prepare<{ count: number; oldest: number | null }, [Values]>(
    `SELECT count(*) AS count, min(m.created_at) AS oldest
     FROM conversations c JOIN lines l ON l.id = c.line_id
     CROSS JOIN messages m INDEXED BY messages_by_conversation ON m.conversation_seq = c.seq
     WHERE c.handle = +$handle AND instr(+$practice, l.driver || ' ') = 0 AND m.seq >= +$from
       AND m.direction = 'outbound' AND m.source <> 'device'`,
  ),
)

/** Count of the messages to a handle since then, without those of practice lines, and the first's time. */
export function sendsToSince(
  db: Db,
  handle: string,
  {
    since,
    practiceKinds,
  }: { readonly since: Timestamp; readonly practiceKinds: readonly string[] },
): { readonly count: number; readonly oldest: number } {
  const from = firstSeqSince(db, 'messages', since)
  const row = sendsSince(db).get({ handle, from, practice: namesIn(practiceKinds) })
  return { count: row?.count ?? 0, oldest: row?.oldest ?? since }
}

/** The position of a reader of changes. */
export type ChangeCursor = { readonly updatedAt: number; readonly revision: number }

/**
 * Messages by their latest change, oldest change first, from `since` (inclusive) or after `cursor`.
 * Each comes with its cursor. Revisions grow with every change, so a reader leaves no gap.
 */
export function listChanges(
  db: Db,
  filter: MessageFilter,
  page: {
    readonly limit: number
    readonly since: Timestamp
    readonly cursor: ChangeCursor | null
  },
): readonly { readonly message: Message; readonly cursor: ChangeCursor }[] {
  const from = page.cursor ?? { updatedAt: page.since, revision: 0 }
  const after = or(
    gt(messages.updatedAt, from.updatedAt as Timestamp), // A cursor holds what this column held.
    and(
      eq(messages.updatedAt, from.updatedAt as Timestamp), // As above.
      gt(messages.revision, from.revision),
    ),
  )
  return db.orm
    .select(MESSAGE_FIELDS)
    .from(messages)
    .where(
      and(
        after,
        gt(messages.updatedAt, (from.updatedAt - 1) as Timestamp), // As above.
        // Behind a plus, no filter takes the place of the index that has the order.
        ...matching(filter).map((condition) => condition && sql`+(${condition})`),
      ),
    )
    .orderBy(asc(messages.updatedAt), asc(messages.revision))
    .limit(page.limit)
    .all()
    .map((row) => ({
      message: toMessage(row),
      cursor: { updatedAt: row.updatedAt, revision: row.revision },
    }))
}

/** Ids from outside are only compared, so any string may stand for one. */
function matching(filter: MessageFilter): readonly (SQL | undefined)[] {
  const { lineId, conversationId, handle, direction, status } = filter
  const given = (value: string | undefined, condition: SQL) =>
    value === undefined ? undefined : condition
  return [
    given(lineId, sql`${messages.lineSeq} = (SELECT seq FROM lines WHERE id = ${lineId})`),
    given(
      conversationId,
      sql`${messages.conversationSeq} = ${conversationSeq(conversationId ?? '')}`,
    ),
    given(handle, sql`${messages.handle} = ${handle}`),
    given(direction, sql`${messages.direction} = ${direction}`),
    given(status, sql`${messages.status} = ${status}`),
  ]
}

/** Messages of one line that were recorded on one day, by what has become of them until now. */
export type MessageDay = {
  readonly day: UtcDay
  readonly lineId: LineId
  readonly sent: number
  readonly received: number
  readonly failed: number
  readonly uncertain: number
}

/** Every line's days from `firstDay` on, oldest first; a day without messages has no row. */
export function listMessageDays(db: Db, firstDay: UtcDay): readonly MessageDay[] {
  return db.sqlite
    .query<MessageDay, [{ readonly firstDay: number }]>(
      `SELECT d.day, l.id AS lineId, d.sent, d.received, d.failed, d.uncertain
       FROM message_days d JOIN lines l ON l.seq = d.line_seq
       WHERE d.day >= $firstDay ORDER BY d.day, d.line_seq`,
    )
    .all({ firstDay })
}
