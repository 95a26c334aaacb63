import type { PhoneLine } from '../api/phone-lines.ts'
import type { Origin } from '../domain/audit.ts'
import type { Days } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { BoxId, LineId } from '../domain/ids.ts'
import type { Place } from '../domain/line.ts'
import { findBox, findLiveBox } from '../storage/boxes.ts'
import type { Core } from '../storage/core.ts'
import { contactUsage } from '../storage/daily-contacts.ts'
import type { Db } from '../storage/database.ts'
import { listNotRelayed } from '../storage/intake-records.ts'
import type { LineSettings } from '../storage/lines.ts'
import { phoneLineResource, type LineSnapshot } from './line-state.ts'
import type { LineSupervisor } from './supervisor.ts'

export function createLineActions(
  { db, ids }: Core,
  given: {
    readonly days: Days
    readonly lines: LineSupervisor
    /** Called after a line's limit or quiet hours changed: waiting messages may now be allowed. */
    readonly onLimits: (id: LineId) => Promise<void>
    /** Called after a line was deleted, replaced or moved: messages may wait for it in vain. */
    readonly onDeleted: () => Promise<void>
  },
) {
  const { days, lines, onLimits, onDeleted } = given
  const { admin } = lines
  const resourceOf = (snapshot: LineSnapshot): PhoneLine => {
    const { reserved, spent } = contactUsage(db, snapshot.line.id, days.of(ids.now()))
    const notRelayed = listNotRelayed(db, snapshot.line.id)
    const nameOf = (box: BoxId) => findBox(db, box)?.name ?? box
    return phoneLineResource(snapshot, { newContactsToday: reserved + spent, notRelayed, nameOf })
  }
  return {
    list: () => lines.lines().map(resourceOf),
    async patch(id: string, changes: Partial<LineSettings>, origin: Origin): Promise<PhoneLine> {
      const snapshot = await admin.patch(id, changes, origin)
      const { dailyContactLimit, quietHours } = changes
      if ((dailyContactLimit ?? quietHours) !== undefined) await onLimits(snapshot.line.id)
      return resourceOf(lines.find(id) ?? snapshot)
    },
    async remove(id: string, origin: Origin): Promise<void> {
      await admin.remove(id, origin)
      await onDeleted()
    },
    async adopt(id: string, from: string, origin: Origin): Promise<PhoneLine> {
      const snapshot = await admin.adopt(id, from, origin)
      await onDeleted()
      return resourceOf(snapshot)
    },
    /** `to` is `here`, the name or id of a box, or null to stay. */
    async move(id: string, to: string | null, origin: Origin): Promise<PhoneLine> {
      const moved = await admin.move(id, to === null ? null : placeNamed(db, to), origin)
      await onDeleted()
      return resourceOf(lines.find(id) ?? moved)
    },
    /** Cancels moves to a box that was removed. */
    async stay(box: BoxId, origin: Origin): Promise<void> {
      for (const { line } of lines.lines()) {
        if (line.movesTo === box) await admin.move(line.id, null, origin)
      }
    },
  }
}

function placeNamed(db: Db, text: string): Place {
  if (text === 'here') return text
  const box = findLiveBox(db, text)
  if (box !== null && box.joinedAt !== null) return box.id
  throw invalidRequest({ path: 'to', message: 'must be "here", or the name or id of a box' })
}
