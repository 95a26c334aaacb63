import { sql } from 'drizzle-orm'

import {
  derivedId,
  type ConversationId,
  type LineId,
  type MessageId,
  type Timestamp,
} from '../domain/ids.ts'
import type { MessageChange } from '../domain/message-extras.ts'
import type { Receipt } from '../domain/message.ts'
import type { NotRelayedKind } from '../domain/not-relayed.ts'
import { sha256 } from '../system/hash.ts'
import type { Db, Tx } from './database.ts'
import {
  knownGuids,
  notRelayed,
  rejectedEvents,
  waitingChanges,
  waitingReceipts,
} from './schema.ts'
import { columnsOf, inserted, selected, type RawRow, type Values } from './statement.ts'

/** The message that a line's guid belongs to. Guids are kept forever, even if the message is deleted. */
export function messageIdOfGuid(db: Db, lineId: LineId, guid: string): MessageId | null {
  const sql = 'SELECT message_id AS id FROM known_guids WHERE line_id = $lineId AND guid = $guid'
  return db.row<{ id: MessageId }>(sql, { lineId, guid })?.id ?? null
}

const insertion = `INSERT INTO known_guids ${inserted(knownGuids)} ON CONFLICT DO NOTHING`

export function rememberGuid(tx: Tx, lineId: LineId, guid: string, messageId: MessageId): void {
  tx.execute(insertion, { lineId, guid, messageId })
}

/** Stores a guid with an id that no message has, so that its message is never stored. */
export function ignoreGuid(tx: Tx, lineId: LineId, guid: string, at: Timestamp): void {
  rememberGuid(tx, lineId, guid, derivedId('msg', at, sha256(`${lineId}\0${guid}`)))
}

export function keepReceipt(tx: Tx, lineId: LineId, receipt: Receipt, now: Timestamp): void {
  const service = sql`coalesce(excluded.service, service)`
  tx.orm
    .insert(waitingReceipts)
    .values({ lineId, ...receipt, recordedAt: now })
    .onConflictDoUpdate({ target: RECEIPT_KEY, set: { service } })
    .run()
}

const RECEIPT_KEY = [waitingReceipts.lineId, waitingReceipts.guid, waitingReceipts.kind]

const waiting = `SELECT ${selected(waitingReceipts)} FROM waiting_receipts
   WHERE line_id = $lineId AND guid = $guid`

/** Removes and returns the receipts that came before their guid, oldest first. */
export function takeReceipts(tx: Tx, lineId: LineId, guid: string): readonly Receipt[] {
  const rows = tx.rows<RawRow<typeof waitingReceipts>>(waiting, { lineId, guid })
  if (rows.length === 0) return []
  const sql = 'DELETE FROM waiting_receipts WHERE line_id = $lineId AND guid = $guid'
  tx.execute(sql, { lineId, guid })
  return rows
    .toSorted((a, b) => a.at - b.at || a.recordedAt - b.recordedAt)
    .map(({ kind, at, reason, service }) => {
      return { guid, kind, at, reason, service: service ?? undefined }
    })
}

export type WaitingChange = {
  readonly lineId: LineId
  /** The conversation of its group; null for a direct message. */
  readonly conversationId: ConversationId | null
  readonly change: MessageChange
}

export function keepChange(tx: Tx, waiting: WaitingChange, now: Timestamp): void {
  const { lineId, conversationId, change } = waiting
  const body = JSON.stringify({ conversationId, change })
  const row = { lineId, guid: change.targetGuid, body, recordedAt: now }
  tx.orm.insert(waitingChanges).values(row).run()
}

/** Removes and returns the changes that came before their message, in order. */
export function takeChanges(tx: Tx, lineId: LineId, guid: string): readonly WaitingChange[] {
  return takeOut(tx, 'line_id = +$lineId AND guid = +$guid', { lineId, guid })
}

/** Removes and returns the changes that were stored at `until` or earlier. */
export function takeOldChanges(tx: Tx, until: Timestamp): readonly WaitingChange[] {
  return takeOut(tx, 'recorded_at <= $until', { until })
}

function takeOut(tx: Tx, condition: string, values: Values): readonly WaitingChange[] {
  const sql = `SELECT seq, line_id AS lineId, body FROM waiting_changes
    WHERE ${condition} ORDER BY seq`
  const rows = tx.rows<{ seq: number; lineId: LineId; body: string }>(sql, values)
  return rows.map(({ seq, lineId, body }) => {
    tx.execute('DELETE FROM waiting_changes WHERE seq = $seq', { seq })
    return { lineId, ...(JSON.parse(body) as Omit<WaitingChange, 'lineId'>) } // `keepChange` wrote it.
  })
}

export function changesWaitSince(db: Db): Timestamp | null {
  const sql = 'SELECT min(recorded_at) AS at FROM waiting_changes'
  return db.row<{ at: Timestamp | null }>(sql)?.at ?? null
}

/** The reason for rejecting a message whose sender is a name. Unlike with other reasons, the message is stored. */
export const NAMED = 'sender_is_a_name'

/** Records a device event that intake refused, or a message that can't be answered, for a finding. */
export function rejectEvent(tx: Tx, lineId: LineId, reason: string, now: Timestamp): void {
  const row = { lineId, reason: reason.slice(0, 500), recordedAt: now }
  tx.orm.insert(rejectedEvents).values(row).run()
}

type Rejected = {
  readonly lineId: LineId
  /** Null if intake refused the event. */
  readonly reason: typeof NAMED | null
  readonly count: number
}

/** Rejected events by line: those whose sender is a name, and all others. Retention deletes them after 30 days. */
export function countRejected(db: Db): readonly Rejected[] {
  const text = `SELECT line_id AS lineId, CASE reason WHEN $named THEN reason END AS reason,
                  count(*) AS count
                FROM rejected_events GROUP BY 1, 2`
  return db.rows<Rejected>(text, { named: NAMED })
}

export type NotRelayedCount = Omit<typeof notRelayed.$inferSelect, 'lineId'>

/** Counts one more message that wasn't relayed. The caller makes sure, by the guid, that none is counted twice. */
export function countNotRelayed(tx: Tx, lineId: LineId, kind: NotRelayedKind, now: Timestamp) {
  const sql = `INSERT INTO not_relayed (line_id, kind, count, since, last_at)
   VALUES ($lineId, $kind, 1, $now, $now)
   ON CONFLICT DO UPDATE SET count = count + 1, last_at = $now`
  tx.execute(sql, { lineId, kind, now })
  tx.changes?.push({ what: 'line', id: lineId })
}

const reading = `SELECT ${selected(notRelayed, columnsOf(notRelayed, ['lineId']))} FROM not_relayed
   WHERE line_id = $lineId ORDER BY kind`

export function listNotRelayed(db: Db, lineId: LineId): readonly NotRelayedCount[] {
  return db.rows<NotRelayedCount>(reading, { lineId })
}
