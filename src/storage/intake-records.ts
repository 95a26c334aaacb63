import { sql } from 'drizzle-orm'

import type { ConversationId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { MessageChange } from '../domain/message-extras.ts'
import type { Receipt } from '../domain/message.ts'
import type { NotRelayedKind } from '../domain/not-relayed.ts'
import type { Db, Tx } from './database.ts'
import {
  knownGuids,
  notRelayed,
  rejectedEvents,
  waitingChanges,
  waitingReceipts,
} from './schema.ts'
import {
  columnsOf,
  execute,
  getRow,
  getRows,
  inserted,
  selected,
  type RawRow,
} from './statement.ts'

/** The message that a line's guid belongs to: kept for ever, also when the message is gone. */
export function messageIdOfGuid(db: Db, lineId: LineId, guid: string): MessageId | null {
  const sql = 'SELECT message_id AS id FROM known_guids WHERE line_id = $lineId AND guid = $guid'
  return getRow<{ id: MessageId }>(db, sql, { lineId, guid })?.id ?? null
}

const insertion = `INSERT INTO known_guids ${inserted(knownGuids)} ON CONFLICT DO NOTHING`

export function rememberGuid(tx: Tx, lineId: LineId, guid: string, messageId: MessageId): void {
  execute(tx, insertion, { lineId, guid, messageId })
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

/** The receipts that came before their guid did, oldest first; they are taken out. */
export function takeReceipts(tx: Tx, lineId: LineId, guid: string): readonly Receipt[] {
  const rows = getRows<RawRow<typeof waitingReceipts>>(tx, waiting, { lineId, guid })
  if (rows.length === 0) return []
  const sql = 'DELETE FROM waiting_receipts WHERE line_id = $lineId AND guid = $guid'
  execute(tx, sql, { lineId, guid })
  return rows
    .toSorted((a, b) => a.at - b.at || a.recordedAt - b.recordedAt)
    .map(({ kind, at, reason, service }) => {
      return { guid, kind, at, reason, service: service ?? undefined }
    })
}

export type WaitingChange = {
  readonly lineId: LineId
  /** That of its group; null between two. */
  readonly conversationId: ConversationId | null
  readonly change: MessageChange
}

export function keepChange(tx: Tx, waiting: WaitingChange, now: Timestamp): void {
  const { lineId, conversationId, change } = waiting
  const body = JSON.stringify({ conversationId, change })
  const row = { lineId, guid: change.targetGuid, body, recordedAt: now }
  tx.orm.insert(waitingChanges).values(row).run()
}

type WaitingRow = Pick<typeof waitingChanges.$inferSelect, 'seq' | 'lineId' | 'body'>

/** The changes that came before their message did, in their order; they are taken out. */
export function takeChanges(tx: Tx, lineId: LineId, guid: string): readonly WaitingChange[] {
  const sql = `SELECT seq, line_id AS lineId, body FROM waiting_changes
    WHERE line_id = +$lineId AND guid = +$guid ORDER BY seq`
  return takeOut(tx, getRows<WaitingRow>(tx, sql, { lineId, guid }))
}

/** The changes that were kept at `until` or before; they are taken out. */
export function takeOldChanges(tx: Tx, until: Timestamp): readonly WaitingChange[] {
  const sql = `SELECT seq, line_id AS lineId, body FROM waiting_changes
    WHERE recorded_at <= $until ORDER BY seq`
  return takeOut(tx, getRows<WaitingRow>(tx, sql, { until }))
}

function takeOut(tx: Tx, rows: readonly WaitingRow[]): readonly WaitingChange[] {
  return rows.map(({ seq, lineId, body }) => {
    execute(tx, 'DELETE FROM waiting_changes WHERE seq = $seq', { seq })
    return { lineId, ...(JSON.parse(body) as Omit<WaitingChange, 'lineId'>) } // `keepChange` wrote it.
  })
}

export function changesWaitSince(db: Db): Timestamp | null {
  const sql = 'SELECT min(recorded_at) AS at FROM waiting_changes'
  return getRow<{ at: Timestamp | null }>(db, sql)?.at ?? null
}

/** The reason for a message from a name: unlike all else that is noted here, the message is stored. */
export const NAMED = 'sender_is_a_name'

/** Notes what intake refused, and what nobody can answer, so that it is seen. */
export function rejectEvent(tx: Tx, lineId: LineId, reason: string, now: Timestamp): void {
  const row = { lineId, reason: reason.slice(0, 500), recordedAt: now }
  tx.orm.insert(rejectedEvents).values(row).run()
}

type Rejected = {
  readonly lineId: LineId
  /** Null for what intake refused. */
  readonly reason: typeof NAMED | null
  readonly count: number
}

/** Rejected events of the last 30 days, by line and reason. */
export function countRejected(db: Db): readonly Rejected[] {
  const text = `SELECT line_id AS lineId, CASE reason WHEN $named THEN reason END AS reason,
                  count(*) AS count
                FROM rejected_events GROUP BY 1, 2`
  return getRows<Rejected>(db, text, { named: NAMED })
}

export type NotRelayedCount = Omit<typeof notRelayed.$inferSelect, 'lineId'>

/** Counts one more. The caller keeps a message from being counted twice, by its guid. */
export function countNotRelayed(
  tx: Tx,
  lineId: LineId,
  kind: NotRelayedKind,
  now: Timestamp,
): void {
  const sql = `INSERT INTO not_relayed (line_id, kind, count, since, last_at)
   VALUES ($lineId, $kind, 1, $now, $now)
   ON CONFLICT DO UPDATE SET count = count + 1, last_at = $now`
  execute(tx, sql, { lineId, kind, now })
  tx.changes?.push({ what: 'line', id: lineId })
}

const reading = `SELECT ${selected(notRelayed, columnsOf(notRelayed, ['lineId']))} FROM not_relayed
   WHERE line_id = $lineId ORDER BY kind`

export function listNotRelayed(db: Db, lineId: LineId): readonly NotRelayedCount[] {
  return getRows<NotRelayedCount>(db, reading, { lineId })
}
