// Deliveries that a replay, or a retry of all that failed, puts on their way: marked by `replayed_at`, so
// that pending ones can be counted and stopped.

import type { DeliveryId, LineId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { prepared } from './statement.ts'

/** Deliveries wanted: of these events, of this line; null for all. */
export type DeliveryFilter = {
  readonly events: readonly EventName[] | null
  readonly lineId: LineId | null
}

type Values = Record<string, string | number>

/** At most `limit` exhausted deliveries of messages, from `fromSeq` on, oldest first. */
export function listExhausted(
  db: Db,
  webhookId: WebhookId,
  { events, lineId }: DeliveryFilter,
  page: { readonly fromSeq: number; readonly limit: number },
): readonly { readonly seq: number; readonly id: DeliveryId }[] {
  return db.sqlite
    .query<{ seq: number; id: DeliveryId }, [Values]>(
      `SELECT d.seq, d.id
       FROM deliveries d INDEXED BY deliveries_by_webhook_and_status
       JOIN events e ON e.seq = d.event_seq
       WHERE d.webhook_id = $webhookId AND d.status = 'exhausted' AND d.seq >= $fromSeq
         AND e.message_id IS NOT NULL
         ${events === null ? '' : 'AND e.name IN (SELECT value FROM json_each($events))'}
         ${lineId === null ? '' : "AND e.body ->> '$.phone_line_id' = $lineId"}
       ORDER BY d.seq LIMIT $limit`,
    )
    .all({
      webhookId,
      ...page,
      ...(events === null ? {} : { events: JSON.stringify(events) }),
      ...(lineId === null ? {} : { lineId }),
    })
}

const restart = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries
     SET status = 'pending', scheduled_count = 0, next_attempt_at = $now, completed_at = NULL,
         replayed_at = $replayedAt
     WHERE id = $id AND status = 'exhausted'`,
  ),
)

/** Gives an exhausted delivery its whole schedule again. */
export function restartDelivery(
  tx: Tx,
  id: DeliveryId,
  at: { readonly now: Timestamp; readonly replayedAt: Timestamp },
): void {
  restart(tx).run({ id, ...at })
  tx.touched?.push({ what: 'delivery', id })
}

const waiting = prepared(({ sqlite }) =>
  sqlite.prepare<{ count: number }, [Values]>(
    `SELECT count(*) AS count FROM deliveries INDEXED BY deliveries_replayed
     WHERE webhook_id = +$webhookId AND status = 'pending' AND replayed_at IS NOT NULL`,
  ),
)

/** Replayed deliveries of a webhook that are still pending. */
export function countReplayed(db: Db, webhookId: WebhookId): number {
  return waiting(db).get({ webhookId })?.count ?? 0
}

type WaitingRow = { readonly seq: number; readonly isUntouched: 0 | 1 }

const latest = prepared(({ sqlite }) =>
  sqlite.prepare<WaitingRow, [Values]>(
    `SELECT seq, created_at = replayed_at AND attempt_count = 0 AS isUntouched
     FROM deliveries INDEXED BY deliveries_replayed
     WHERE webhook_id = +$webhookId AND status = 'pending' AND replayed_at IS NOT NULL
     ORDER BY seq DESC LIMIT +$limit`,
  ),
)

const removal = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>('DELETE FROM deliveries WHERE seq = $seq'),
)

const exhaustion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries
     SET status = 'exhausted', completed_at = $now, next_attempt_at = NULL, requested_at = NULL
     WHERE seq = $seq`,
  ),
)

/**
 * Stops at most `limit` replayed deliveries, newest first, so that those about to go are stopped last;
 * returns their number. One that the replay made and that was never tried is deleted; any other one is
 * exhausted. `inFlight` are left alone: their requests are out.
 */
export function stopReplayed(tx: Tx, webhookId: WebhookId, { now, inFlight, limit }: Stop): number {
  const rows = latest(tx)
    .all({ webhookId, limit: limit + inFlight.size })
    .filter(({ seq }) => !inFlight.has(seq))
    .slice(0, limit)
  for (const { seq, isUntouched } of rows) {
    if (isUntouched === 1) removal(tx).run({ seq })
    else exhaustion(tx).run({ seq, now })
  }
  tx.touched?.push({ what: 'webhook', id: webhookId })
  return rows.length
}

type Stop = {
  readonly now: Timestamp
  readonly inFlight: ReadonlySet<number>
  readonly limit: number
}
