import type { LineId, Timestamp } from '../domain/ids.ts'
import type { NotRelayedKind } from '../domain/not-relayed.ts'
import type { Db, Tx } from './database.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number>

/** How many of one kind a line did not relay. */
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
  tx.touched?.push({ what: 'line', id: lineId })
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
