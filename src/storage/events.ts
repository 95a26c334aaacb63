import type {
  ConversationId,
  DeliveryId,
  EventId,
  LineId,
  MessageId,
  Timestamp,
  WebhookId,
} from '../domain/ids.ts'
import type { DeliveryStatus, EventName } from '../domain/webhook.ts'
import type { Db, Tx } from './database.ts'
import { notesIn, type Note, type NotesRow, type UntoldEvent } from './late-notes.ts'
import { firstSeqSince } from './moments.ts'
import { recentRows, type SentEvent } from './recent-rows.ts'
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
export type ReplayableEvent = Note & {
  readonly isUntold: boolean
  /** Null where it is untold: its message knows. */
  readonly conversationId: ConversationId | null
  /** The same. */
  readonly lineId: LineId | null
  readonly deliveryId: DeliveryId | null
  readonly deliveryStatus: DeliveryStatus | null
}

type Values = Record<string, string | number | null>

/** Writes the event down and gives its seq, or null where that event is known already. */
export function insertEvent(tx: Tx, event: NewEvent): number | null {
  const seq = nextSeq(tx)
  return tellEvent(tx, seq, event) ? seq : null
}

/** Writes down that the event was, for webhooks that may come. */
export function noteUntoldEvent(tx: Tx, event: UntoldEvent): void {
  const { name, messageId, createdAt } = event
  tx.late.notes.add({ seq: nextSeq(tx), name, messageId, createdAt })
}

/** Makes an untold event one that webhooks get, at its place; whether it was none of those already. */
export function tellEvent(tx: Tx, seq: number, event: NewEvent): boolean {
  return insertion(tx).run({ ...event, seq }).changes > 0
}

const insertion = preparedBeside(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO events (seq, id, name, message_id, conversation_id, body, created_at)
     VALUES ($seq, $id, $name, $messageId, $conversationId, $body, $createdAt)
     ON CONFLICT (id) DO NOTHING`,
  ),
)

const NOTES = 'SELECT seq, created_at AS createdAt, events FROM untold_events'

const lastSeqs = preparedBeside(({ sqlite }) => {
  const told = sqlite.query<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM events').get()
  const row = sqlite
    .query<NotesRow, []>(`${NOTES} WHERE seq = (SELECT max(seq) FROM untold_events)`)
    .get()
  const untold = row === null ? null : notesIn(row).at(-1)
  return { last: Math.max(told?.seq ?? 0, untold?.seq ?? 0) }
})

/** Counted in memory: a work that is rolled back leaves a gap, which nobody minds. */
function nextSeq(tx: Tx): number {
  const counter = lastSeqs(tx)
  counter.last += 1
  return counter.last
}

/** What is sent of an event; null where it is not kept. */
export function readEvent(db: Db, seq: number): SentEvent | null {
  return recentRows(db).events.getOrRead(seq, () => reading(db).get({ seq }))
}

const reading = prepared((db) =>
  db.sqlite.prepare<SentEvent, [{ seq: number }]>('SELECT id, body FROM events WHERE seq = $seq'),
)

/** The bytes that are signed and sent of an event; null where it is not kept any more. */
export function readEventBody(db: Db, id: EventId): string | null {
  const sql = 'SELECT body FROM events WHERE id = $id'
  return db.sqlite.query<{ body: string }, [{ id: string }]>(sql).get({ id })?.body ?? null
}

/** Where the events of `at` and later begin. */
export function firstEventSince(db: Db, at: Timestamp): number {
  const row = notesFrom(db).get({ seq: firstSeqSince(db, 'untold_events', at) })
  const untold = row === null ? undefined : notesIn(row).find(({ createdAt }) => createdAt >= at)
  return Math.min(firstSeqSince(db, 'events', at), untold?.seq ?? Number.MAX_SAFE_INTEGER)
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
              e.body ->> '$.phone_line_id' AS lineId, e.created_at AS createdAt, d.id AS deliveryId, d.status AS deliveryStatus
       FROM events e LEFT JOIN deliveries d ON d.event_seq = e.seq AND d.webhook_id = $webhookId
       WHERE e.seq >= $fromSeq AND e.message_id IS NOT NULL
       ORDER BY e.seq LIMIT $limit`,
    )
    .all({ webhookId, fromSeq, limit })
  const places = new Set(told.map(({ seq }) => seq))
  const untold = notesSince(db, fromSeq, limit).filter(({ seq }) => !places.has(seq))
  const events = [
    ...told.map((row) => ({ ...row, isUntold: false })),
    ...untold.map((note) => ({ ...note, ...UNTOLD })),
  ]
  return events.toSorted((one, other) => one.seq - other.seq).slice(0, limit)
}

const UNTOLD = {
  isUntold: true,
  conversationId: null,
  lineId: null,
  deliveryId: null,
  deliveryStatus: null,
}

const notesFrom = prepared(({ sqlite }) =>
  sqlite.prepare<NotesRow, [{ readonly seq: number }]>(
    `${NOTES} WHERE seq >= +$seq ORDER BY seq LIMIT 1`,
  ),
)

const rowBefore = prepared(({ sqlite }) =>
  sqlite.prepare<{ seq: number | null }, [{ readonly seq: number }]>(
    'SELECT max(seq) AS seq FROM untold_events WHERE seq <= +$seq',
  ),
)

/** Notes from `fromSeq` on, at least `limit` of them where there are that many; told ones too. */
function notesSince(db: Db, fromSeq: number, limit: number): readonly Note[] {
  const notes: Note[] = []
  // It may be in the midst of a row.
  const start = rowBefore(db).get({ seq: fromSeq })?.seq ?? fromSeq
  let row = notesFrom(db).get({ seq: start })
  while (row !== null && notes.length < limit) {
    notes.push(...notesIn(row).filter(({ seq }) => seq >= fromSeq))
    row = notesFrom(db).get({ seq: row.seq + 1 })
  }
  return notes
}
