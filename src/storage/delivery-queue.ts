// The queries of the delivery loop. Each is for one webhook and uses an index, so a long queue of one webhook
// doesn't slow down the others.

import type { ConversationId, DeliveryId, Timestamp } from '../domain/ids.ts'
import { QUARTER_MS } from '../domain/time.ts'
import type { AttemptOutcome } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { columnsOf, inserted, selected } from './statement.ts'
import { attempts, deliveries } from './webhook-schema.ts'

const DUE_COLUMNS = ['seq', 'eventSeq', 'scheduledCount', 'nextAttemptAt'] as const
const DUE = `SELECT ${selected(deliveries, DUE_COLUMNS, 'd.')}, e.conversation_id AS conversationId FROM deliveries d`
const OF_EVENT = 'LEFT JOIN events e ON e.seq = d.event_seq'

/** A pending delivery in the loop's memory; its body is read for each attempt. */
export type DueDelivery = Pick<typeof deliveries.$inferSelect, (typeof DUE_COLUMNS)[number]> & {
  readonly nextAttemptAt: Timestamp
  readonly conversationId: ConversationId | null
}

/** An attempt, and the resulting state of its delivery. */
export type DeliveryRecord = Pick<typeof deliveries.$inferSelect, 'status' | 'completedAt'> & {
  readonly deliverySeq: number
  readonly attempt: Omit<typeof attempts.$inferSelect, 'deliverySeq' | 'number'>
  readonly isOfSchedule: boolean
  /** Null leaves the time of a pending delivery as it is. */
  readonly nextAttemptAt: Timestamp | null
}

const due = `${DUE} INDEXED BY deliveries_due ${OF_EVENT}
   WHERE status = 'pending' AND webhook_seq = +$webhookSeq AND next_attempt_at <= +$now
   ORDER BY next_attempt_at, d.seq LIMIT +$limit`

export function dueDeliveries(db: Db, webhookSeq: number, now: number, limit: number) {
  return db.rows<DueDelivery>(due, { webhookSeq, now, limit })
}

const requested = `${DUE} INDEXED BY deliveries_requested ${OF_EVENT}
   WHERE webhook_seq = +$webhookSeq AND requested_at IS NOT NULL AND status = 'pending'
   ORDER BY d.seq LIMIT +$limit`

/** Deliveries that a caller asked to try at once. */
export function requestedDeliveries(db: Db, webhookSeq: number, limit: number) {
  return db.rows<DueDelivery>(requested, { webhookSeq, limit })
}

const untried = `${DUE} INDEXED BY deliveries_by_webhook_and_status ${OF_EVENT}
   WHERE webhook_seq = +$webhookSeq AND status = 'pending' AND attempt_count = 0
   ORDER BY d.seq LIMIT 1`

const following = `${DUE} INDEXED BY deliveries_by_webhook_and_status ${OF_EVENT}
   WHERE webhook_seq = +$webhookSeq AND status = 'pending' AND d.seq > +$after
   ORDER BY d.seq LIMIT 1`

export function nextPendingDelivery(db: Db, webhookSeq: number, after: number) {
  return db.row<DueDelivery>(following, { webhookSeq, after })
}

export function untriedDelivery(db: Db, webhookSeq: number): DueDelivery | null {
  return db.row<DueDelivery>(untried, { webhookSeq })
}

export function nextDueDelivery(db: Db, webhookSeq: number, now: number): Timestamp | null {
  const sql = `SELECT next_attempt_at AS at FROM deliveries INDEXED BY deliveries_due
   WHERE status = 'pending' AND webhook_seq = +$webhookSeq AND next_attempt_at > +$now
   ORDER BY next_attempt_at LIMIT 1`
  return db.row<{ at: Timestamp }>(sql, { webhookSeq, now })?.at ?? null
}

/** The time at which the pending delivery that is due first was or will be due; null if none is pending. */
export function longestDueDelivery(db: Db, webhookSeq: number): Timestamp | null {
  return nextDueDelivery(db, webhookSeq, -1)
}

const NUMBER = '(SELECT attempt_count FROM deliveries WHERE seq = $deliverySeq)'

const attempted = `INSERT INTO attempts ${inserted(attempts, columnsOf(attempts), { number: NUMBER })}`

