import type { Handle } from '../domain/handle.ts'
import {
  timeOf,
  type DeliveryId,
  type EventId,
  type LineId,
  type MessageId,
  type Timestamp,
  type WebhookId,
} from '../domain/ids.ts'
import type { DeliveryStatus } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import {
  columnsOf,
  execute,
  getRow,
  getRows,
  inserted,
  selected,
  type RawRow,
} from './statement.ts'
import { events } from './webhook-schema.ts'

export type StoredEvent = RawRow<typeof events>
export type NewEvent = Omit<StoredEvent, 'seq'>

/** An event as replay sees it: with the delivery that one webhook has of it already. */
export type ReplayableEvent = Omit<StoredEvent, 'body'> & {
  readonly hasBody: 0 | 1
  /** Null where there is no body yet: the message has the line. */
  readonly lineId: LineId | null
  readonly deliveryId: DeliveryId | null
  readonly deliveryStatus: DeliveryStatus | null
}

const insertion = `INSERT INTO events ${inserted(events, columnsOf(events, ['seq']))} ON CONFLICT (id) DO NOTHING`

/** Stores the event and gives its seq, or null where that event is known already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const { changes, lastInsertRowid } = execute(tx, insertion, event)
  return changes === 0 ? null : Number(lastInsertRowid)
}

/** Gives an event that no webhook was to get the body that is sent from now on. */
export function writeEventBody(tx: Tx, seq: number, body: string): void {
  const sql = 'UPDATE events SET body = $body WHERE seq = $seq'
  execute(tx, sql, { seq, body })
}

/** True where the event was published, for as long as events are kept. */
export function isPublished(db: Db, id: EventId): boolean {
  const sql = 'SELECT seq FROM events WHERE id = $id'
  return getRow<{ seq: number }>(db, sql, { id }) !== null
}

/** An event that is sent. */
type SentEvent = { readonly id: EventId; readonly body: string; readonly createdAt: Timestamp }

/** Null where it is not kept. */
export function readEvent(db: Db, seq: number): SentEvent | null {
  const sql =
    'SELECT id, body, created_at AS createdAt FROM events WHERE seq = $seq AND body IS NOT NULL'
  return getRow<SentEvent>(db, sql, { seq })
}

/** The same by its id. */
export function readEventOf(db: Db, id: EventId): SentEvent | null {
  const sql =
    'SELECT id, body, created_at AS createdAt FROM events WHERE id = $id AND body IS NOT NULL'
  return getRow<SentEvent>(db, sql, { id })
}

export type EventPerson = {
  readonly handle: Handle | null
  /** Null too for a group without a name. */
  readonly groupName: string | null
  readonly isGroup: 0 | 1
}

/** The person or group of an event that was queued; null where it is not kept. */
export function personOfEvent(db: Db, id: EventId): EventPerson | null {
  const sql = `SELECT body ->> '$.message.handle' AS handle, body ->> '$.conversation.name' AS groupName,
     body -> '$.conversation' IS NOT NULL AS isGroup
   FROM events WHERE id = $id AND body IS NOT NULL`
  return getRow<EventPerson>(db, sql, { id })
}

/** The events of a message: their ids have its time. */
export function seqsOfMessage(db: Db, messageId: MessageId): number[] {
  const first = `evt_${timeOf(messageId)}`
  const sql = `SELECT seq FROM events WHERE id > $first AND id < $last AND message_id = +$messageId`
  return getRows<{ seq: number }>(db, sql, { messageId, first, last: `${first}~` }).map(
    ({ seq }) => seq,
  )
}

const replayable = `SELECT ${selected(events, columnsOf(events, ['body']), 'e.')}, e.body IS NOT NULL AS hasBody,
     e.body ->> '$.phone_line_id' AS lineId, d.id AS deliveryId, d.status AS deliveryStatus
   FROM events e LEFT JOIN deliveries d ON d.event_seq = e.seq AND d.webhook_id = $webhookId
   WHERE e.seq >= $fromSeq AND e.id NOT GLOB 'evt_test_*'
   ORDER BY e.seq LIMIT $limit`

/** At most `limit` events that are no tests from `fromSeq` on, oldest first. */
export function listReplayableEvents(
  db: Db,
  webhookId: WebhookId,
  fromSeq: number,
  limit: number,
): readonly ReplayableEvent[] {
  return getRows<ReplayableEvent>(db, replayable, { webhookId, fromSeq, limit })
}
