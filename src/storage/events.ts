import type { DeliveryId, EventId, LineId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { DeliveryStatus } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { firstSeqSince } from './seq-by-time.ts'
import { columnsOf, inserted, prepared, selected, type RawRow, type Values } from './statement.ts'
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

const insertion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO events ${inserted(events, columnsOf(events, ['seq']))} ON CONFLICT (id) DO NOTHING`,
  ),
)

/** Stores the event and gives its seq, or null where that event is known already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const { changes, lastInsertRowid } = insertion(tx).run(event)
  return changes === 0 ? null : Number(lastInsertRowid)
}

const writing = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>('UPDATE events SET body = $body WHERE seq = $seq'),
)

/** Gives an event that no webhook was to get the body that is sent from now on. */
export function writeEventBody(tx: Tx, seq: number, body: string): void {
  writing(tx).run({ seq, body })
}

const reading = prepared(({ sqlite }) =>
  sqlite.prepare<{ readonly id: EventId; readonly body: string }, [Values]>(
    'SELECT id, body FROM events WHERE seq = $seq AND body IS NOT NULL',
  ),
)

/** Id and body of an event that is sent; null where it is not kept. */
export function readEvent(
  db: Db,
  seq: number,
): { readonly id: EventId; readonly body: string } | null {
  return reading(db).get({ seq })
}

const bodyById = prepared(({ sqlite }) =>
  sqlite.prepare<{ body: string | null }, [Values]>('SELECT body FROM events WHERE id = $id'),
)

/** The bytes that are signed and sent of an event; null where it is not kept any more. */
export function readEventBody(db: Db, id: EventId): string | null {
  return bodyById(db).get({ id })?.body ?? null
}

/** The seq of the first event of `at` or later. */
export function firstEventSince(db: Db, at: Timestamp): number {
  return firstSeqSince(db, 'events', at)
}

const replayable = prepared(({ sqlite }) =>
  sqlite.prepare<ReplayableEvent, [Values]>(
    `SELECT ${selected(events, columnsOf(events, ['body']), 'e.')}, e.body IS NOT NULL AS hasBody,
       e.body ->> '$.phone_line_id' AS lineId, d.id AS deliveryId, d.status AS deliveryStatus
     FROM events e LEFT JOIN deliveries d ON d.event_seq = e.seq AND d.webhook_id = $webhookId
     WHERE e.seq >= $fromSeq AND e.message_id IS NOT NULL
     ORDER BY e.seq LIMIT $limit`,
  ),
)

/** At most `limit` events of messages from `fromSeq` on, oldest first. */
export function listReplayableEvents(
  db: Db,
  webhookId: WebhookId,
  fromSeq: number,
  limit: number,
): readonly ReplayableEvent[] {
  return replayable(db).all({ webhookId, fromSeq, limit })
}
