// Members: people who read and answer. The owner adds and removes them, and a link lets each choose a password.

import type { Member, MemberChanges, NewMember } from '../api/owner.ts'
import type { Origin, Thing } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp, type MemberId } from '../domain/ids.ts'
import { EVERYTHING, type Permissions } from '../domain/permissions.ts'
import { ALL_LINES } from '../domain/routing.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import {
  findMember,
  getOwner,
  insertMember,
  listMembers,
  memberName,
  updateMember,
  type MemberRow,
} from '../storage/dashboard-access.ts'
import type { Db } from '../storage/database.ts'
import { limitsAsked } from '../storage/sites.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import type { DashboardSessions } from './sessions.ts'
import type { SetupToken } from './setup-link.ts'

/** A member, and the link to choose a first or a new password. */
type Invited = { readonly member: Member; readonly link: SetupToken }

const LINK_LIFE_MS = 3 * DAY_MS
/** Reserved, because password managers save the owner's password under this name. */
const OWNERS_NAME = 'owner'

export function createMembers(core: Core, { sessions }: { readonly sessions: DashboardSessions }) {
  const { db, writer, ids, audit } = core
  const resourceOf = (row: MemberRow) => memberResource(core, sessions, row)
  return {
    list: (): readonly Member[] => listMembers(db).map(resourceOf),
    hasAny: () => listMembers(db).length > 0,
    nameOf: (id: MemberId) => memberName(db, id) ?? '',
    /** The permissions of a member: everything that members may do, on the lines of the member's sites. */
    permissionsOf(id: MemberId): Permissions {
      const member = findMember(db, 'id', id)
      // A member who was just removed sees nothing.
      const limits = { lineIds: null, siteIds: member === null ? [] : member.siteIds }
      return { ...EVERYTHING, limits, lineIds: linesWithin(db, limits) }
    },
    async add(asked: NewMember, origin: Origin): Promise<Invited> {
      const { row, link } = await addMember(core, asked, origin)
      return { member: resourceOf(row), link: { ...link, name: row.name } }
    },
    /** Makes a new link; earlier links become invalid. The password stays until another is chosen with the link. */
    async renewLink(id: string, origin: Origin): Promise<Invited> {
      const { row: changes, ...link } = newLink(core)
      const row = await writer.write((tx) => {
        const member = existing(tx, id)
        updateMember(tx, member.id, changes)
        audit.record(tx, origin, { action: 'member.link_created', about: thing(member.id) })
        return { ...member, ...changes }
      })
      return { member: resourceOf(row), link: { ...link, name: row.name } }
    },
    /** Changes the sites that the member is limited to, at once, also for pages that are open. */
    async limit(id: string, { site_ids: texts }: MemberChanges, origin: Origin): Promise<Member> {
      const row = await writer.write((tx) => {
        const member = existing(tx, id)
        const { siteIds } = limitsAsked(tx, { site_ids: texts }, ALL_LINES)
        updateMember(tx, member.id, { siteIds })
        tx.changes?.push({ what: 'site', id: member.id })
        audit.record(tx, origin, {
          action: 'member.changed',
          about: thing(member.id),
          before: { site_ids: member.siteIds },
          after: { site_ids: siteIds },
        })
        return { ...member, siteIds }
      })
      return resourceOf(row)
    },
    /** Ends all sessions of the member at once. */
    remove: (id: string, origin: Origin) =>
      writer.write((tx) => {
        const { id: memberId, name } = existing(tx, id)
        const removedAt = ids.now()
        updateMember(tx, memberId, { removedAt, passwordHash: null, linkSha256: null })
        sessions.endAllOf(tx, memberId)
        const about = thing(memberId)
        audit.record(tx, origin, { action: 'member.removed', about, before: { name } })
      }),
  }
}

