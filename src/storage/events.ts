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
import { firstSeqSince } from './moments.ts'
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

/** An event that no webhook is to get yet. Its id and its body are made when one is. */
export type UntoldEvent = {
  readonly name: EventName
  readonly messageId: MessageId
  readonly createdAt: Timestamp
}

/** An event as replay sees it: with the delivery that one webhook has of it already. */
export type ReplayableEvent = UntoldEvent & {
  readonly seq: number
  readonly isUntold: boolean
  /** Null where it is untold: its message knows. */
  readonly conversationId: ConversationId | null
  readonly deliveryId: DeliveryId | null
  readonly deliveryStatus: DeliveryStatus | null
}

type Values = Record<string, string | number | null>

/** Writes the event down and gives its seq, or null where that event is known already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const seq = nextSeq(tx)
  return insertAt(tx, seq, event) ? seq : null
}

/** Writes down that the event was, for webhooks that may come. */
export function noteUntoldEvent(tx: Tx, event: UntoldEvent): void {
  statements(tx).note.run({ ...event, seq: nextSeq(tx) })
}

/** Makes an untold event one that webhooks get; whether it was none of those already. */
export function tellEvent(tx: Tx, seq: number, event: NewEvent): boolean {
  statements(tx).forget.run({ seq })
  return insertAt(tx, seq, event)
}

function insertAt(tx: Tx, seq: number, event: NewEvent): boolean {
  return statements(tx).insert.run({ ...event, seq }).changes > 0
}

const statements = preparedBeside(({ sqlite }) => ({
  insert: sqlite.prepare<null, [Values]>(
    `INSERT INTO events (seq, id, name, message_id, conversation_id, body, created_at)
     VALUES ($seq, $id, $name, $messageId, $conversationId, $body, $createdAt)
     ON CONFLICT (id) DO NOTHING`,
  ),
  note: sqlite.prepare<null, [Values]>(
    `INSERT INTO untold_events (seq, name, message_id, created_at)
     VALUES ($seq, $name, $messageId, $createdAt)`,
  ),
  forget: sqlite.prepare<null, [Values]>('DELETE FROM untold_events WHERE seq = $seq'),
}))

const lastSeqs = preparedBeside(({ sqlite }) => {
  const newest = (table: string) =>
    sqlite.query<{ seq: number | null }, []>(`SELECT max(seq) AS seq FROM ${table}`).get()?.seq ?? 0
  return { last: Math.max(newest('events'), newest('untold_events')) }
})

/** Counted in memory: a work that is rolled back leaves a gap, which nobody minds. */
function nextSeq(tx: Tx): number {
  const counter = lastSeqs(tx)
  counter.last += 1
  return counter.last
}

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

/** Where the events of `at` and later begin. */
export function firstEventSince(db: Db, at: Timestamp): number {
  return Math.min(firstSeqSince(db, 'events', at), firstSeqSince(db, 'untold_events', at))
}

/** At most `limit` events of messages from `fromSeq` on, oldest first. */
export function listReplayableEvents(
  db: Db,
  webhookId: WebhookId,
  fromSeq: number,
  limit: number,
): ReplayableEvent[] {
  const told = db.sqlite
    .query<Omit<ReplayableEvent, 'isUntold'>, [Values]>(
      `SELECT e.seq, e.name, e.message_id AS messageId, e.conversation_id AS conversationId,
              e.created_at AS createdAt, d.id AS deliveryId, d.status AS deliveryStatus
       FROM events e LEFT JOIN deliveries d ON d.event_seq = e.seq AND d.webhook_id = $webhookId
       WHERE e.seq >= $fromSeq AND e.message_id IS NOT NULL
       ORDER BY e.seq LIMIT $limit`,
    )
    .all({ webhookId, fromSeq, limit })
  const untold = db.sqlite
    .query<Omit<ReplayableEvent, 'isUntold'>, [Values]>(
      `SELECT seq, name, message_id AS messageId, NULL AS conversationId, created_at AS createdAt,
              NULL AS deliveryId, NULL AS deliveryStatus
       FROM untold_events WHERE seq >= $fromSeq ORDER BY seq LIMIT $limit`,
    )
    .all({ fromSeq, limit })
  const events = [
    ...told.map((row) => ({ ...row, isUntold: false })),
    ...untold.map((row) => ({ ...row, isUntold: true })),
  ]
  return events.toSorted((one, other) => one.seq - other.seq).slice(0, limit)
}
