import type { Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { prepared, type Values } from './statement.ts'

export type DashboardOwner = {
  readonly passwordHash: string
  /** Next step of setup; null once it is done. */
  readonly setupStep: string | null
}

/** The owner of the relay; null until a password is set. */
export function getOwner(db: Db): DashboardOwner | null {
  return db.sqlite
    .query<DashboardOwner, []>(
      `SELECT password_hash AS passwordHash, setup_step AS setupStep FROM dashboard_owner
       WHERE id = 1`,
    )
    .get()
}

/** Sets the password; the first one begins setup at `firstStep`. */
export function savePassword(
  tx: Tx,
  password: {
    readonly passwordHash: string
    readonly firstStep: string
    readonly now: Timestamp
  },
): void {
  tx.sqlite
    .query<null, [Values]>(
      `INSERT INTO dashboard_owner (id, password_hash, password_set_at, setup_step)
       VALUES (1, $passwordHash, $now, $firstStep)
       ON CONFLICT DO UPDATE SET password_hash = $passwordHash, password_set_at = $now`,
    )
    .run({ ...password })
}

export function saveSetupStep(tx: Tx, step: string | null): void {
  tx.sqlite
    .query<null, [Values]>('UPDATE dashboard_owner SET setup_step = $step WHERE id = 1')
    .run({ step })
}

export type SessionRow = {
  readonly lastSeenAt: Timestamp
  readonly elevatedUntil: Timestamp
  /** Null for a session from before there were page keys. */
  readonly pageKeySha256: Uint8Array | null
}

const byToken = prepared(({ sqlite }) =>
  sqlite.prepare<SessionRow, [Values]>(
    `SELECT last_seen_at AS lastSeenAt, elevated_until AS elevatedUntil,
            page_key_sha256 AS pageKeySha256
     FROM dashboard_sessions WHERE token_sha256 = $tokenSha256`,
  ),
)

/** Asked for every request of the dashboard: a session that was ended fails at once. */
export function findSession(db: Db, tokenSha256: Uint8Array): SessionRow | null {
  return byToken(db).get({ tokenSha256 })
}

export type ListedSession = {
  readonly tokenSha256: Uint8Array
  readonly createdAt: Timestamp
  readonly lastSeenAt: Timestamp
}

/** Those seen after `after`, the latest first. */
export function listSessions(db: Db, after: Timestamp): readonly ListedSession[] {
  return db.sqlite
    .query<ListedSession, [Values]>(
      `SELECT token_sha256 AS tokenSha256, created_at AS createdAt, last_seen_at AS lastSeenAt
       FROM dashboard_sessions
       WHERE last_seen_at > $after AND page_key_sha256 IS NOT NULL
       ORDER BY last_seen_at DESC, created_at DESC`,
    )
    .all({ after })
}

export function insertSession(
  tx: Tx,
  session: {
    readonly tokenSha256: Uint8Array
    readonly pageKeySha256: Uint8Array
    readonly now: Timestamp
    readonly elevatedUntil: Timestamp
  },
): void {
  tx.sqlite
    .query<null, [Values]>(
      `INSERT INTO dashboard_sessions
         (token_sha256, created_at, last_seen_at, elevated_until, page_key_sha256)
       VALUES ($tokenSha256, $now, $now, $elevatedUntil, $pageKeySha256)`,
    )
    .run({ ...session })
  touch(tx)
}

export function markSeen(tx: Tx, tokenSha256: Uint8Array, now: Timestamp): void {
  tx.sqlite
    .query<null, [Values]>(
      'UPDATE dashboard_sessions SET last_seen_at = $now WHERE token_sha256 = $tokenSha256',
    )
    .run({ tokenSha256, now })
}

export function elevateSession(tx: Tx, tokenSha256: Uint8Array, until: Timestamp): void {
  tx.sqlite
    .query<null, [Values]>(
      'UPDATE dashboard_sessions SET elevated_until = $until WHERE token_sha256 = $tokenSha256',
    )
    .run({ tokenSha256, until })
}

export function deleteSession(tx: Tx, tokenSha256: Uint8Array): void {
  tx.sqlite
    .query<null, [Values]>('DELETE FROM dashboard_sessions WHERE token_sha256 = $tokenSha256')
    .run({ tokenSha256 })
  touch(tx)
}

/** Deletes every session but one; every one where `kept` is null. */
export function deleteOtherSessions(tx: Tx, kept: Uint8Array | null): void {
  tx.sqlite
    .query<null, [Values]>('DELETE FROM dashboard_sessions WHERE token_sha256 IS NOT $kept')
    .run({ kept })
  touch(tx)
}

/** Deletes what was last seen at `before` or earlier, and of the rest all but the `count` seen last. */
export function keepLatestSessions(tx: Tx, before: Timestamp, count: number): void {
  tx.sqlite
    .query<null, [Values]>(
      `DELETE FROM dashboard_sessions WHERE last_seen_at <= $before OR token_sha256 NOT IN (
         SELECT token_sha256 FROM dashboard_sessions
         ORDER BY last_seen_at DESC, created_at DESC LIMIT $count)`,
    )
    .run({ before, count })
}

/** Sessions have no ids that others may see, so it is said of all of them at once. */
function touch(tx: Tx): void {
  tx.changes?.push({ what: 'session', id: 'all' })
}

/** Networks that are remembered, those that signed in last. */
const NETWORKS_MAX = 100

/** True where the password was given from this network after `after`. */
export function hasSignedIn(db: Db, network: string, after: Timestamp): boolean {
  const found = db.sqlite
    .query<{ network: string }, [Values]>(
      `SELECT network FROM dashboard_networks
       WHERE network = $network AND signed_in_at > $after`,
    )
    .get({ network, after })
  return found !== null
}

/** Notes that the password was given from this network, and forgets those from before `after`. */
export function noteSignIn(
  tx: Tx,
  signIn: { readonly network: string; readonly now: Timestamp; readonly after: Timestamp },
): void {
  const { network, now, after } = signIn
  tx.sqlite
    .query<null, [Values]>(
      `INSERT INTO dashboard_networks (network, signed_in_at) VALUES ($network, $now)
       ON CONFLICT DO UPDATE SET signed_in_at = $now`,
    )
    .run({ network, now })
  tx.sqlite
    .query<null, [Values]>(
      `DELETE FROM dashboard_networks WHERE signed_in_at <= $after OR network NOT IN (
         SELECT network FROM dashboard_networks ORDER BY signed_in_at DESC LIMIT $max)`,
    )
    .run({ after, max: NETWORKS_MAX })
}
