import type * as api from '../api/messages.ts'
import { utcDayOf } from '../domain/contact-limit.ts'
import { timestamp } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { listMessageDays, type MessageDay } from '../storage/message-days.ts'
import type { Clock } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'

const DAY_MS = 86_400_000

/** The figures of the last `days` UTC days, today's last; a day without messages has zeros. */
export function messageStats(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  days: number,
): readonly api.DayStats[] {
  const today = utcDayOf(clock.now())
  const first = today - days + 1
  const byDay = Map.groupBy(listMessageDays(db, first), ({ day }) => day)
  return Array.from({ length: days }, (_, place) => {
    const lines = byDay.get(first + place) ?? []
    return {
      date: isoTime(timestamp((first + place) * DAY_MS)).slice(0, 'YYYY-MM-DD'.length),
      ...figuresOf(lines),
      lines: lines.map((line) => ({ phone_line_id: line.lineId, ...figuresOf([line]) })),
    }
  })
}

function figuresOf(lines: readonly MessageDay[]): api.MessageFigures {
  const sum = (of: (line: MessageDay) => number) =>
    lines.reduce((total, line) => total + of(line), 0)
  return {
    sent: sum(({ sent }) => sent),
    received: sum(({ received }) => received),
    failed: sum(({ failed }) => failed),
    uncertain: sum(({ uncertain }) => uncertain),
  }
}
