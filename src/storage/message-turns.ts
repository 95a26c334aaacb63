// What is asked of the queue at each step of each message: what a line may take, and whose turn it is in a
// conversation. Asked in the middle of a group, when most of it is not written yet, so both put what is
// late in the place of its row.

import type { ConversationId, LineId, MessageId } from '../domain/ids.ts'
import { isUnfinished, type Outbound } from '../domain/message.ts'
import type { Db } from './database.ts'
import { findMessage } from './message-rows.ts'
import { CONVERSATION_SEQ, LINE_SEQ } from './parties.ts'
import { recentRows } from './recent-rows.ts'
import { prepared, preparedBeside } from './statement.ts'

type Values = Record<string, string | number>
type Row = { readonly id: MessageId; readonly seq: number }
type DueRow = Row & { readonly dueAt: number }
type UnfinishedRow = Row & Pick<Outbound, 'status'>

const dueOnLine = preparedBeside(({ sqlite }) =>
  sqlite.prepare<DueRow, [Values]>(
    `SELECT id, seq, due_at AS dueAt FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at <= +$now
     ORDER BY due_at, seq LIMIT +$limit`,
  ),
)

/** The queued messages that a line may take now: the first of each conversation, longest due first. */
export function dueMessages(
  db: Db,
  line: { readonly lineId: LineId; readonly now: number },
  limit: number,
): readonly MessageId[] {
  const rows = () => dueOnLine(db).all({ ...line, limit })
  const late = () =>
    db.late.messages.ofLine(line.lineId).flatMap((message) => dueRow(message, line))
  return withLate(db, { rows, late, limit })
    .toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
    .slice(0, limit)
    .map(({ id }) => id)
}

function dueRow(message: Outbound, { now }: { readonly now: number }): readonly DueRow[] {
  const { id, seq, status, dueAt } = message
  return status === 'queued' && dueAt !== null && dueAt <= now ? [{ id, seq, dueAt }] : []
}

/** The words of the index over them: SQLite takes it for no others. */
export const IS_UNFINISHED = "(status = 'queued' OR status = 'sending' OR status = 'uncertain')"

const unfinished = preparedBeside(({ sqlite }) =>
  sqlite.prepare<UnfinishedRow, [Values]>(
    `SELECT seq, id, status FROM messages INDEXED BY messages_unfinished_by_conversation
     WHERE conversation_seq = ${CONVERSATION_SEQ} AND ${IS_UNFINISHED}
     ORDER BY seq LIMIT +$limit`,
  ),
)

const firstWaiting = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId }, [Values]>(
    `SELECT id FROM messages INDEXED BY messages_unfinished_by_conversation
     WHERE conversation_seq = ${CONVERSATION_SEQ} AND ${IS_UNFINISHED}
       AND status <> 'uncertain' ORDER BY seq LIMIT 1`,
  ),
)

/** What of a conversation is not settled; far more than that wait behind the first. */
export type Unfinished = {
  /** The message whose turn it is: the earliest that is queued or sending. */
  readonly first: Outbound | null
  /** Those that nobody can say of whether they left. */
  readonly uncertain: readonly Outbound[]
}

const NOTHING_UNFINISHED: Unfinished = { first: null, uncertain: [] }

/** Uncertain messages of one conversation that are looked at, and one that waits. */
const UNFINISHED_MAX = 50

export function unfinishedIn(db: Db, conversationId: ConversationId): Unfinished {
  const known = recentRows(db).unfinished
  if (known.get(conversationId)?.count === 0) return NOTHING_UNFINISHED
  const found = withLate(db, {
    rows: () => unfinished(db).all({ conversationId, limit: UNFINISHED_MAX }),
    late: () => db.late.messages.ofConversation(conversationId).filter(isUnfinished),
    limit: UNFINISHED_MAX,
  })
  const rows = found.toSorted((a, b) => a.seq - b.seq).slice(0, UNFINISHED_MAX)
  if (rows.length < UNFINISHED_MAX) known.set(conversationId, { count: rows.length })
  if (rows.length === 0) return NOTHING_UNFINISHED
  const uncertain = rows.filter(({ status }) => status === 'uncertain')
  const isCut = uncertain.length === UNFINISHED_MAX
  const first = isCut
    ? firstWaiting(db).get({ conversationId })
    : rows.find(({ status }) => status !== 'uncertain')
  return {
    first: first ? findMessage(db, first.id) : null,
    uncertain: uncertain.flatMap(({ id }) => findMessage(db, id) ?? []),
  }
}

type Ask<R> = {
  /** What the table says, at most `limit` rows. */
  readonly rows: () => readonly R[]
  /** Those of the late messages that belong to it. */
  readonly late: () => readonly R[]
  readonly limit: number
}

/** The rows as they will be when those that are late are written; in no order. */
function withLate<R extends Row>(db: Db, { rows, late, limit }: Ask<R>): readonly R[] {
  const { messages } = db.late
  const found = rows()
  const written = found.filter(({ id }) => !messages.has(id))
  if (written.length === found.length || found.length < limit) return [...written, ...late()]
  // Cut off, and some of them will not count: what came behind them does.
  messages.write()
  return rows()
}