/** Throws `name_taken` if another member or the owner has the name. */
async function addMember(core: Core, asked: NewMember, origin: Origin) {
  const { writer, ids, audit } = core
  const name = asked.name.trim().replaceAll(/\s+/g, ' ')
  const nameKey = keyOf(name)
  if (nameKey === '') throw invalidRequest({ path: 'name', message: 'must not be empty' })
  const { row: linked, ...link } = newLink(core)
  const row = await writer.write((tx) => {
    requireOwner(tx)
    if (nameKey === OWNERS_NAME || findMember(tx, 'nameKey', nameKey) !== null) {
      throw new RelayError('name_taken', `The name ${name} is already in use.`)
    }
    const times = { createdAt: ids.now(), removedAt: null }
    const id = ids.id('mem')
    const { siteIds } = limitsAsked(tx, asked, ALL_LINES)
    const member = { id, name, nameKey, passwordHash: null, siteIds, ...linked, ...times }
    insertMember(tx, member)
    const after = { name, ...(siteIds && { site_ids: siteIds }) }
    audit.record(tx, origin, { action: 'member.created', about: thing(id), after })
    return member
  })
  return { row, link }
}

function newLink({ random, ids }: Core) {
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  const linkMadeAt = ids.now()
  const expiresAt = timestamp(linkMadeAt + LINK_LIFE_MS)
  return { token, expiresAt, row: { linkSha256: sha256(token), linkMadeAt } }
}

function thing(id: MemberId): Thing {
  return { kind: 'member', id }
}

function memberResource(core: Core, sessions: DashboardSessions, row: MemberRow): Member {
  const seen = sessions.list().find(({ memberId }) => memberId === row.id)
  const isOpen = row.linkSha256 !== null && !isLinkOver(core, row)
  return {
    id: row.id,
    name: row.name,
    created_at: isoTime(row.createdAt),
    has_password: row.passwordHash !== null,
    link_expires_at: isOpen ? isoTime(timestamp(row.linkMadeAt + LINK_LIFE_MS)) : null,
    last_seen_at: isoTimeOrNull(seen?.lastSeenAt ?? null),
    ...(row.siteIds && { site_ids: row.siteIds }),
  }
}

function isLinkOver({ clock, ids }: Core, row: MemberRow): boolean {
  return row.linkMadeAt <= clock.ago(LINK_LIFE_MS, ids.now())
}

/** The member whose link has this token; null if the link was used or replaced, or has expired. */
export function memberOfLink(core: Core, db: Db, token: string): MemberRow | null {
  const row = findMember(db, 'linkSha256', sha256(token))
  return row === null || isLinkOver(core, row) ? null : row
}

/** A password and its holder; `memberId` is null for the owner. */
export type Account = { readonly memberId: MemberId | null; readonly passwordHash: string }

/** The account with this name, or the owner's if no name is given; null if there is no such account. */
export function accountNamed(db: Db, name: string | undefined): Account | null {
  const nameKey = accountKey(name)
  if (nameKey === '') return accountOf(db, null)
  const member = findMember(db, 'nameKey', nameKey)
  return member === null ? null : accountOf(db, member.id)
}

/** Returns null if the account has no password. */
export function accountOf(db: Db, memberId: MemberId | null): Account | null {
  const row = memberId === null ? getOwner(db) : findMember(db, 'id', memberId)
  const passwordHash = row?.passwordHash ?? null
  return passwordHash === null ? null : { memberId, passwordHash }
}

/** The normalized name of an account; empty for the owner's. */
export function accountKey(name = ''): string {
  const key = keyOf(name)
  return key === OWNERS_NAME ? '' : key
}

/** Names that look the same or differ only in case have the same key. */
function keyOf(name: string): string {
  const plain = name.normalize('NFKC').replaceAll(/\p{Cf}/gu, '')
  return plain.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}

function requireOwner(db: Db): void {
  if (getOwner(db) !== null) return
  const message = "needs the dashboard's own password first: hookline setup-link"
  throw invalidRequest({ path: 'name', message })
}

function existing(db: Db, id: string): MemberRow {
  const member = findMember(db, 'id', id as MemberId) // Only compared with ids.
  if (member !== null) return member
  throw new RelayError('not_found', 'There is no member with this id.')
}
