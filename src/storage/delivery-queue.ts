// Reads and writes of the delivery loop. Every query goes by one webhook and by an index, so
// that a long queue of one costs the others nothing.

import type { ConversationId, DeliveryId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { Attempt, DeliveryStatus } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { prepared, type Values } from './statement.ts'

/** A pending delivery as the loop keeps it; the body is read for each attempt. */
export type DueDelivery = {
  readonly seq: number
  readonly eventSeq: number
  readonly conversationId: ConversationId | null
  /** Attempts of its own schedule that were made. */
  readonly scheduledCount: number
  readonly nextAttemptAt: Timestamp
}

/** An attempt, and the state of its delivery after it. */
export type DeliveryRecord = {
  readonly deliverySeq: number
  readonly attempt: Omit<Attempt, 'number'> & { readonly isPrivateTarget: boolean }
  readonly status: DeliveryStatus
  readonly isOfSchedule: boolean
  /** Null keeps the time that a pending delivery has. */
  readonly nextAttemptAt: Timestamp | null
  readonly completedAt: Timestamp | null
}

const DUE = `seq, event_seq AS eventSeq, conversation_id AS conversationId,
  scheduled_count AS scheduledCount, next_attempt_at AS nextAttemptAt`

const many = (sql: string) => prepared(({ sqlite }) => sqlite.prepare<DueDelivery, [Values]>(sql))

const due = many(
  `SELECT ${DUE} FROM deliveries INDEXED BY deliveries_due
   WHERE status = 'pending' AND webhook_id = +$webhookId AND next_attempt_at <= +$now
   ORDER BY next_attempt_at, seq LIMIT +$limit`,
)

/** Deliveries that are due to a webhook, longest due first. */
export function dueDeliveries(db: Db, id: WebhookId, now: number, limit: number): DueDelivery[] {
  return due(db).all({ webhookId: id, now, limit })
}

const requested = many(
  `SELECT ${DUE} FROM deliveries INDEXED BY deliveries_requested
   WHERE webhook_id = +$webhookId AND requested_at IS NOT NULL AND status = 'pending'
   ORDER BY seq LIMIT +$limit`,
)

/** Deliveries that a caller asked to be tried at once. */
export function requestedDeliveries(db: Db, id: WebhookId, limit: number): DueDelivery[] {
  return requested(db).all({ webhookId: id, limit })
}

const untried = many(
  `SELECT ${DUE} FROM deliveries INDEXED BY deliveries_by_webhook_and_status
   WHERE webhook_id = +$webhookId AND status = 'pending' AND attempt_count = 0
   ORDER BY seq LIMIT 1`,
)

const following = many(
  `SELECT ${DUE} FROM deliveries INDEXED BY deliveries_by_webhook_and_status
   WHERE webhook_id = +$webhookId AND status = 'pending' AND seq > +$after ORDER BY seq LIMIT 1`,
)

/** The oldest pending delivery of a webhook behind the one with the seq `after`. */
export function nextPendingDelivery(db: Db, webhookId: WebhookId, after: number) {
  return following(db).get({ webhookId, after })
}

/** The oldest delivery of a webhook that was never tried. */
export function untriedDelivery(db: Db, webhookId: WebhookId): DueDelivery | null {
  return untried(db).get({ webhookId })
}

const nextDue = prepared(({ sqlite }) =>
  sqlite.prepare<{ at: Timestamp }, [Values]>(
    `SELECT next_attempt_at AS at FROM deliveries INDEXED BY deliveries_due
     WHERE status = 'pending' AND webhook_id = +$webhookId AND next_attempt_at > +$now
     ORDER BY next_attempt_at LIMIT 1`,
  ),
)

/** Time at which the next delivery of a webhook becomes due, or null. */
export function nextDueDelivery(db: Db, webhookId: WebhookId, now: number): Timestamp | null {
  return nextDue(db).get({ webhookId, now })?.at ?? null
}

const longestDue = prepared(({ sqlite }) =>
  sqlite.prepare<{ at: Timestamp }, [Values]>(
    `SELECT next_attempt_at AS at FROM deliveries INDEXED BY deliveries_due
     WHERE status = 'pending' AND webhook_id = +$webhookId ORDER BY next_attempt_at LIMIT 1`,
  ),
)

/** Time since which a delivery to a webhook has been due, the longest one, or null. */
export function longestDueDelivery(db: Db, webhookId: WebhookId): Timestamp | null {
  return longestDue(db).get({ webhookId })?.at ?? null
}

const progress = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries
     SET status = $status, attempt_count = attempt_count + 1,
         scheduled_count = scheduled_count + $scheduled, requested_at = NULL,
         next_attempt_at = CASE $status WHEN 'pending' THEN coalesce($nextAttemptAt, next_attempt_at)
                           ELSE NULL END,
         completed_at = $completedAt
     WHERE seq = $deliverySeq`,
  ),
)

const attempted = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO attempts (delivery_seq, number, "trigger", started_at, duration_ms, status_code,
                           error, response_excerpt, is_private_target)
     VALUES ($deliverySeq, (SELECT attempt_count FROM deliveries WHERE seq = $deliverySeq), $trigger,
             $startedAt, $durationMs, $statusCode, $error, $responseExcerpt, $isPrivateTarget)`,
  ),
)

