// Sites of lines, and limits that name them. `linesWithin` in `credentials.ts` returns what a limit allows.

import { asc, eq } from 'drizzle-orm'

import { invalidRequest, type RelayError } from '../domain/errors.ts'
import type { LineId, SiteId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { ALL_LINES, includesLine, type LineLimits } from '../domain/routing.ts'
import { isLive, linesWithin } from './credentials.ts'
import type { Db, Tx } from './database.ts'
import { sites } from './line-schema.ts'
import { linesNamed, listLines } from './lines.ts'

export type Site = Readonly<typeof sites.$inferSelect>

export function listSites(db: Db): readonly Site[] {
  return db.orm.select().from(sites).orderBy(asc(sites.position), asc(sites.seq)).all()
}

export function findSite(db: Db, by: 'id' | 'nameKey', value: string): Site | null {
  const isIt = by === 'id' ? eq(sites.id, value as SiteId) : eq(sites.nameKey, value) // Only compared.
  return db.orm.select().from(sites).where(isIt).get() ?? null
}

/** The site of a line, even of a deleted one; null if it has none. */
export function siteOfLine(db: Db, id: string): SiteId | null {
  const sql = 'SELECT s.id FROM lines l JOIN sites s ON s.seq = l.site_seq WHERE l.id = $id'
  return db.row<Pick<Site, 'id'>>(sql, { id })?.id ?? null
}

/** The sites that a caller names; null if one isn't a site within its limit. */
function sitesNamed(
  db: Db,
  texts: readonly string[],
  limit: readonly SiteId[] | null,
): readonly SiteId[] | null {
  const known = listSites(db).flatMap(({ id }) => (limit === null || limit.includes(id) ? id : []))
  const found = known.filter((id) => texts.includes(id))
  return texts.every((text) => found.some((id) => id === text)) ? found : null
}

/**
 * The lines and sites that a request names, each within its author's own. If it leaves one of them out, the author's
 * limit is used, so that wherever a line moves, the result never reaches further than its author.
 */
export function limitsAsked(
  db: Db,
  asked: {
    readonly phone_line_ids?: readonly string[] | null | undefined
    readonly site_ids?: readonly string[] | null | undefined
  },
  own: LineLimits,
): LineLimits {
  const { phone_line_ids: lines = null, site_ids: sites = null } = asked
  const lineIds = lines === null ? own.lineIds : linesNamed(db, lines, linesWithin(db, own))
  const siteIds = sites === null ? own.siteIds : sitesNamed(db, sites, own.siteIds)
  if (lines !== null && lineIds === null) throw unknownIn('phone_line_ids', 'phone lines')
  if (sites !== null && siteIds === null) throw unknownIn('site_ids', 'sites')
  return { lineIds, siteIds }
}

function unknownIn(path: string, things: string): RelayError {
  return invalidRequest({ path, message: `must be ids of ${things}` })
}

/** The lines that a new key may use. */
export function linesOfKey(
  db: Db,
  made: { readonly phone_line_ids?: readonly string[]; readonly site_ids?: readonly string[] },
): readonly Line[] {
  const limit = linesWithin(db, limitsAsked(db, made, ALL_LINES))
  return listLines(db).filter(({ id }) => includesLine(limit, id))
}

export function insertSite(tx: Tx, site: Omit<Site, 'seq'>): void {
  tx.orm.insert(sites).values(site).run()
  touch(tx, site.id)
}

export function updateSite(tx: Tx, id: SiteId, changes: Partial<Omit<Site, 'seq' | 'id'>>): void {
  const isIt = eq(sites.id, id)
  if (Object.keys(changes).length > 0) tx.orm.update(sites).set(changes).where(isIt).run()
  touch(tx, id)
}

/** Moves a line to a site, or to none. */
export function assignLine(tx: Tx, lineId: LineId, site: Pick<Site, 'id' | 'seq'> | null): void {
  const sql = 'UPDATE lines SET site_seq = $seq WHERE id = $lineId'
  tx.execute(sql, { lineId, seq: site?.seq ?? null })
  // Members who are limited to sites must read everything again.
  touch(tx, site?.id ?? 'none')
}

/** Deletes a site that nothing is limited to. Its lines then have no site. */
export function deleteSite(tx: Tx, { id, seq }: Pick<Site, 'id' | 'seq'>): void {
  tx.execute('UPDATE lines SET site_seq = NULL WHERE site_seq = $seq', { seq })
  tx.orm.delete(sites).where(eq(sites.id, id)).run()
  touch(tx, id)
}

const usersOf = `SELECT 'key' AS kind, id, coalesce(name, id) AS name FROM credentials
     WHERE kind = 'key' AND ${isLive('credentials')}
     AND EXISTS (SELECT 1 FROM json_each(site_ids) WHERE value = $id)
   UNION ALL SELECT 'webhook', id, coalesce(description, id) FROM webhooks WHERE deleted_at IS NULL
     AND EXISTS (SELECT 1 FROM json_each(site_ids) WHERE value = $id)
   UNION ALL SELECT 'member', id, name FROM dashboard_members WHERE removed_at IS NULL
     AND EXISTS (SELECT 1 FROM json_each(site_ids) WHERE value = $id)
   UNION ALL SELECT 'alert_rule', cause, cause FROM alert_rules
     WHERE EXISTS (SELECT 1 FROM json_each(site_ids) WHERE value = $id)`

/** The users of a site, which are limited to it: keys in use, webhooks, members and rules of alerts. */
export function usersOfSite(db: Db, id: SiteId, now: number) {
  return db.rows<Readonly<Record<'kind' | 'id' | 'name', string>>>(usersOf, { id, now })
}

function touch(tx: Tx, id: string): void {
  tx.changes?.push({ what: 'site', id })
}
