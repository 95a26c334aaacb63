import type { UtcDay } from '../domain/contact-limit.ts'
import type { LineId } from '../domain/ids.ts'
import type { Db } from './database.ts'

/** Messages of one line that were recorded on one day, by what has become of them until now. */
export type MessageDay = {
  readonly day: UtcDay
  readonly lineId: LineId
  readonly sent: number
  readonly received: number
  readonly failed: number
  readonly uncertain: number
}

/** Every line's days from `firstDay` on, oldest first; a day without messages has no row. */
export function listMessageDays(db: Db, firstDay: UtcDay): readonly MessageDay[] {
  return db.sqlite
    .query<MessageDay, [{ readonly firstDay: number }]>(
      `SELECT d.day, l.id AS lineId, d.sent, d.received, d.failed, d.uncertain
       FROM message_days d JOIN lines l ON l.seq = d.line_seq
       WHERE d.day >= $firstDay ORDER BY d.day, d.line_seq`,
    )
    .all({ firstDay })
}
