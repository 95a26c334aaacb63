// Questions of the health findings about messages. Each query goes by an index and ends at a bound: it costs
// the same beside a million messages.

import { timestamp, type LineId, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Db } from './database.ts'
import { LINE_SEQ } from './id-lookup.ts'
import { namesIn, prepared, type Values } from './statement.ts'

/** Newest messages of a line among which its last sends are looked for. */
const NEWEST_MAX = 200
/** Waiting and uncertain messages that are counted. */
export const COUNTED_MAX = 1_000

export type FinishedSend = {
  readonly isFailed: boolean
  readonly errorCode: string | null
  readonly at: Timestamp
}

type SendRow = Pick<Message, 'direction' | 'source' | 'status' | 'updatedAt' | 'sentAt'> & {
  readonly errorCode: string | null
}

const newestOfLine = prepared(({ sqlite }) =>
  sqlite.prepare<SendRow, [Values]>(
    `SELECT direction, source, status, error_code AS errorCode, updated_at AS updatedAt,
            sent_at AS sentAt
     FROM messages INDEXED BY messages_by_line
     WHERE line_seq = ${LINE_SEQ} ORDER BY seq DESC LIMIT ${NEWEST_MAX}`,
  ),
)

/** Recent sends of the relay by a line with their ends, the last to finish first. */
export function finishedSends(db: Db, lineId: LineId): readonly FinishedSend[] {
  return newestOfLine(db)
    .all({ lineId })
    .filter(({ direction, source }) => direction === 'outbound' && source !== 'device')
    .flatMap(({ status, errorCode, updatedAt, sentAt }): FinishedSend[] => {
      if (status === 'failed') return [{ isFailed: true, errorCode, at: updatedAt }]
      const isSent = status === 'sent' || status === 'delivered' || status === 'read'
      return isSent ? [{ isFailed: false, errorCode: null, at: sentAt ?? updatedAt }] : []
    })
    .toSorted((a, b) => b.at - a.at)
}

type UncertainRow = { readonly id: MessageId; readonly lineId: LineId }

const announcedUncertain = prepared(({ sqlite }) =>
  sqlite.prepare<UncertainRow, [Values]>(
    `SELECT m.id, l.id AS lineId
     FROM messages m INDEXED BY messages_by_status CROSS JOIN lines l ON l.seq = m.line_seq
     WHERE m.status = 'uncertain' AND (m.due_at IS NULL OR m.due_at <= +$now)
       AND instr(+$practice, l.driver || ' ') = 0
     ORDER BY m.seq LIMIT ${COUNTED_MAX}`,
  ),
)

/**
 * Messages of real lines that are uncertain and were announced as failed, or are due to be: nobody has
 * settled them for ten minutes. Oldest first.
 */
export function longUncertain(
  db: Db,
  now: Timestamp,
  practiceKinds: readonly string[],
): readonly UncertainRow[] {
  return announcedUncertain(db).all({ now, practice: namesIn(practiceKinds) })
}

export type Waiting = { readonly count: number; readonly oldest: Timestamp }

const waitingOnLine = prepared(({ sqlite }) =>
  sqlite.prepare<Pick<Message, 'createdAt'>, [Values]>(
    `SELECT created_at AS createdAt FROM messages INDEXED BY messages_due_by_line
     WHERE status = 'queued' AND line_seq = ${LINE_SEQ} AND due_at IS NOT NULL
       AND queued_reason IS NOT 'daily_contact_limit'
     ORDER BY due_at LIMIT ${COUNTED_MAX}`,
  ),
)

/**
 * Conversations whose next message waits for the line, and the time of the oldest such message. The daily
 * limit and an earlier message are reasons of their own.
 */
export function waitingForLine(db: Db, lineId: LineId): Waiting | null {
  const times = waitingOnLine(db)
    .all({ lineId })
    .map(({ createdAt }) => createdAt)
  return times.length === 0 ? null : { count: times.length, oldest: timestamp(Math.min(...times)) }
}
