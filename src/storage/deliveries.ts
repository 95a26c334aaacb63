import { and, asc, desc, eq, getTableColumns, inArray, isNull } from 'drizzle-orm'

import type { Found } from '../api/paging.ts'
import type { DeliveryId, EventId, MessageId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { LineLimit } from '../domain/routing.ts'
import type { DeliveryStatus, EventName } from '../domain/webhook.ts'
import { IDS_WITH } from './conversations.ts'
import { linesWithin } from './credentials.ts'
import type { Db, Tx } from './database.ts'
import { IS_FOR_LINES, seqsOfMessage, type EventFilter } from './events.ts'
import { scanRanges, type ListPage, type Range } from './scan.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { columnsOf, inserted, limitValue } from './statement.ts'
import { attempts, deliveries, events, webhooks } from './webhook-schema.ts'
import type { StoredWebhook } from './webhooks.ts'

type Row = Readonly<typeof deliveries.$inferSelect>

export type StoredDelivery = Omit<Row, 'eventSeq' | 'webhookSeq' | 'requestedAt' | 'replayedAt'> & {
  readonly webhookId: WebhookId
  readonly eventId: EventId
  readonly event: EventName
  readonly messageId: MessageId | null
  readonly lastStatusCode: number | null
  readonly lastError: string | null
}

const { deliverySeq: _delivery, ...ATTEMPT_FIELDS } = getTableColumns(attempts)

/** `isPrivateTarget` is true for a receiver on the private network, whose answer not every viewer may see. */
export type StoredAttempt = Omit<typeof attempts.$inferSelect, 'deliverySeq'>

const LATER = ['seq', 'attemptCount', 'scheduledCount', 'completedAt'] as const

/** `replayedAt` equals `createdAt` if a replay made the delivery. */
export type NewDelivery = Omit<Row, (typeof LATER)[number] | 'status'>

const insertion = `INSERT INTO deliveries ${inserted(deliveries, columnsOf(deliveries, LATER), { status: "'pending'" })}
   ON CONFLICT (event_seq, webhook_seq) DO NOTHING`

export function insertDelivery(tx: Tx, delivery: NewDelivery): void {
  tx.execute(insertion, delivery)
  touch(tx, delivery.id)
}

const {
  eventSeq: _event,
  webhookSeq: _webhook,
  requestedAt: _requested,
  replayedAt: _replayed,
  ...DELIVERY_FIELDS
} = getTableColumns(deliveries)

function select(db: Db) {
  const of = {
    webhookId: webhooks.id,
    eventId: events.id,
    event: events.name,
    messageId: events.messageId,
  }
  const last = { lastStatusCode: attempts.statusCode, lastError: attempts.error }
  const isLast = eq(attempts.number, deliveries.attemptCount)
  return db.orm
    .select({ ...DELIVERY_FIELDS, ...of, ...last })
    .from(deliveries)
    .innerJoin(webhooks, eq(webhooks.seq, deliveries.webhookSeq))
    .innerJoin(events, eq(events.seq, deliveries.eventSeq))
    .leftJoin(attempts, and(eq(attempts.deliverySeq, deliveries.seq), isLast))
    .$dynamic()
}

/** The delivery; null if it is unknown or its webhook was deleted. */
export function findDelivery(db: Db, id: DeliveryId): StoredDelivery | null {
  const found = select(db)
    .where(and(eq(deliveries.id, id), isNull(webhooks.deletedAt)))
    .get()
  return found ?? null
}

/** Filter of a list. Texts from requests are only compared. */
export type DeliveryChoice = {
  readonly status?: DeliveryStatus | undefined
  readonly event?: EventName | undefined
  /** The person or group of the event's conversation. */
  readonly handle?: string | undefined
  readonly messageId?: MessageId | undefined
  /** Neither bound is included. */
  readonly createdAfter?: Timestamp | undefined
  readonly createdBefore?: Timestamp | undefined
  readonly lineIds?: LineLimit | undefined
}

const OF_EVENT = 'INDEXED BY deliveries_by_event WHERE event_seq = +$eventSeq'
/** SQLite uses a partial index for a status only if the query contains the status as a literal. */
const BY_STATUS: Readonly<Record<DeliveryStatus, string>> = {
  pending: "INDEXED BY deliveries_by_webhook_and_status WHERE status = 'pending'",
  exhausted: "INDEXED BY deliveries_by_webhook_and_status WHERE status = 'exhausted'",
  succeeded: 'INDEXED BY deliveries_by_webhook WHERE TRUE',
}
const HAS_STATUS = '(+$status IS NULL OR status = +$status)'
const HAS_EVENT_FOR_LINES = `EXISTS (SELECT 1 FROM events e WHERE e.seq = event_seq AND ${IS_FOR_LINES})`
const HAS_CHOSEN_EVENT = `EXISTS (SELECT 1 FROM events e WHERE e.seq = event_seq
   AND (+$event IS NULL OR e.name = +$event) AND ${IS_FOR_LINES}
   AND (+$handle IS NULL OR e.conversation_id IN (${IDS_WITH})))`

/**
 * The deliveries of a webhook, newest first. Neither succeeded deliveries, which are nearly all, have an index by
 * status, nor has any delivery one by event or person: for these, a page examines a limited number of deliveries.
 */
export function listDeliveries(
  db: Db,
  webhookSeq: number,
  choice: DeliveryChoice,
  page: ListPage,
): Found<StoredDelivery> {
  const { createdAfter: after, createdBefore: before } = choice
  const from = after === undefined ? 0 : firstSeqSince(db, 'deliveries', after + 1)
  const until = before === undefined ? Infinity : firstSeqSince(db, 'deliveries', before)
  const start = Math.min(until, page.before ?? Infinity, Number.MAX_SAFE_INTEGER)
  const ranges = rangesOf(db, choice).map(({ by, fits, values }) => ({
    from: `deliveries d ${by} AND webhook_seq = +$webhookSeq AND seq >= +$from`,
    fits,
    values: { ...values, webhookSeq, from },
  }))
  const { seqs, upTo } = scanRanges(db, ranges, { limit: page.limit, before: start })
  const found = select(db).where(inArray(deliveries.seq, seqs)).orderBy(desc(deliveries.seq))
  return { rows: found.all(), upTo }
}

type DeliveryRange = Pick<Range, 'fits' | 'values'> & { readonly by: string }

function rangesOf(db: Db, choice: DeliveryChoice): readonly DeliveryRange[] {
  const { status = null, event = null, handle = null, messageId, lineIds = null } = choice
  const isAnyEvent = event === null && handle === null && lineIds === null
  const fits = isAnyEvent ? HAS_STATUS : `${HAS_STATUS} AND ${HAS_CHOSEN_EVENT}`
  const values = { status, event, handle, lineIds: limitValue(lineIds) }
  if (messageId === undefined) return [{ by: BY_STATUS[status ?? 'succeeded'], fits, values }]
  return seqsOfMessage(db, messageId).map((eventSeq) => {
    return { by: OF_EVENT, fits, values: { ...values, eventSeq } }
  })
}

export function listAttempts(db: Db, deliverySeq: number): StoredAttempt[] {
  return db.orm
    .select(ATTEMPT_FIELDS)
    .from(attempts)
    .where(eq(attempts.deliverySeq, deliverySeq))
    .orderBy(asc(attempts.number))
    .all()
}

export function deliveryOf(
  db: Db,
  eventSeq: number,
  webhookSeq: number,
): Pick<Row, 'id' | 'status'> | null {
  const sql =
    'SELECT id, status FROM deliveries WHERE event_seq = $eventSeq AND webhook_seq = $webhookSeq'
  return db.row(sql, { eventSeq, webhookSeq })
}

/** Requests an attempt at once; if the delivery was finished, its schedule starts over. */
export function requestDelivery(tx: Tx, id: DeliveryId, now: Timestamp): void {
  const sql = `UPDATE deliveries
   SET scheduled_count = CASE status WHEN 'pending' THEN scheduled_count ELSE 0 END,
       next_attempt_at = CASE status WHEN 'pending' THEN next_attempt_at ELSE $now END,
       status = 'pending', completed_at = NULL, requested_at = $now
   WHERE id = $id`
  tx.execute(sql, { id, now })
  touch(tx, id)
}

function touch(tx: Tx, id: DeliveryId): void {
  tx.changes?.push({ what: 'delivery', id })
}

/** At most `limit` exhausted deliveries of messages, from `fromSeq` on, oldest first. */
export function listExhausted(
  db: Db,
  webhookSeq: number,
  { names, lineIds }: EventFilter,
  page: { readonly fromSeq: number; readonly limit: number },
): readonly { readonly seq: number; readonly id: DeliveryId }[] {
  const sql = `SELECT d.seq, d.id
       FROM deliveries d INDEXED BY deliveries_by_webhook_and_status
       JOIN events e ON e.seq = d.event_seq
       WHERE d.webhook_seq = $webhookSeq AND d.status = 'exhausted' AND d.seq >= $fromSeq
         AND e.message_id IS NOT NULL
         ${names === null ? '' : 'AND e.name IN (SELECT value FROM json_each($names))'}
         ${lineIds === null ? '' : `AND ${IS_FOR_LINES}`}
       ORDER BY d.seq LIMIT $limit`
  return db.rows<{ seq: number; id: DeliveryId }>(sql, {
    webhookSeq,
    ...page,
    ...(names === null ? {} : { names: JSON.stringify(names) }),
    ...(lineIds === null ? {} : { lineIds: limitValue(lineIds) }),
  })
}

/** Gives an exhausted delivery its whole schedule again. */
export function restartDelivery(
  tx: Tx,
  id: DeliveryId,
  at: { readonly now: Timestamp; readonly replayedAt: Timestamp },
): void {
  const sql = `UPDATE deliveries
   SET status = 'pending', scheduled_count = 0, next_attempt_at = $now, completed_at = NULL,
       replayed_at = $replayedAt
   WHERE id = $id AND status = 'exhausted'`
  tx.execute(sql, { id, ...at })
  touch(tx, id)
}

export function countReplayed(db: Db, webhookSeq: number): number {
  const sql = `SELECT count(*) AS count FROM deliveries INDEXED BY deliveries_replayed
   WHERE webhook_seq = +$webhookSeq AND status = 'pending' AND replayed_at IS NOT NULL`
  return db.row<{ count: number }>(sql, { webhookSeq })?.count ?? 0
}

export const EXHAUSTED = `SET status = 'exhausted', completed_at = $now, next_attempt_at = NULL,
  requested_at = NULL`

/** Gives up pending deliveries of lines that the webhook no longer gets, even if it gets them again later. */
export function exhaustBeyond(tx: Tx, webhook: StoredWebhook, now: Timestamp): void {
  const lineIds = linesWithin(tx, webhook)
  if (lineIds === null) return
  const sql = `UPDATE deliveries INDEXED BY deliveries_by_webhook_and_status ${EXHAUSTED}
   WHERE webhook_seq = +$webhookSeq AND status = 'pending'
     AND NOT ${HAS_EVENT_FOR_LINES}`
  tx.execute(sql, { webhookSeq: webhook.seq, lineIds: limitValue(lineIds), now })
}

/**
 * Stops at most `limit` replayed deliveries, newest first, because the oldest are about to be sent; returns
 * their number. Deletes those that the replay made and that were never tried, and exhausts the others.
 * Skips the deliveries `inFlight`, whose requests are under way.
 */
export function stopReplayed(
  tx: Tx,
  webhook: Pick<StoredWebhook, 'id' | 'seq'>,
  given: {
    readonly now: Timestamp
    readonly inFlight: ReadonlySet<number>
    readonly limit: number
  },
): number {
  const { now, inFlight, limit } = given
  const sql = `SELECT seq, created_at = replayed_at AND attempt_count = 0 AS isUntouched
   FROM deliveries INDEXED BY deliveries_replayed
   WHERE webhook_seq = +$webhookSeq AND status = 'pending' AND replayed_at IS NOT NULL
   ORDER BY seq DESC LIMIT +$limit`
  const values = { webhookSeq: webhook.seq, limit: limit + inFlight.size }
  const rows = tx
    .rows<{ seq: number; isUntouched: 0 | 1 }>(sql, values)
    .filter(({ seq }) => !inFlight.has(seq))
    .slice(0, limit)
  for (const { seq, isUntouched } of rows) {
    if (isUntouched === 1) tx.execute('DELETE FROM deliveries WHERE seq = $seq', { seq })
    else tx.execute(`UPDATE deliveries ${EXHAUSTED} WHERE seq = $seq`, { seq, now })
  }
  tx.changes?.push({ what: 'webhook', id: webhook.id })
  return rows.length
}
