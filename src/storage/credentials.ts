import { and, eq, isNull, sql } from 'drizzle-orm'

import type { Credential, CredentialId, CredentialKind } from '../domain/credential.ts'
import type { BridgeId, KeyId, Timestamp } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { credentials } from './schema.ts'
import {
  assigned,
  columnsOf,
  execute,
  getRow,
  inserted,
  selected,
  type Values,
} from './statement.ts'
import { webhooks } from './webhook-schema.ts'

type Row = typeof credentials.$inferSelect

const SECRET = ['secretSha256', 'hint', 'secretCreatedAt'] as const

/** The secret of a key or the token of a bridge: its hash, and the characters that are shown of it. */
export type StoredSecret = Pick<Row, 'hint' | 'secretCreatedAt'> & {
  readonly secretSha256: Uint8Array
}

/** Columns that a new credential does not have yet. */
const LATER = ['lastUsedAt', 'revokedAt'] as const

/** `number` is that of a bridge, and `key` the value of `X-API-Key`: null for a bridge. */
export type NewCredential = StoredSecret &
  Pick<Row, 'id' | 'kind' | 'name' | 'key' | 'createdBy' | 'createdAt'> & {
    readonly number: string | null
  }

/** A credential in a list, with its position in it. */
export type ListedCredential<K extends CredentialKind> = Credential<K> & { readonly seq: number }

const insertion = `INSERT INTO credentials ${inserted(credentials, columnsOf(credentials, LATER))}`

export function insertCredential(tx: Tx, { number, ...credential }: NewCredential): void {
  execute(tx, insertion, { ...credential, phoneNumber: number })
  if (credential.kind === 'key') touchKey(tx, credential.id)
}

type SecretOfKey = Pick<Row, 'revokedAt'> & {
  readonly id: KeyId
  readonly secretSha256: Uint8Array
}

const byKey = `SELECT ${selected(credentials, ['id', 'secretSha256', 'revokedAt'])} FROM credentials
   WHERE key = $key`

/** Read in every turn that brings requests: another process may have revoked the key. */
export function findKey(db: Db, key: string): SecretOfKey | null {
  return getRow<SecretOfKey>(db, byKey, { key })
}

/** Read for every call of a shortcut: a token that was replaced fails at once. */
export function findBridgeOfToken(db: Db, secretSha256: Uint8Array): BridgeId | null {
  const sql = `SELECT id FROM credentials
   WHERE secret_sha256 = $secretSha256 AND kind = 'bridge' AND revoked_at IS NULL`
  return getRow<{ id: BridgeId }>(db, sql, { secretSha256 })?.id ?? null
}

export function hasKeys({ orm }: Db): boolean {
  return orm.select().from(credentials).where(eq(credentials.kind, 'key')).get() !== undefined
}

type LiveBridge = { readonly key: BridgeId; readonly number: string }

/** The bridges that are not removed: each of them is a line. */
export function listLiveBridges({ sqlite }: Db): readonly LiveBridge[] {
  const sql = `SELECT id AS key, phone_number AS number FROM credentials
               WHERE kind = 'bridge' AND revoked_at IS NULL ORDER BY rowid`
  return sqlite.query<LiveBridge, []>(sql).all()
}

const HIDDEN = ['kind', 'key', 'secretSha256', 'phoneNumber'] as const
const LISTED = `SELECT rowid AS seq, phone_number AS number,
  ${selected(credentials, columnsOf(credentials, HIDDEN))} FROM credentials`

export function getCredential<K extends CredentialKind>(
  { sqlite }: Db,
  kind: K,
  id: string,
): ListedCredential<K> | null {
  const sql = `${LISTED} WHERE id = $id AND kind = $kind`
  return sqlite.query<ListedCredential<K>, [Values]>(sql).get({ id, kind })
}

/** Credentials newest first, the revoked ones too; `before` is the cursor's seq. */
export function listCredentials<K extends CredentialKind>(
  { sqlite }: Db,
  kind: K,
  { limit, before }: { readonly limit: number; readonly before: number | null },
): readonly ListedCredential<K>[] {
  const sql = `${LISTED} WHERE kind = $kind AND rowid < $before ORDER BY rowid DESC LIMIT $limit`
  const values = { kind, limit, before: before ?? Number.MAX_SAFE_INTEGER }
  return sqlite.query<ListedCredential<K>, [Values]>(sql).all(values)
}

const replacing = `UPDATE credentials SET ${assigned(credentials, SECRET)} WHERE id = $id`

/** The secret before it becomes invalid. */
export function replaceSecret(tx: Tx, id: CredentialId, secret: StoredSecret): void {
  execute(tx, replacing, { id, ...secret })
}

/** A credential that is revoked already stays as it is. */
export function markRevoked(tx: Tx, kind: CredentialKind, id: CredentialId, now: Timestamp): void {
  const isLive = and(eq(credentials.id, id), isNull(credentials.revokedAt))
  tx.orm.update(credentials).set({ revokedAt: now }).where(isLive).run()
  if (kind === 'key') touchKey(tx, id)
}

export function saveLastUsed(tx: Tx, id: CredentialId, at: Timestamp): void {
  const sql = 'UPDATE credentials SET last_used_at = $at WHERE id = $id RETURNING kind'
  if (getRow<{ kind: CredentialKind }>(tx, sql, { id, at })?.kind === 'key') touchKey(tx, id)
}

function touchKey(tx: Tx, id: CredentialId): void {
  tx.changes?.push({ what: 'key', id })
}

/** Credentials and webhooks that a key made and that still live: neither revoked nor deleted. */
export function listCreatedBy({ orm }: Db, id: KeyId) {
  const isLive = and(eq(credentials.createdBy, id), isNull(credentials.revokedAt))
  const made = orm
    .select()
    .from(credentials)
    .where(isLive)
    .orderBy(sql`rowid`)
    .all()
  const isKept = and(eq(webhooks.createdBy, id), isNull(webhooks.deletedAt))
  const madeWebhooks = orm.select().from(webhooks).where(isKept).orderBy(webhooks.seq).all()
  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map((row) => row.id)
  const ofKind = (kind: CredentialKind) => idsOf(made.filter((row) => row.kind === kind))
  return { keys: ofKind('key'), webhooks: idsOf(madeWebhooks), bridges: ofKind('bridge') }
}
