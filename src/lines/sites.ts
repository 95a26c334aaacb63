// Sites: the owner groups lines, each group with its own time zone. Limits of keys, webhooks and members name sites, so
// only the owner changes them or moves a line.

import type { NewSite, Site, SiteChanges } from '../api/sites.ts'
import type { Origin, Thing } from '../domain/audit.ts'
import { timeZoneNamed } from '../domain/days.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { LineId, SiteId } from '../domain/ids.ts'
import { ALL_LINES, includesLine, type LineLimits } from '../domain/routing.ts'
import { TIME_ZONE_KIND } from '../domain/setting.ts'
import type { Core } from '../storage/core.ts'
import { linesOfSites, linesWithin } from '../storage/credentials.ts'
import { keepDays } from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  assignLine,
  deleteSite,
  findSite,
  insertSite,
  listSites,
  updateSite,
  usersOfSite,
  type Site as StoredSite,
} from '../storage/sites.ts'
import { isoTime } from '../system/iso-time.ts'

export const SITES_MAX = 200

export function createSites(
  core: Core,
  given: {
    /** Called in the transaction that moves a line: webhooks of sites may no longer get its events. */
    readonly onMoved: (tx: Tx) => void
    /** Called after the day or the quiet hours of a line changed: waiting messages may now be allowed. */
    readonly onLimits: (id: LineId) => Promise<void>
  },
) {
  const { db, writer, ids, audit } = core
  return {
    list: (limits: LineLimits): readonly Site[] => visibleSites(db, limits),
    get(id: string, limits: LineLimits): Site {
      const found = visibleSites(db, limits).find((site) => site.id === id)
      if (found === undefined) throw noSite()
      return found
    },
    async create(asked: NewSite, origin: Origin): Promise<Site> {
      const named = nameIn(asked.name)
      const timeZone = zoneIn(asked.time_zone ?? core.settings.get('time_zone'))
      const id = ids.id('site')
      await writer.write((tx) => {
        const others = listSites(tx)
        if (others.length >= SITES_MAX) {
          throw invalidRequest({ path: '', message: `There are at most ${SITES_MAX} sites.` })
        }
        requireFreeName(tx, named.nameKey, null)
        const position = (others.at(-1)?.position ?? -1) + 1
        insertSite(tx, { id, ...named, position, timeZone, createdAt: ids.now() })
        const after = { name: named.name, time_zone: timeZone }
        audit.record(tx, origin, { action: 'site.created', about: thing(id), after })
      })
      return this.get(id, ALL_LINES)
    },
    async update(id: string, asked: SiteChanges, origin: Origin): Promise<Site> {
      const lines = await writer.write((tx) => updateIn(tx, core, { id, asked, origin }))
      for (const line of lines) await given.onLimits(line)
      return this.get(id, ALL_LINES)
    },
    /** Throws `site_in_use` while something is limited to the site. Its lines have no site afterwards. */
    remove: (id: string, origin: Origin) =>
      writer.write((tx) => {
        const site = requireSite(tx, id)
        requireUnused(tx, site, ids.now())
        const lines = linesOfSites(tx, [site.id])
        keepDays(tx, lines, at(core), () => deleteSite(tx, site))
        const before = { name: site.name, phone_line_ids: lines }
        audit.record(tx, origin, { action: 'site.deleted', about: thing(site.id), before })
      }),
    /** Moves a line to a site, or to none, in the transaction that changes the line. */
    moveLine(tx: Tx, lineId: LineId, siteId: string | null): void {
      const site = siteId === null ? null : findSite(tx, 'id', siteId)
      if (siteId !== null && site === null) {
        throw invalidRequest({ path: 'site_id', message: 'must be the id of a site' })
      }
      keepDays(tx, [lineId], at(core), () => assignLine(tx, lineId, site))
      given.onMoved(tx)
    },
  }
}

export type Sites = ReturnType<typeof createSites>