/** Writes an attempt and its delivery; nothing where the delivery is gone. */
export function recordAttempt(tx: Tx, record: DeliveryRecord): void {
  const { deliverySeq, attempt } = record
  const { changes } = progress(tx).run({
    deliverySeq,
    status: record.status,
    scheduled: record.isOfSchedule ? 1 : 0,
    nextAttemptAt: record.nextAttemptAt,
    completedAt: record.completedAt,
  })
  if (changes === 0) return
  attempted(tx).run({ deliverySeq, ...attempt, isPrivateTarget: attempt.isPrivateTarget ? 1 : 0 })
  if (tx.changes === null) return
  const row = idOf(tx).get({ deliverySeq })
  if (row !== null) tx.changes.push({ what: 'delivery', id: row.id })
}

const idOf = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: DeliveryId }, [Values]>(
    'SELECT id FROM deliveries WHERE seq = $deliverySeq',
  ),
)

const release = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = min(created_at, $now)
     WHERE status = 'pending' AND webhook_id = +$webhookId
       AND next_attempt_at > min(created_at, $now)`,
  ),
)

/** Makes all that is pending for a webhook due, in the order in which it was made. */
export function releaseDeliveries(tx: Tx, webhookId: WebhookId, now: number): void {
  release(tx).run({ webhookId, now })
}

const moveBack = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = next_attempt_at - $ms
     WHERE status = 'pending' AND webhook_id = +$webhookId AND next_attempt_at > +$now`,
  ),
)

/** Follows a wall clock that stepped back by `ms` to `now`. */
export function moveDeliveriesBack(tx: Tx, webhookId: WebhookId, now: number, ms: number): void {
  moveBack(tx).run({ webhookId, now, ms: Math.round(ms) })
}

const clamp = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = $latest
     WHERE status = 'pending' AND webhook_id = +$webhookId AND next_attempt_at > +$latest`,
  ),
)

/** No pending delivery of a webhook waits longer than until `latest`. */
export function clampDeliveries(tx: Tx, webhookId: WebhookId, latest: number): void {
  clamp(tx).run({ webhookId, latest })
}

const backlog = prepared(({ sqlite }) =>
  sqlite.prepare<{ count: number; oldest: Timestamp | null }, [Values]>(
    `SELECT count(*) AS count,
            (SELECT created_at FROM deliveries INDEXED BY deliveries_by_webhook_and_status
             WHERE webhook_id = +$webhookId AND status = 'pending' ORDER BY seq LIMIT 1) AS oldest
     FROM deliveries INDEXED BY deliveries_by_webhook_and_status
     WHERE webhook_id = +$webhookId AND status = 'pending'`,
  ),
)

/** The number of pending deliveries of a webhook, and the creation of the oldest. */
export function pendingDeliveries(
  db: Db,
  webhookId: WebhookId,
): { readonly count: number; readonly oldest: Timestamp | null } {
  return backlog(db).get({ webhookId }) ?? { count: 0, oldest: null }
}
