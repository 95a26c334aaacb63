import type { LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { Receipt } from '../domain/message.ts'
import type { Rejection, NotRelayedKind } from '../domain/not-relayed.ts'
import type { Db, Tx } from './database.ts'
import { prepared, type Values } from './statement.ts'

const byGuid = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId }, [Values]>(
    'SELECT message_id AS id FROM known_guids WHERE line_id = $lineId AND guid = $guid',
  ),
)

/** The message that a line's guid belongs to: kept for ever, also when the message is gone. */
export function messageIdOfGuid(db: Db, lineId: LineId, guid: string): MessageId | null {
  return byGuid(db).get({ lineId, guid })?.id ?? null
}

const insertion = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO known_guids (line_id, guid, message_id) VALUES ($lineId, $guid, $messageId)
     ON CONFLICT DO NOTHING`,
  ),
)

export function rememberGuid(tx: Tx, lineId: LineId, guid: string, messageId: MessageId): void {
  insertion(tx).run({ lineId, guid, messageId })
}

/** Keeps a receipt whose guid nobody knows yet. */
export function keepReceipt(tx: Tx, lineId: LineId, receipt: Receipt, now: Timestamp): void {
  tx.sqlite
    .query(
      `INSERT INTO waiting_receipts (line_id, guid, kind, at, reason, service, recorded_at)
       VALUES ($lineId, $guid, $kind, $at, $reason, $service, $now)
       ON CONFLICT DO UPDATE SET service = coalesce(excluded.service, service)`,
    )
    .run({ lineId, ...receipt, service: receipt.service ?? null, now })
}

type WaitingReceipt = Omit<Receipt, 'guid' | 'service'> & {
  readonly service: string | null
  readonly recordedAt: number
}

const waiting = prepared(({ sqlite }) =>
  sqlite.prepare<WaitingReceipt, [Values]>(
    `SELECT kind, at, reason, service, recorded_at AS recordedAt FROM waiting_receipts
     WHERE line_id = $lineId AND guid = $guid`,
  ),
)

/** The receipts that came before their guid did, oldest first; they are taken out. */
export function takeReceipts(tx: Tx, lineId: LineId, guid: string): readonly Receipt[] {
  const rows = waiting(tx).all({ lineId, guid })
  if (rows.length === 0) return []
  tx.sqlite
    .query('DELETE FROM waiting_receipts WHERE line_id = $lineId AND guid = $guid')
    .run({ lineId, guid })
  return rows
    .toSorted((a, b) => a.at - b.at || a.recordedAt - b.recordedAt)
    .map(({ kind, at, reason, service }) => ({
      guid,
      kind,
      at,
      reason,
      service: service ?? undefined,
    }))
}

/** Notes what intake refused, so that it is seen. */
export function rejectEvent(tx: Tx, lineId: LineId, reason: string, now: Timestamp): void {
  tx.sqlite
    .query(
      `INSERT INTO rejected_events (line_id, reason, recorded_at)
       VALUES ($lineId, $reason, $now)`,
    )
    .run({ lineId, reason: reason.slice(0, 500), now })
}

type Rejected = {
  readonly lineId: LineId
  /** The driver's reason; null for what intake refused. */
  readonly reason: Rejection | null
  readonly count: number
}

/** Rejected events of the last 30 days, by line and reason. */
export function countRejected(db: Db): readonly Rejected[] {
  return db.sqlite
    .query<Rejected, [Values]>(
      `SELECT line_id AS lineId, CASE reason WHEN $named THEN reason END AS reason,
              count(*) AS count
       FROM rejected_events GROUP BY 1, 2`,
    )
    .all({ named: 'sender_is_a_name' satisfies Rejection })
}

/** Messages of one kind that a line did not relay. */
export type NotRelayedCount = {
  readonly kind: NotRelayedKind
  readonly count: number
  readonly since: Timestamp
  readonly lastAt: Timestamp
}

const counting = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO not_relayed (line_id, kind, count, since, last_at)
     VALUES ($lineId, $kind, 1, $now, $now)
     ON CONFLICT DO UPDATE SET count = count + 1, last_at = $now`,
  ),
)

/** Counts one more. The caller keeps a message from being counted twice, by its guid. */
export function countNotRelayed(
  tx: Tx,
  lineId: LineId,
  kind: NotRelayedKind,
  now: Timestamp,
): void {
  counting(tx).run({ lineId, kind, now })
  tx.changes?.push({ what: 'line', id: lineId })
}

const reading = prepared(({ sqlite }) =>
  sqlite.prepare<NotRelayedCount, [Values]>(
    `SELECT kind, count, since, last_at AS lastAt FROM not_relayed WHERE line_id = $lineId
     ORDER BY kind`,
  ),
)

/** The counts of a line by kind. */
export function listNotRelayed(db: Db, lineId: LineId): readonly NotRelayedCount[] {
  return reading(db).all({ lineId })
}
