// Retention of deliveries and events, in bounded steps: each function goes through at most `limit` rows
// and returns their number, so that its caller goes on until they are fewer.

import type { WebhookId } from '../domain/ids.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Age } from '../system/confirmed-clock.ts'
import type { Db, Tx } from './database.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { deleteWebhookRow, listDeletedWebhooks, listWebhooks } from './webhooks.ts'

type Values = Record<string, string | number>

const DAY_MS = 24 * 3_600_000
const KEPT_MS = 30 * DAY_MS
/** Deliveries kept for a webhook that the relay deactivated. */
const HELD_MAX = 100_000

/** Deliveries that were finished 30 days ago; their attempts go with them. */
export function deleteFinishedDeliveries(tx: Tx, age: Age, limit: number): number {
  return run(
    tx,
    `DELETE FROM deliveries WHERE seq IN (
       SELECT seq FROM deliveries INDEXED BY deliveries_by_completion
       WHERE completed_at IS NOT NULL AND completed_at < $before ORDER BY completed_at LIMIT $limit)`,
    { before: age.ago(KEPT_MS), limit },
  )
}

/**
 * Deletes events of 30 days ago that no delivery needs. A webhook that is paused may need a million of
 * them, so each step goes on where the one before it ended; after the last one it is all of them again.
 */
export function oldEventsPurge(): (tx: Tx, age: Age, limit: number) => number {
  let after = 0
  return (tx, age, limit) => {
    const kept = firstSeqSince(tx, 'events', age.ago(KEPT_MS))
    const old = tx.sqlite
      .query<{ seq: number }, [Values]>(
        'SELECT seq FROM events WHERE seq > $after AND seq < $kept ORDER BY seq LIMIT $limit',
      )
      .all({ after, kept, limit })
    const last = old.at(-1)?.seq ?? after
    run(
      tx,
      `DELETE FROM events WHERE seq > $after AND seq <= $last
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = events.seq)`,
      { after, last },
    )
    after = old.length < limit ? 0 : last
    return old.length
  }
}

/** Deliveries of deleted webhooks, and with the last of them the webhook. */
export function deleteDeletedWebhooks(tx: Tx, limit: number): number {
  let deleted = 0
  for (const webhookId of listDeletedWebhooks(tx)) {
    if (deleted >= limit) break
    deleted += run(
      tx,
      `DELETE FROM deliveries WHERE seq IN (
         SELECT seq FROM deliveries WHERE webhook_id = $webhookId LIMIT $limit)`,
      { webhookId, limit: limit - deleted },
    )
    if (deleted < limit) {
      deleteWebhookRow(tx, webhookId)
      deleted += 1
    }
  }
  return deleted
}

/**
 * Exhausts deliveries that waited for 30 days, or beyond the newest 100,000, for a webhook that the relay
 * deactivated. Those of a webhook that its user paused wait without limit.
 */
export function exhaustHeldDeliveries(
  tx: Tx,
  age: Age,
  limit: number,
  heldMax: number = HELD_MAX,
): number {
  const held = listWebhooks(tx, WEBHOOKS_MAX, null).filter(
    (webhook) => webhook.disabledReason !== null,
  )
  let exhausted = 0
  for (const { id } of held) {
    if (exhausted >= limit) break
    tx.touched?.push({ what: 'webhook', id })
    exhausted += run(
      tx,
      `UPDATE deliveries
       SET status = 'exhausted', completed_at = $now, next_attempt_at = NULL, requested_at = NULL
       WHERE seq IN (
         SELECT seq FROM deliveries INDEXED BY deliveries_by_webhook_and_status
         WHERE webhook_id = $id AND status = 'pending'
           AND (created_at < $before OR seq <= $lastTooMany)
         ORDER BY seq LIMIT $limit)`,
      {
        id,
        now: age.now(),
        before: age.ago(KEPT_MS),
        lastTooMany: lastTooMany(tx, id, heldMax),
        limit: limit - exhausted,
      },
    )
  }
  return exhausted
}

/** The newest pending delivery beyond the limit; 0 where there are not that many. */
function lastTooMany(db: Db, id: WebhookId, heldMax: number): number {
  const row = db.sqlite
    .query<{ seq: number }, [Values]>(
      `SELECT seq FROM deliveries INDEXED BY deliveries_by_webhook_and_status
       WHERE webhook_id = $id AND status = 'pending' ORDER BY seq DESC LIMIT 1 OFFSET $heldMax`,
    )
    .get({ id, heldMax })
  return row?.seq ?? 0
}

function run(tx: Tx, sql: string, values: Values): number {
  return tx.sqlite.query<null, [Values]>(sql).run(values).changes
}
