import { and, asc, desc, eq, gt, isNotNull, isNull, lte, ne, notInArray, or } from 'drizzle-orm'

import type { MemberId, Timestamp } from '../domain/ids.ts'
import {
  dashboardMembers as members,
  dashboardNetworks as networks,
  dashboardOwner as owner,
  dashboardSessions as sessions,
} from './access-schema.ts'
import type { Db, Tx } from './database.ts'

type Owner = typeof owner.$inferSelect
export type SessionRow = typeof sessions.$inferSelect

const OWNER_ID = 1

export function getOwner(db: Db): Owner | null {
  return db.orm.select().from(owner).where(eq(owner.id, OWNER_ID)).get() ?? null
}

/** Sets the password; the first one also sets `setupStep`, which begins setup. */
export function savePassword(
  tx: Tx,
  password: Pick<Owner, 'passwordHash' | 'passwordSetAt' | 'setupStep'>,
): void {
  const { passwordHash, passwordSetAt } = password
  tx.orm
    .insert(owner)
    .values({ ...password, id: OWNER_ID })
    .onConflictDoUpdate({ target: owner.id, set: { passwordHash, passwordSetAt } })
    .run()
}

export function saveSetupStep(tx: Tx, setupStep: string | null): void {
  tx.orm.update(owner).set({ setupStep }).where(eq(owner.id, OWNER_ID)).run()
}

export type StoredFactor = Pick<Owner, 'totpSealed' | 'totpStep' | 'recoverySha256'>

/** Saves the second factor of the owner; all null removes it. */
export function saveFactor(tx: Tx, factor: Partial<StoredFactor>): void {
  tx.orm.update(owner).set(factor).where(eq(owner.id, OWNER_ID)).run()
}

/** Called for every request of the dashboard, so that an ended session fails at once. */
export function findSession(db: Db, tokenSha256: Uint8Array): SessionRow | null {
  return db.orm.select().from(sessions).where(eq(sessions.tokenSha256, tokenSha256)).get() ?? null
}

/** Sessions used after `after`, the latest first. */
export function listSessions(db: Db, after: Timestamp): readonly SessionRow[] {
  return db.orm
    .select()
    .from(sessions)
    .where(and(gt(sessions.lastSeenAt, after), isNotNull(sessions.pageKeySha256)))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
    .all()
}

export function insertSession(tx: Tx, session: SessionRow): void {
  tx.orm.insert(sessions).values(session).run()
  touch(tx)
}

/** Records that the session was used, or that the password was entered in it. */
export function updateSession(
  tx: Tx,
  tokenSha256: Uint8Array,
  changes: Partial<Pick<SessionRow, 'lastSeenAt' | 'elevatedUntil'>>,
): void {
  tx.orm.update(sessions).set(changes).where(eq(sessions.tokenSha256, tokenSha256)).run()
}

export function deleteSession(tx: Tx, tokenSha256: Uint8Array): void {
  tx.orm.delete(sessions).where(eq(sessions.tokenSha256, tokenSha256)).run()
  touch(tx)
}

/** Deletes every session except `kept`. */
export function deleteOtherSessions(tx: Tx, kept: Uint8Array | null): void {
  const isOther = kept === null ? undefined : ne(sessions.tokenSha256, kept)
  tx.orm.delete(sessions).where(isOther).run()
  touch(tx)
}

/**
 * Deletes sessions last used at `before` or earlier, and all but the `count` last used ones of one person
 * (null: the owner).
 */
export function keepLatestSessions(
  tx: Tx,
  before: Timestamp,
  count: number,
  memberId: MemberId | null,
): void {
  const isTheirs = isOf(memberId)
  const latest = tx.orm
    .select({ tokenSha256: sessions.tokenSha256 })
    .from(sessions)
    .where(isTheirs)
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
    .limit(count)
  tx.orm
    .delete(sessions)
    .where(
      or(lte(sessions.lastSeenAt, before), and(isTheirs, notInArray(sessions.tokenSha256, latest))),
    )
    .run()
}

function isOf(memberId: MemberId | null) {
  return memberId === null ? isNull(sessions.memberId) : eq(sessions.memberId, memberId)
}

export function deleteSessionsOf(tx: Tx, memberId: MemberId): void {
  tx.orm.delete(sessions).where(isOf(memberId)).run()
  touch(tx)
}

/** Reports a change of all sessions at once, because their ids are secret. */
function touch(tx: Tx): void {
  tx.changes?.push({ what: 'session', id: 'all' })
}

const NETWORKS_MAX = 100

export function hasSignedIn(db: Db, network: string, after: Timestamp): boolean {
  const isRecent = and(eq(networks.network, network), gt(networks.signedInAt, after))
  return db.orm.select().from(networks).where(isRecent).get() !== undefined
}

/** Records a sign-in from this network, and forgets those from `after` or earlier. */
export function noteSignIn(
  tx: Tx,
  signIn: { readonly network: string; readonly now: Timestamp; readonly after: Timestamp },
): void {
  const { network, now, after } = signIn
  tx.orm
    .insert(networks)
    .values({ network, signedInAt: now })
    .onConflictDoUpdate({ target: networks.network, set: { signedInAt: now } })
    .run()
  const latest = tx.orm
    .select({ network: networks.network })
    .from(networks)
    .orderBy(desc(networks.signedInAt))
    .limit(NETWORKS_MAX)
  tx.orm
    .delete(networks)
    .where(or(lte(networks.signedInAt, after), notInArray(networks.network, latest)))
    .run()
}

export type MemberRow = typeof members.$inferSelect

/** Members that aren't removed, oldest first. */
export function listMembers(db: Db): readonly MemberRow[] {
  return db.orm
    .select()
    .from(members)
    .where(isNull(members.removedAt))
    .orderBy(asc(members.createdAt))
    .all()
}

/** The member with this value in the field, unless removed. */
export function findMember<F extends 'id' | 'nameKey' | 'linkSha256'>(
  db: Db,
  field: F,
  value: NonNullable<MemberRow[F]>,
): MemberRow | null {
  const isIt = and(isNull(members.removedAt), eq(members[field], value))
  return db.orm.select().from(members).where(isIt).get() ?? null
}

/** The name of a member, even of a removed one. */
export function memberName(db: Db, id: string): string | null {
  const isIt = eq(members.id, id as MemberId) // Only compared with stored ids.
  return db.orm.select({ name: members.name }).from(members).where(isIt).get()?.name ?? null
}

export function insertMember(tx: Tx, member: MemberRow): void {
  tx.orm.insert(members).values(member).run()
  tx.changes?.push({ what: 'member', id: member.id })
}

export function updateMember(
  tx: Tx,
  id: MemberId,
  changes: Partial<Omit<MemberRow, 'id' | 'name' | 'nameKey' | 'createdAt'>>,
): void {
  tx.orm.update(members).set(changes).where(eq(members.id, id)).run()
  tx.changes?.push({ what: 'member', id })
}
