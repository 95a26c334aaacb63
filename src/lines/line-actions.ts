import type { PhoneLine } from '../api/phone-lines.ts'
import type { Origin } from '../domain/audit.ts'
import { utcDayOf } from '../domain/contact-limit.ts'
import type { LineId } from '../domain/ids.ts'
import { contactUsage } from '../storage/contacts.ts'
import type { Db } from '../storage/database.ts'
import { listNotRelayed } from '../storage/intake-records.ts'
import type { LineSettings } from '../storage/lines.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { LineSnapshot } from './line-snapshot.ts'
import { phoneLineResource } from './resource.ts'
import type { LineSupervisor } from './supervisor.ts'

type Tools = {
  readonly db: Db
  readonly stamps: LogicalClock
  readonly lines: LineSupervisor
  /** The limit of a line was changed: what waits for it may go. */
  readonly onLimit: (id: LineId) => Promise<void>
  /** A line was deleted: what waits on it will never go. */
  readonly onDeleted: () => Promise<void>
}

/** Lines as the API tells and changes them. */
export function createLineActions({ db, stamps, lines, onLimit, onDeleted }: Tools) {
  const told = (live: LineSnapshot): PhoneLine => {
    const { reserved, spent } = contactUsage(db, live.line.id, utcDayOf(stamps.now()))
    const notRelayed = listNotRelayed(db, live.line.id)
    return phoneLineResource(live, { newContactsToday: reserved + spent, notRelayed })
  }
  return {
    list: () => lines.lines().map(told),
    async patch(id: string, changes: Partial<LineSettings>, origin: Origin): Promise<PhoneLine> {
      const live = await lines.patch(id, changes, origin)
      if (changes.dailyContactLimit !== undefined) await onLimit(live.line.id)
      return told(lines.find(id) ?? live)
    },
    async remove(id: string, origin: Origin): Promise<void> {
      await lines.remove(id, origin)
      await onDeleted()
    },
    async adopt(id: string, from: string, origin: Origin): Promise<PhoneLine> {
      const live = await lines.adopt(id, from, origin)
      await onDeleted()
      return told(live)
    },
  }
}
