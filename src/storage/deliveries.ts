import type { ConversationId, DeliveryId, Timestamp, WebhookId, LineId } from '../domain/ids.ts'
import type { Attempt, Delivery, DeliveryStatus, EventName } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { prepared, type Values } from './statement.ts'

export type StoredDelivery = Delivery & {
  readonly seq: number
  /** The answer to the last attempt, or its error. */
  readonly lastStatusCode: number | null
  readonly lastError: string | null
}

/** `isPrivateTarget`: the answer of a receiver on the own network is not for every viewer. */
export type StoredAttempt = Attempt & { readonly isPrivateTarget: boolean }

export type NewDelivery = {
  readonly id: DeliveryId
  readonly webhookId: WebhookId
  readonly eventSeq: number
  readonly conversationId: ConversationId | null
  readonly nextAttemptAt: Timestamp
  readonly requestedAt: Timestamp | null
  /** Set by a replay, to `createdAt`. */
  readonly replayedAt: Timestamp | null
  readonly createdAt: Timestamp
}

const insertion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO deliveries (id, webhook_id, event_seq, conversation_id, status, next_attempt_at,
                             requested_at, replayed_at, created_at)
     VALUES ($id, $webhookId, $eventSeq, $conversationId, 'pending', $nextAttemptAt,
             $requestedAt, $replayedAt, $createdAt)
     ON CONFLICT (event_seq, webhook_id) DO NOTHING`,
  ),
)

/** Queues an event for a webhook, once for each webhook. */
export function insertDelivery(tx: Tx, delivery: NewDelivery): void {
  insertion(tx).run({ ...delivery })
  touch(tx, delivery.id)
}

const COLUMNS = `d.seq, d.id, d.webhook_id AS webhookId, e.id AS eventId, e.name AS event,
  e.message_id AS messageId, d.conversation_id AS conversationId, d.status,
  d.attempt_count AS attemptCount, d.next_attempt_at AS nextAttemptAt,
  d.created_at AS createdAt, d.completed_at AS completedAt, a.status_code AS lastStatusCode,
  a.error AS lastError`

const LAST_ATTEMPT = 'LEFT JOIN attempts a ON a.delivery_seq = d.seq AND a.number = d.attempt_count'

const byId = prepared(({ sqlite }) =>
  sqlite.prepare<StoredDelivery, [Values]>(
    `SELECT ${COLUMNS}
     FROM deliveries d
     JOIN events e ON e.seq = d.event_seq
     ${LAST_ATTEMPT}
     JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.id = $id AND w.deleted_at IS NULL`,
  ),
)

/** The delivery, unless it is unknown or its webhook deleted. */
export function findDelivery(db: Db, id: DeliveryId): StoredDelivery | null {
  return byId(db).get({ id })
}

/** The deliveries of a webhook, newest first, those before `before` where it is given. */
export function listDeliveries(
  db: Db,
  webhookId: WebhookId,
  filter: { readonly status: DeliveryStatus | null; readonly before: number | null },
  limit: number,
): StoredDelivery[] {
  const { status, before } = filter
  const isOfStatus = status === null ? '' : 'AND d.status = $status'
  return db.sqlite
    .query<StoredDelivery, [Values]>(
      `SELECT ${COLUMNS}
       FROM deliveries d JOIN events e ON e.seq = d.event_seq ${LAST_ATTEMPT}
       WHERE d.webhook_id = $webhookId ${isOfStatus} AND d.seq < $before
       ORDER BY d.seq DESC LIMIT $limit`,
    )
    .all({
      webhookId,
      ...(status === null ? {} : { status }),
      before: before ?? Number.MAX_SAFE_INTEGER,
      limit,
    })
}

/** All attempts of a delivery, first one first. */
export function listAttempts(db: Db, deliverySeq: number): StoredAttempt[] {
  const rows = db.sqlite
    .query<Attempt & { isPrivateTarget: number }, [Values]>(
      `SELECT number, "trigger", started_at AS startedAt, duration_ms AS durationMs,
              status_code AS statusCode, error, response_excerpt AS responseExcerpt,
              is_private_target AS isPrivateTarget
       FROM attempts WHERE delivery_seq = $deliverySeq ORDER BY number`,
    )
    .all({ deliverySeq })
  return rows.map((row) => ({ ...row, isPrivateTarget: row.isPrivateTarget === 1 }))
}

const request = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries
     SET scheduled_count = CASE status WHEN 'pending' THEN scheduled_count ELSE 0 END,
         next_attempt_at = CASE status WHEN 'pending' THEN next_attempt_at ELSE $now END,
         status = 'pending', completed_at = NULL, requested_at = $now
     WHERE id = $id`,
  ),
)

/** Requests an attempt at once; a finished delivery starts its schedule over. */
export function requestDelivery(tx: Tx, id: DeliveryId, now: Timestamp): void {
  request(tx).run({ id, now })
  touch(tx, id)
}

function touch(tx: Tx, id: DeliveryId): void {
  tx.changes?.push({ what: 'delivery', id })
}

/** Deliveries wanted: of these events, of this line; null for all. */
export type DeliveryFilter = {
  readonly events: readonly EventName[] | null
  readonly lineId: LineId | null
}

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
  tx.changes?.push({ what: 'delivery', id })
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
  tx.changes?.push({ what: 'webhook', id: webhookId })
  return rows.length
}

type Stop = {
  readonly now: Timestamp
  readonly inFlight: ReadonlySet<number>
  readonly limit: number
}
