import type { LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { Receipt } from '../domain/message.ts'
import type { Rejection } from '../domain/not-relayed.ts'
import type { Db, Tx } from './database.ts'
import { recentRows } from './recent-rows.ts'
import { preparedBeside } from './statement.ts'

type Values = Record<string, string | number | null>

const byGuid = preparedBeside(({ sqlite }) =>
  sqlite.prepare<{ id: MessageId }, [Values]>(
    'SELECT message_id AS id FROM known_guids WHERE line_id = $lineId AND guid = $guid',
  ),
)

/** The message that a line's guid belongs to: known for good, also when the message is gone. */
export function messageIdOfGuid(db: Db, lineId: LineId, guid: string): MessageId | null {
  const read = () => byGuid(db).get({ lineId, guid })
  return recentRows(db).guids.of(lineId).getOrRead(guid, read)?.id ?? null
}

const insertion = preparedBeside(({ sqlite }) =>
  sqlite.prepare<null, [Values]>(
    `INSERT INTO known_guids (line_id, guid, message_id) VALUES ($lineId, $guid, $messageId)
     ON CONFLICT DO NOTHING`,
  ),
)

export function rememberGuid(tx: Tx, lineId: LineId, guid: string, messageId: MessageId): void {
  const { changes } = insertion(tx).run({ lineId, guid, messageId })
  // Its receipts come next, most of the time.
  if (changes > 0) recentRows(tx).guids.of(lineId).set(guid, { id: messageId })
}

/** Almost always there are none, which every sent message would have to ask for. */
const keptReceipts = preparedBeside(({ sqlite }) => {
  const row = sqlite.query<{ count: number }, []>('SELECT count(*) AS count FROM waiting_receipts')
  return { count: row.get()?.count ?? 0 }
})

/** Keeps a receipt whose guid nobody knows yet. */
export function keepReceipt(tx: Tx, lineId: LineId, receipt: Receipt, now: Timestamp): void {
  keptReceipts(tx).count += 1
  tx.sqlite
    .query(
      `INSERT INTO waiting_receipts (line_id, guid, kind, at, reason, service, recorded_at)
       VALUES ($lineId, $guid, $kind, $at, $reason, $service, $now)
       ON CONFLICT DO UPDATE SET service = coalesce(excluded.service, service)`,
    )
    .run({ lineId, ...receipt, service: receipt.service ?? null, now })
}

type WaitingReceipt = Omit<Receipt, 'guid' | 'service'> & { readonly service: string | null }

const waiting = preparedBeside(({ sqlite }) =>
  sqlite.prepare<WaitingReceipt, [Values]>(
    `SELECT kind, at, reason, service FROM waiting_receipts WHERE line_id = $lineId AND guid = $guid
     ORDER BY at, recorded_at`,
  ),
)

/** The receipts that came before their guid did, oldest first; they are taken out. */
export function takeReceipts(tx: Tx, lineId: LineId, guid: string): readonly Receipt[] {
  if (keptReceipts(tx).count === 0) return []
  const rows = waiting(tx).all({ lineId, guid })
  if (rows.length === 0) return []
  tx.sqlite
    .query('DELETE FROM waiting_receipts WHERE line_id = $lineId AND guid = $guid')
    .run({ lineId, guid })
  return rows.map(({ service, ...row }) => ({ guid, ...row, service: service ?? undefined }))
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
  /** Why, where a driver said so; null for what intake refused. */
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
