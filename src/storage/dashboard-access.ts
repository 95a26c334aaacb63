import { and, desc, eq, gt, isNotNull, lte, ne, notInArray, or } from 'drizzle-orm'

import type { Timestamp } from '../domain/ids.ts'
import {
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

/** Sets the password; the first one begins setup at its `setupStep`. */
export function savePassword(tx: Tx, password: Omit<Owner, 'id'>): void {
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

/** Asked for every request of the dashboard: a session that was ended fails at once. */
export function findSession(db: Db, tokenSha256: Uint8Array): SessionRow | null {
  return db.orm.select().from(sessions).where(eq(sessions.tokenSha256, tokenSha256)).get() ?? null
}

/** Those seen after `after`, the latest first. */
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

/** Notes a use of the session, or the password that was given in it. */
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

/** Deletes every session but one; every one where `kept` is null. */
export function deleteOtherSessions(tx: Tx, kept: Uint8Array | null): void {
  const isOther = kept === null ? undefined : ne(sessions.tokenSha256, kept)
  tx.orm.delete(sessions).where(isOther).run()
  touch(tx)
}

/** Deletes what was last seen at `before` or earlier, and of the rest all but the `count` seen last. */
export function keepLatestSessions(tx: Tx, before: Timestamp, count: number): void {
  const latest = tx.orm
    .select({ tokenSha256: sessions.tokenSha256 })
    .from(sessions)
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
    .limit(count)
  tx.orm
    .delete(sessions)
    .where(or(lte(sessions.lastSeenAt, before), notInArray(sessions.tokenSha256, latest)))
    .run()
}

/** Sessions have no ids that others may see, so it is said of all of them at once. */
function touch(tx: Tx): void {
  tx.changes?.push({ what: 'session', id: 'all' })
}

const NETWORKS_MAX = 100

/** True where the password was given from this network after `after`. */
export function hasSignedIn(db: Db, network: string, after: Timestamp): boolean {
  const isRecent = and(eq(networks.network, network), gt(networks.signedInAt, after))
  return db.orm.select().from(networks).where(isRecent).get() !== undefined
}

/** Notes that the password was given from this network, and forgets those from before `after`. */
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
