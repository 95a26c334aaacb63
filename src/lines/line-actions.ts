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
import { siteOfLine } from '../storage/sites.ts'
import { phoneLineResource, type LineSnapshot } from './line-state.ts'
import type { Sites } from './sites.ts'
import type { LineSupervisor } from './supervisor.ts'

/** `siteId` moves the line to that site, or out of its site if it is null. */
type LineChanges = Partial<LineSettings> & { readonly siteId?: string | null }

export function createLineActions(
  { db, ids }: Core,
  given: {
    readonly days: Days
    readonly lines: LineSupervisor
    readonly sites: Pick<Sites, 'moveLine'>
    /** Called after a line's limit or quiet hours changed: waiting messages may now be allowed. */
    readonly onLimits: (id: LineId) => Promise<void>
    /** Called after a line was deleted, replaced or moved: messages queued on it need another line. */
    readonly onDeleted: () => Promise<void>
  },
) {
  const { days, lines, sites, onLimits, onDeleted } = given
  const { admin } = lines
  const resourceOf = (snapshot: LineSnapshot): PhoneLine => {
    const { reserved, spent } = contactUsage(
      db,
      snapshot.line.id,
      days.of(ids.now(), snapshot.line.id),
    )
    const notRelayed = listNotRelayed(db, snapshot.line.id)
    const nameOf = (box: BoxId) => findBox(db, box)?.name ?? box
    const siteId = siteOfLine(db, snapshot.line.id)
    const newContactsToday = reserved + spent
    return phoneLineResource(snapshot, { newContactsToday, notRelayed, nameOf, siteId })
  }
  return {
    list: () => lines.lines().map(resourceOf),
    async patch(id: string, { siteId, ...changes }: LineChanges, origin: Origin) {
      const snapshot = await admin.patch(id, changes, origin, (tx, lineId) => {
        if (siteId !== undefined) sites.moveLine(tx, lineId, siteId)
      })
      const { dailyContactLimit, quietHours } = changes
      const limits = [siteId, dailyContactLimit, quietHours]
      if (limits.some((one) => one !== undefined)) await onLimits(snapshot.line.id)
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