/** Returns the lines whose day may have changed. */
function updateIn(
  tx: Tx,
  core: Core,
  { id, asked, origin }: { id: string; asked: SiteChanges; origin: Origin },
): readonly LineId[] {
  const site = requireSite(tx, id)
  const { name, time_zone: zone } = asked
  const changes = {
    ...(name !== undefined && nameIn(name)),
    ...(zone !== undefined && { timeZone: zoneIn(zone) }),
  }
  if (changes.nameKey !== undefined) requireFreeName(tx, changes.nameKey, site.id)
  const lines = linesOfSites(tx, [site.id])
  keepDays(tx, lines, at(core), () => updateSite(tx, site.id, changes))
  if (asked.position !== undefined) reorder(tx, site.id, asked.position)
  const after = requireSite(tx, id)
  core.audit.record(tx, origin, {
    action: 'site.changed',
    about: thing(site.id),
    before: auditedFields(site),
    after: auditedFields(after),
  })
  return lines
}

function reorder(tx: Tx, id: SiteId, position: number): void {
  const others = listSites(tx).flatMap((site) => (site.id === id ? [] : site.id))
  const order = [...others.slice(0, position), id, ...others.slice(position)]
  order.forEach((each, place) => updateSite(tx, each, { position: place }))
}

/**
 * The sites that a caller may see: its own if it is limited to sites, and those of its lines if it is limited to
 * lines. Positions count only these, because they would reveal others.
 */
function visibleSites(db: Db, limits: LineLimits): readonly Site[] {
  const { lineIds, siteIds } = limits
  const lines = linesWithin(db, limits)
  const seen = listSites(db).flatMap((site) => {
    if (siteIds !== null && !siteIds.includes(site.id)) return []
    const own = linesOfSites(db, [site.id]).filter((id) => includesLine(lines, id))
    return lineIds !== null && own.length === 0 ? [] : { site, own }
  })
  return seen.map(({ site, own }, position) => ({
    id: site.id,
    name: site.name,
    position,
    time_zone: site.timeZone,
    phone_line_ids: own,
    created_at: isoTime(site.createdAt),
  }))
}

function at({ ids, settings }: Core) {
  return { now: ids.now(), zoneOfRelay: settings.get('time_zone') }
}

function nameIn(text: string): { readonly name: string; readonly nameKey: string } {
  const name = text.trim().replaceAll(/\s+/g, ' ')
  const plain = name.normalize('NFKC').replaceAll(/\p{C}/gu, '')
  if (plain === '') throw invalidRequest({ path: 'name', message: 'must not be empty' })
  return { name, nameKey: plain.toLowerCase() }
}

function zoneIn(text: string): string {
  const zone = timeZoneNamed(text)
  if (zone !== null) return zone
  throw invalidRequest({ path: 'time_zone', message: `must be ${TIME_ZONE_KIND.wanted}` })
}

function requireFreeName(db: Db, nameKey: string, own: SiteId | null): void {
  const other = findSite(db, 'nameKey', nameKey)
  if (other === null || other.id === own) return
  throw new RelayError('name_taken', `There is a site with the name ${other.name}.`)
}

function requireUnused(db: Db, site: StoredSite, now: number): void {
  const users = usersOfSite(db, site.id, now)
  if (users.length === 0) return
  const names = users.map(({ kind, name }) => `the ${kind.replace('_', ' ')} ${name}`).join(', ')
  const message = `The site is a limit of ${names}. Without it, they would see more or nothing: change or end them first.`
  throw new RelayError('site_in_use', message, { details: { used_by: users } })
}

function requireSite(db: Db, id: string): StoredSite {
  const found = findSite(db, 'id', id)
  if (found === null) throw noSite()
  return found
}

function noSite(): RelayError {
  return new RelayError('not_found', 'There is no site with this id.')
}

function thing(id: SiteId): Thing {
  return { kind: 'site', id }
}

function auditedFields({ name, position, timeZone }: StoredSite) {
  return { name, position, time_zone: timeZone }
}
