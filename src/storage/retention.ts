// What has grown old goes in bounded steps: each function deletes at most `limit` rows and says how
// many, so that its caller goes on until it is 0.

import type { ConversationId, Timestamp } from '../domain/ids.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Tx } from './database.ts'
import { firstSeqSince } from './seq-by-time.ts'

type Values = Record<string, string | number>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const IDEMPOTENCY_KEPT_MS = 7 * DAY_MS
const WAITING_RECEIPTS_KEPT_MS = HOUR_MS
const REJECTED_EVENTS_KEPT_MS = 30 * DAY_MS
const AUDIT_KEPT_MS = 400 * DAY_MS
const AUDIT_ROWS_MAX = 100_000

/**
 * Messages from before `before`, and conversations that have none left. What is queued or not settled
 * stays, however old, and so do guids: the device may tell of them again.
 */
export function deleteOldMessages(tx: Tx, before: Timestamp, limit: number): number {
  const deleted = tx.sqlite
    .query<{ conversation: number }, [Values]>(
      `DELETE FROM messages WHERE seq IN (
         SELECT seq FROM messages
         WHERE seq < $kept AND status NOT IN ('queued', 'sending', 'uncertain')
         ORDER BY seq LIMIT $limit)
       RETURNING conversation_seq AS conversation`,
    )
    .all({ kept: firstSeqSince(tx, 'messages', before), limit })
  const counts = new Map<number, number>()
  for (const { conversation } of deleted) {
    counts.set(conversation, (counts.get(conversation) ?? 0) + 1)
  }
  for (const [seq, count] of counts) shrinkConversation(tx, seq, count)
  return deleted.length
}

export function deleteOldIdempotency(tx: Tx, age: Age, limit: number): number {
  return run(
    tx,
    `DELETE FROM idempotency WHERE key IN (
       SELECT key FROM idempotency INDEXED BY idempotency_by_age
       WHERE created_at < $before ORDER BY created_at LIMIT $limit)`,
    { before: age.ago(IDEMPOTENCY_KEPT_MS), limit },
  )
}

/** Receipts whose guid nobody told within an hour. */
export function deleteWaitingReceipts(tx: Tx, age: Age, limit: number): number {
  return run(
    tx,
    `DELETE FROM waiting_receipts WHERE (line_id, guid, kind) IN (
       SELECT line_id, guid, kind FROM waiting_receipts INDEXED BY waiting_receipts_by_age
       WHERE recorded_at < $before ORDER BY recorded_at LIMIT $limit)`,
    { before: age.ago(WAITING_RECEIPTS_KEPT_MS), limit },
  )
}

export function deleteRejectedEvents(tx: Tx, age: Age, limit: number): number {
  return run(
    tx,
    `DELETE FROM rejected_events WHERE seq IN (
       SELECT seq FROM rejected_events INDEXED BY rejected_events_by_age
       WHERE recorded_at < $before ORDER BY recorded_at LIMIT $limit)`,
    { before: age.ago(REJECTED_EVENTS_KEPT_MS), limit },
  )
}

/** Entries of the audit trail from more than 400 days ago, and the oldest of more than 100,000. */
export function deleteOldAudit(tx: Tx, age: Age, limit: number): number {
  const old = run(
    tx,
    `DELETE FROM audit WHERE seq IN (
       SELECT seq FROM audit INDEXED BY audit_by_age
       WHERE at < $before ORDER BY at LIMIT $limit)`,
    { before: age.ago(AUDIT_KEPT_MS), limit },
  )
  const surplus = run(
    tx,
    `DELETE FROM audit WHERE seq IN (
       SELECT seq FROM audit
       WHERE seq <= (SELECT max(seq) FROM audit) - $most ORDER BY seq LIMIT $limit)`,
    { most: AUDIT_ROWS_MAX, limit: limit - old },
  )
  return old + surplus
}

/** Lets SQLite look at how full its indexes are; the limit keeps that to milliseconds. */
export function refreshStatistics(tx: Tx): void {
  tx.sqlite.run('PRAGMA analysis_limit = 400')
  tx.sqlite.run('PRAGMA optimize')
}

function shrinkConversation(tx: Tx, seq: number, count: number): void {
  const shrunk = tx.sqlite
    .query<{ id: ConversationId }, [Values]>(
      `UPDATE conversations SET message_count = message_count - $count,
         last_seq = coalesce((SELECT max(seq) FROM messages WHERE conversation_seq = $seq), 0)
       WHERE seq = $seq RETURNING id`,
    )
    .get({ seq, count })
  tx.sqlite.query('DELETE FROM conversations WHERE seq = $seq AND last_seq = 0').run({ seq })
  if (shrunk !== null) tx.touched?.push({ what: 'conversation', id: shrunk.id })
}

function run(tx: Tx, sql: string, values: Values): number {
  return tx.sqlite.query<null, [Values]>(sql).run(values).changes
}
