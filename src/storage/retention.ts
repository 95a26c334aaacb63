// Deletes old rows in steps: each function examines at most `limit` rows and returns how many it examined, and its
// caller repeats it until it returns fewer.

import { getTableConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'

import { assert } from '../domain/errors.ts'
import type { ConversationId, MessageId, Timestamp } from '../domain/ids.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Age } from '../system/confirmed-clock.ts'
import { audit } from './access-schema.ts'
import { deleteAttachmentsOf } from './attachments.ts'
import { IS_NEWS, LAST_LEFT } from './conversations.ts'
import type { Tx, Db } from './database.ts'
import { EXHAUSTED } from './deliveries.ts'
import { rejectedEvents, waitingReceipts } from './schema.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { deleteCounted } from './timeline.ts'
import { deliveries } from './webhook-schema.ts'
import { deleteWebhookRow, listDeletedWebhooks, listWebhooks } from './webhooks.ts'

export const EVENTS_KEPT_MS = 30 * DAY_MS
const AUDIT_ROWS_MAX = 100_000

/**
 * Examines at most `limit` rows that are old by `age`, deletes those that nothing needs, and returns the number
 * examined, which is less than `limit` at the end.
 */
export type Purge = (tx: Tx, age: Age, limit: number) => number

/**
 * Deletes messages from before `before` with their attachments, and conversations without a remaining message. Queued
 * and unsettled messages stay, however old. So do guids, because the device may report them again.
 */
export function deleteOldMessages(tx: Tx, before: Timestamp, limit: number): number {
  const sql = `DELETE FROM messages WHERE seq IN (
         SELECT seq FROM messages
         WHERE seq < $kept AND status NOT IN ('queued', 'deferred', 'sending', 'uncertain')
         ORDER BY seq LIMIT $limit)
       RETURNING id, seq, conversation_seq AS conversation, extras IS NULL AS isPlain,
         ${IS_NEWS} AS isNews`
  const deleted = tx.rows<DeletedMessage>(sql, {
    kept: firstSeqSince(tx, 'messages', before),
    limit,
  })
  for (const { id, isPlain } of deleted) if (isPlain === 0) deleteAttachmentsOf(tx, id)
  const byConversation = Map.groupBy(deleted, ({ conversation }) => conversation)
  for (const [seq, gone] of byConversation) shrinkConversation(tx, seq, gone)
  return deleted.length
}

type DeletedMessage = {
  readonly id: MessageId
  readonly seq: number
  readonly conversation: number
  readonly isPlain: 0 | 1
  readonly isNews: 0 | 1
}

/** Deletes rows whose `time` is longer ago than `keptMs`, oldest first, through the table's index over it. */
export function purgeOlder(time: SQLiteColumn, keptMs: number): Purge {
  const { name: table, columns, primaryKeys, indexes } = getTableConfig(time.table)
  const keys = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
  const key = keys.map(({ name }) => name).join(', ')
  const index = indexes.find(({ config }) => config.columns[0] === time)
  assert(index !== undefined, `${table} has an index over ${time.name}`)
  const deletion = `DELETE FROM ${table} WHERE (${key}) IN (
       SELECT ${key} FROM ${table} INDEXED BY ${index.config.name}
       WHERE ${time.name} < $before ORDER BY ${time.name} LIMIT $limit)`
  return (tx, age, limit) => tx.execute(deletion, { before: age.ago(keptMs), limit }).changes
}

export const IDEMPOTENCY_KEPT_MS = 7 * DAY_MS

/** Deletes answers that no caller asks for any more, in the order in which they were recorded. */
export const deleteOldIdempotency: Purge = (tx, age, limit) => {
  const before = age.ago(IDEMPOTENCY_KEPT_MS)
  const kept = firstSeqSince(tx, 'idempotency', before)
  // The time is compared too: after a clock was set back, a record may be younger than the records after it.
  const sql = `DELETE FROM idempotency WHERE rowid IN (
       SELECT rowid FROM idempotency WHERE rowid < $kept AND created_at < $before
       ORDER BY rowid LIMIT $limit)`
  return tx.execute(sql, { kept, before, limit }).changes
}

/** Deletes receipts whose guid didn't become known within an hour. */
export const deleteWaitingReceipts = purgeOlder(waitingReceipts.recordedAt, HOUR_MS)

export const deleteRejectedEvents = purgeOlder(rejectedEvents.recordedAt, 30 * DAY_MS)

/** Deletes deliveries that finished 30 days ago, with their attempts. */
export const deleteFinishedDeliveries = purgeOlder(deliveries.completedAt, EVENTS_KEPT_MS)

const deleteAgedAudit = purgeOlder(audit.at, 400 * DAY_MS)

/** Deletes audit entries older than 400 days, and the oldest beyond 100,000, which the timeline counts by the hour. */
export function deleteOldAudit(tx: Tx, age: Age, limit: number): number {
  const old = deleteAgedAudit(tx, age, limit)
  const isSurplus = `seq <= (SELECT max(seq) FROM audit) - ${AUDIT_ROWS_MAX}`
  const surplus = { table: 'audit', isSurplus, as: 'changes' } as const
  return old + deleteCounted(tx, surplus, limit - old)
}

/** Updates SQLite's statistics of its indexes; the limit keeps that to milliseconds. */
export function refreshStatistics(tx: Tx): void {
  tx.sqlite.run('PRAGMA analysis_limit = 400')
  tx.sqlite.run('PRAGMA optimize')
}

function shrinkConversation(tx: Tx, seq: number, gone: readonly DeletedMessage[]): void {
  const received = gone.filter(({ isNews }) => isNews === 1).map((each) => each.seq)
  const sql = `UPDATE conversations SET message_count = message_count - $count, ${LAST_LEFT},
         unread_count = unread_count -
           (SELECT count(*) FROM json_each($received) WHERE value > read_seq)
       WHERE seq = $seq RETURNING id`
  const shrunk = tx.row<{ id: ConversationId }>(sql, {
    seq,
    count: gone.length,
    received: JSON.stringify(received),
  })
  const more = 'DELETE FROM conversations WHERE seq = $seq AND last_seq = 0'
  tx.execute(more, { seq })
  if (shrunk !== null) tx.changes?.push({ what: 'conversation', id: shrunk.id })
}

/** Most deliveries kept for a webhook that the relay deactivated. */
const HELD_MAX = 100_000

/**
 * Deletes events older than 30 days that no delivery needs, but never the newest: SQLite would reuse its seq, and
 * readers that have passed it would miss the next event. A paused webhook may need a million events, so each step
 * continues where the last one ended, and starts over after the end.
 */
export function oldEventsPurge(): Purge {
  let after = 0
  return (tx, age, limit) => {
    const kept = firstSeqSince(tx, 'events', age.ago(EVENTS_KEPT_MS))
    const sql =
      'SELECT seq FROM events WHERE seq > $after AND seq < $kept ORDER BY seq LIMIT $limit'
    const old = tx.rows<{ seq: number }>(sql, { after, kept, limit })
    const last = old.at(-1)?.seq ?? after
    const unneeded = `DELETE FROM events WHERE seq > $after AND seq <= $last
         AND seq < (SELECT max(seq) FROM events)
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = events.seq)`
    tx.execute(unneeded, { after, last })
    after = old.length < limit ? 0 : last
    return old.length
  }
}

/** Deletes the deliveries of deleted webhooks, and then the webhooks themselves. */
export function deleteDeletedWebhooks(tx: Tx, limit: number): number {
  let deleted = 0
  for (const { id, seq } of listDeletedWebhooks(tx)) {
    if (deleted >= limit) break
    deleted += tx.execute(
      `DELETE FROM deliveries WHERE seq IN (
         SELECT seq FROM deliveries WHERE webhook_seq = $webhookSeq LIMIT $limit)`,
      { webhookSeq: seq, limit: limit - deleted },
    ).changes
    if (deleted < limit) {
      deleteWebhookRow(tx, id)
      deleted += 1
    }
  }
  return deleted
}

/**
 * Exhausts deliveries to webhooks that the relay deactivated, if they waited for 30 days or are beyond the newest
 * 100,000. Deliveries to a webhook that its user paused wait without limit. Counting a webhook's deliveries takes
 * milliseconds, so each step continues with the webhook at which the last one ended.
 */
export function heldDeliveriesPurge(heldMax: number = HELD_MAX): Purge {
  const sql = `UPDATE deliveries ${EXHAUSTED} WHERE seq IN (
   SELECT seq FROM deliveries INDEXED BY deliveries_by_webhook_and_status
   WHERE webhook_seq = $webhookSeq AND status = 'pending' AND seq < $kept
   ORDER BY seq LIMIT $limit)`
  let before: number | null = null
  return (tx, age, limit) => {
    const held = listWebhooks(tx, WEBHOOKS_MAX, before).filter(
      (webhook) => webhook.disabledReason !== null,
    )
    const young = firstSeqSince(tx, 'deliveries', age.ago(EVENTS_KEPT_MS))
    let exhausted = 0
    for (const { id, seq } of held) {
      if (exhausted >= limit) break
      before = seq + 1
      tx.changes?.push({ what: 'webhook', id })
      exhausted += tx.execute(sql, {
        webhookSeq: seq,
        now: age.now(),
        kept: Math.max(young, lastTooMany(tx, seq, heldMax) + 1),
        limit: limit - exhausted,
      }).changes
    }
    if (exhausted < limit) before = null
    return exhausted
  }
}

/** The seq of the newest pending delivery beyond the limit; 0 if there is none. */
function lastTooMany(db: Db, webhookSeq: number, heldMax: number): number {
  const sql = `SELECT seq FROM deliveries INDEXED BY deliveries_by_webhook_and_status
       WHERE webhook_seq = $webhookSeq AND status = 'pending' ORDER BY seq DESC LIMIT 1 OFFSET $heldMax`
  return db.row<{ seq: number }>(sql, { webhookSeq, heldMax })?.seq ?? 0
}
