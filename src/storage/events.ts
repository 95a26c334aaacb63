import type {
  ConversationId,
  DeliveryId,
  EventId,
  MessageId,
  Timestamp,
  WebhookId,
} from '../domain/ids.ts'
import type { DeliveryStatus, EventName } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { prepared, preparedBeside } from './statement.ts'

export type NewEvent = {
  readonly id: EventId
  readonly name: EventName
  readonly messageId: MessageId | null
  readonly conversationId: ConversationId | null
  /** The very text that is signed and sent. */
  readonly body: string
  readonly createdAt: Timestamp
}

/** An event as replay sees it: with the delivery that one webhook has of it already. */
export type ReplayableEvent = {
  readonly seq: number
  readonly name: EventName
  readonly conversationId: ConversationId | null
  readonly deliveryId: DeliveryId | null
  readonly deliveryStatus: DeliveryStatus | null
}

/** Writes the event down and gives its seq, or null where that event is known already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const { changes, lastInsertRowid } = insertStatement(tx).run({ ...event })
  return changes === 0 ? null : Number(lastInsertRowid)
}

const insertStatement = preparedBeside((db) =>
  db.sqlite.prepare<null, [Record<keyof NewEvent, string | number | null>]>(
    `INSERT INTO events (id, name, message_id, conversation_id, body, created_at)
     VALUES ($id, $name, $messageId, $conversationId, $body, $createdAt)
     ON CONFLICT (id) DO NOTHING`,
  ),
)

/** What is sent of an event. */
export function readEvent(
  db: Db,
  seq: number,
): { readonly id: EventId; readonly body: string } | null {
  return readStatement(db).get({ seq })
}

const readStatement = prepared((db) =>
  db.sqlite.prepare<{ id: EventId; body: string }, [{ seq: number }]>(
    'SELECT id, body FROM events WHERE seq = $seq',
  ),
)

/** The bytes that are signed and sent of an event; null where it is not kept any more. */
export function readEventBody(db: Db, id: EventId): string | null {
  const sql = 'SELECT body FROM events WHERE id = $id'
  return db.sqlite.query<{ body: string }, [{ id: string }]>(sql).get({ id })?.body ?? null
}

/** Events of messages from `fromSeq` on, oldest first. */
export function listReplayableEvents(
  db: Db,
  webhookId: WebhookId,
  fromSeq: number,
  limit: number,
): ReplayableEvent[] {
  return db.sqlite
    .query<ReplayableEvent, [{ webhookId: string; fromSeq: number; limit: number }]>(
      `SELECT e.seq, e.name, e.conversation_id AS conversationId,
              d.id AS deliveryId, d.status AS deliveryStatus
       FROM events e LEFT JOIN deliveries d ON d.event_seq = e.seq AND d.webhook_id = $webhookId
       WHERE e.seq >= $fromSeq AND e.message_id IS NOT NULL
       ORDER BY e.seq LIMIT $limit`,
    )
    .all({ webhookId, fromSeq, limit })
}
