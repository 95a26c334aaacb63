import type { Handle } from '../domain/handle.ts'
import { timeOf, type EventId, type MessageId, type Timestamp } from '../domain/ids.ts'
import type { ConversationLimit } from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import type { EventName } from '../domain/webhook.ts'
import { linesWithin } from './credentials.ts'
import type { Db, Tx } from './database.ts'
import { EXAMINED_MAX } from './scan.ts'
import {
  CONVERSATION_SEQS,
  columnsOf,
  inserted,
  isOfLines,
  limitValue,
  selected,
  type RawRow,
} from './statement.ts'
import { events } from './webhook-schema.ts'
import type { StoredWebhook } from './webhooks.ts'

export type StoredEvent = RawRow<typeof events>
export type NewEvent = Omit<StoredEvent, 'seq'>

const insertion = `INSERT INTO events ${inserted(events, columnsOf(events, ['seq']))} ON CONFLICT (id) DO NOTHING`

/** Stores the event and returns its seq, or null if the event exists already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const { changes, lastInsertRowid } = tx.execute(insertion, event)
  return changes === 0 ? null : Number(lastInsertRowid)
}

/** Stores the body of an event that no webhook needed before. */
export function writeEventBody(tx: Tx, seq: number, body: string): void {
  const sql = 'UPDATE events SET body = $body WHERE seq = $seq'
  tx.execute(sql, { seq, body })
}

export function isPublished(db: Db, id: EventId): boolean {
  return findEvent(db, id) !== null
}

export type SentEvent = {
  readonly id: EventId
  readonly body: string
  readonly messageId: MessageId | null
  readonly createdAt: Timestamp
}
const SENT = `SELECT id, body, message_id AS messageId, created_at AS createdAt
   FROM events WHERE body IS NOT NULL`

export function readEvent(db: Db, seq: number): SentEvent | null {
  return db.row<SentEvent>(`${SENT} AND seq = $seq`, { seq })
}

export function readEventOf(db: Db, id: EventId): SentEvent | null {
  return db.row<SentEvent>(`${SENT} AND id = $id`, { id })
}

export type EventPerson = {
  readonly handle: Handle | null
  /** Null for one person, and for a group without a name. */
  readonly groupName: string | null
  readonly isGroup: 0 | 1
}

/** The person or group of an event, from its body; null if the body isn't stored. */
export function personOfEvent(db: Db, id: EventId): EventPerson | null {
  const sql = `SELECT coalesce(body ->> '$.message.handle', body ->> '$.opt_out.handle') AS handle,
     body ->> '$.conversation.name' AS groupName,
     body -> '$.conversation' IS NOT NULL AS isGroup
   FROM events WHERE id = $id AND body IS NOT NULL`
  return db.row<EventPerson>(sql, { id })
}

/** The seqs of a message's events, found by the message's time in their ids. */
export function seqsOfMessage(db: Db, messageId: MessageId): number[] {
  const first = `evt_${timeOf(messageId)}`
  const sql = `SELECT seq FROM events WHERE id > $first AND id < $last AND message_id = +$messageId`
  return db
    .rows<{ seq: number }>(sql, { messageId, first, last: `${first}~` })
    .map(({ seq }) => seq)
}

/** The events that a reader wants; null means all. */
export type EventFilter = {
  readonly names: readonly EventName[] | null
  readonly lineIds: LineLimit
  readonly conversationIds: ConversationLimit
}

/** One page: all wanted events after the given seq, up to `upTo`. */
export type EventStep = {
  readonly events: readonly StoredEvent[]
  readonly upTo: number
  /** True if no later event exists. */
  readonly isEnd: boolean
}

const IS_OF_LINES = isOfLines(`coalesce(e.body ->> '$.phone_line_id',
     (SELECT l.id FROM messages m JOIN lines l ON l.seq = m.line_seq WHERE m.id = e.message_id))`)

/** SQL: whether an event `e` is of one of the lines, or a test event. */
export const IS_FOR_LINES = `(e.id GLOB 'evt_test_*' OR ${IS_OF_LINES})`

/** SQL: whether an event `e` is of one of the conversations, or there is no such limit. */
const IS_OF_CONVERSATIONS = `(+$conversationIds IS NULL OR
     (SELECT coalesce(c.moved_to, c.seq) FROM conversations c WHERE c.id = e.conversation_id)
     IN ${CONVERSATION_SEQS})`

const wanted = `FROM events e
   WHERE e.seq > $after AND e.seq <= $last AND e.id NOT GLOB 'evt_test_*'
     AND (+$names IS NULL OR instr(+$names, '"' || e.name || '"') > 0) AND ${IS_OF_LINES}`

const wantedBy = `${wanted} AND ${IS_OF_CONVERSATIONS}`

const listing = `SELECT ${selected(events, columnsOf(events), 'e.')} ${wantedBy} ORDER BY e.seq LIMIT $limit`

/** At most `limit` events after the seq `after`, in commit order, without test events. */
export function listEvents(
  db: Db,
  after: number,
  { names, lineIds, conversationIds }: EventFilter,
  limit: number,
): EventStep {
  const newest = newestEvent(db)?.seq ?? 0
  const last = Math.max(after, Math.min(after + EXAMINED_MAX, newest))
  const found = db.rows<StoredEvent>(listing, {
    after,
    last,
    names: names && JSON.stringify(names),
    lineIds: limitValue(lineIds),
    conversationIds: limitValue(conversationIds),
    limit,
  })
  const upTo = found.length < limit ? last : (found.at(-1)?.seq ?? last)
  return { events: found, upTo, isEnd: upTo >= newest }
}

/** Counts the events after the seq `after` that a replay would send to the webhook, in one step of limited size. */
export function countMissed(db: Db, webhook: StoredWebhook, after: number) {
  const { seq: webhookSeq, events: names, createdAt } = webhook
  const sql = `SELECT count(*) AS count ${wanted} AND e.created_at > $createdAt
     AND (e.body IS NOT NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = e.message_id))
     AND NOT EXISTS (SELECT 1 FROM deliveries d
       WHERE d.event_seq = e.seq AND d.webhook_seq = +$webhookSeq AND d.status <> 'exhausted')`
  const last = after + EXAMINED_MAX
  const found = db.row<{ count: number }>(sql, {
    after,
    last,
    webhookSeq,
    createdAt,
    names: JSON.stringify(names),
    lineIds: limitValue(linesWithin(db, webhook)),
  })
  return { count: found?.count ?? 0, upTo: last }
}

type EventPlace = { readonly seq: number; readonly id: EventId }

export function newestEvent(db: Db): EventPlace | null {
  const sql = 'SELECT seq, id FROM events WHERE seq = (SELECT max(seq) FROM events)'
  return db.row<EventPlace>(sql)
}

/** The event with an id from outside. */
export function findEvent(db: Db, id: string): (EventPlace & Pick<StoredEvent, 'name'>) | null {
  return db.row('SELECT seq, id, name FROM events WHERE id = $id', { id })
}

export function eventAt(db: Db, seq: number): EventPlace | null {
  return db.row<EventPlace>('SELECT seq, id FROM events WHERE seq = $seq', { seq })
}
