// What was under way when a process or a session ended: what recovery and the drivers begin with.

import type { LineId, MessageId } from '../domain/ids.ts'
import type { Outbound, OutgoingMessage, Unsettled } from '../domain/message.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Db } from './database.ts'
import { LINE_SEQ } from './id-lookup.ts'
import { findMessage } from './messages.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number>
type IdRow = { readonly id: MessageId }

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