const counted = `INSERT INTO webhook_quarters VALUES ($startedAt / ${QUARTER_MS}, $webhookSeq, $outcome, 1,
     $ms, $ms <= 50, $ms <= 250, $ms <= 1000, $ms <= 5000)
   ON CONFLICT DO UPDATE SET attempts = attempts + 1, total_ms = total_ms + $ms, ms_50 = ms_50 + excluded.ms_50,
     ms_250 = ms_250 + excluded.ms_250, ms_1000 = ms_1000 + excluded.ms_1000,
     ms_5000 = ms_5000 + excluded.ms_5000`

const OUTCOME_OF_ERROR: Readonly<Record<string, AttemptOutcome>> = {
  timeout: 'timeout',
  connection_refused: 'refused',
  connection_reset: 'reset',
  host_unreachable: 'unreachable',
  tls_error: 'tls',
  dns_error: 'dns',
}

function outcomeOf({ statusCode, error }: DeliveryRecord['attempt']): AttemptOutcome {
  if (statusCode === null) return OUTCOME_OF_ERROR[error ?? ''] ?? 'other'
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  if (statusCode >= 500) return 'http_5xx'
  return statusCode >= 400 ? 'http_4xx' : 'http_other'
}

/** True if the delivery is still pending: it may be given up while an attempt is under way. */
export function isPending(tx: Tx, seq: number): boolean {
  const sql = "SELECT 1 FROM deliveries WHERE seq = $seq AND status = 'pending'"
  return tx.row(sql, { seq }) !== null
}

/**
 * Records an attempt and updates its delivery; does nothing if the delivery was deleted. The delivery loop calls it
 * once for each attempt, until it is durable.
 */
export function recordAttempt(tx: Tx, webhookSeq: number, record: DeliveryRecord): void {
  const { deliverySeq, attempt, status, isOfSchedule, nextAttemptAt, completedAt } = record
  const sql = `UPDATE deliveries
   SET status = $status, attempt_count = attempt_count + 1,
       scheduled_count = scheduled_count + $isOfSchedule, requested_at = NULL,
       next_attempt_at = CASE $status WHEN 'pending' THEN coalesce($nextAttemptAt, next_attempt_at)
                         ELSE NULL END,
       completed_at = $completedAt
   WHERE seq = $deliverySeq`
  const after = { deliverySeq, status, isOfSchedule, nextAttemptAt, completedAt }
  if (tx.execute(sql, after).changes === 0) return
  tx.execute(attempted, { deliverySeq, ...attempt })
  const { startedAt, durationMs: ms } = attempt
  tx.execute(counted, { startedAt, webhookSeq, ms, outcome: outcomeOf(attempt) })
  if (tx.changes === null) return
  const idOf = 'SELECT id FROM deliveries WHERE seq = $deliverySeq'
  const row = tx.row<{ id: DeliveryId }>(idOf, { deliverySeq })
  if (row !== null) tx.changes.push({ what: 'delivery', id: row.id })
}

/** Makes all pending deliveries of a webhook due, in the order of creation. */
export function releaseDeliveries(tx: Tx, webhookSeq: number, now: number): void {
  const sql = `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = min(created_at, $now)
   WHERE status = 'pending' AND webhook_seq = +$webhookSeq
     AND next_attempt_at > min(created_at, $now)`
  tx.execute(sql, { webhookSeq, now })
}

/** Moves due times back with a wall clock that was set back by `ms` to `now`. */
export function moveDeliveriesBack(tx: Tx, webhookSeq: number, now: number, ms: number): void {
  const sql = `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = next_attempt_at - $ms
   WHERE status = 'pending' AND webhook_seq = +$webhookSeq AND next_attempt_at > +$now`
  tx.execute(sql, { webhookSeq, now, ms: Math.round(ms) })
}

export function clampDeliveries(tx: Tx, webhookSeq: number, latest: number): void {
  const sql = `UPDATE deliveries INDEXED BY deliveries_due SET next_attempt_at = $latest
   WHERE status = 'pending' AND webhook_seq = +$webhookSeq AND next_attempt_at > +$latest`
  tx.execute(sql, { webhookSeq, latest })
}

export function pendingDeliveries(db: Db, webhookSeq: number) {
  const sql = `SELECT count(*) AS count,
          (SELECT created_at FROM deliveries INDEXED BY deliveries_by_webhook_and_status
           WHERE webhook_seq = +$webhookSeq AND status = 'pending' ORDER BY seq LIMIT 1) AS oldest
   FROM deliveries INDEXED BY deliveries_by_webhook_and_status
   WHERE webhook_seq = +$webhookSeq AND status = 'pending'`
  const found = db.row<{ count: number; oldest: Timestamp | null }>(sql, { webhookSeq })
  return found ?? { count: 0, oldest: null }
}
