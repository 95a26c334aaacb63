import type { Credential, CredentialId, CredentialKind } from '../domain/credential.ts'
import type { BridgeId, KeyId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { prepared, type Values } from './statement.ts'

/** The secret of a key or the token of a bridge: its hash, and the characters that are shown of it. */
export type StoredSecret = {
  readonly secretSha256: Uint8Array
  readonly hint: string
  readonly secretCreatedAt: Timestamp
}

export type NewCredential = StoredSecret & {
  readonly id: CredentialId
  readonly kind: CredentialKind
  readonly name: string | null
  /** The number of a bridge. */
  readonly number: string | null
  /** The value of `X-API-Key`; null for a bridge. */
  readonly key: string | null
  readonly createdBy: string
  readonly createdAt: Timestamp
}

/** A credential in a list, with its position in it. */
export type ListedCredential<K extends CredentialKind> = Credential<K> & { readonly seq: number }

const COLUMNS = `rowid AS seq, id, name, phone_number AS number, hint, created_by AS createdBy,
  created_at AS createdAt, secret_created_at AS secretCreatedAt, last_used_at AS lastUsedAt,
  revoked_at AS revokedAt`

export function insertCredential(tx: Tx, credential: NewCredential): void {
  tx.sqlite
    .query(
      `INSERT INTO credentials (id, kind, name, phone_number, key, secret_sha256, hint, created_by,
         created_at, secret_created_at)
       VALUES ($id, $kind, $name, $number, $key, $secretSha256, $hint, $createdBy, $createdAt,
         $secretCreatedAt)`,
    )
    .run({ ...credential })
  if (credential.kind === 'key') touchKey(tx, credential.id)
}

type SecretOfKey = {
  readonly id: KeyId
  readonly secretSha256: Uint8Array
  readonly revokedAt: Timestamp | null
}

const byKey = prepared(({ sqlite }) =>
  sqlite.prepare<SecretOfKey, [Values]>(
    `SELECT id, secret_sha256 AS secretSha256, revoked_at AS revokedAt FROM credentials
     WHERE key = $key`,
  ),
)

/** Read in every turn that brings requests: another process may have revoked the key. */
export function findKey(db: Db, key: string): SecretOfKey | null {
  return byKey(db).get({ key })
}

const byToken = prepared(({ sqlite }) =>
  sqlite.prepare<{ id: BridgeId }, [Values]>(
    `SELECT id FROM credentials
     WHERE secret_sha256 = $secretSha256 AND kind = 'bridge' AND revoked_at IS NULL`,
  ),
)

/** Read for every call of a shortcut: a token that was replaced fails at once. */
export function findBridgeOfToken(db: Db, secretSha256: Uint8Array): BridgeId | null {
  return byToken(db).get({ secretSha256 })?.id ?? null
}

export function hasKeys(db: Db): boolean {
  return db.sqlite.query("SELECT 1 FROM credentials WHERE kind = 'key' LIMIT 1").get() !== null
}

/** The bridges that are not removed: each of them is a line. */
export function listLiveBridges(
  db: Db,
): readonly { readonly key: BridgeId; readonly number: string }[] {
  return db.sqlite
    .query<{ key: BridgeId; number: string }, []>(
      `SELECT id AS key, phone_number AS number FROM credentials
       WHERE kind = 'bridge' AND revoked_at IS NULL ORDER BY rowid`,
    )
    .all()
}

export function getCredential<K extends CredentialKind>(
  db: Db,
  kind: K,
  id: string,
): ListedCredential<K> | null {
  return db.sqlite
    .query<ListedCredential<K>, [Values]>(
      `SELECT ${COLUMNS} FROM credentials WHERE id = $id AND kind = $kind`,
    )
    .get({ id, kind })
}

/** Credentials newest first, the revoked ones too; `before` is the cursor's seq. */
export function listCredentials<K extends CredentialKind>(
  db: Db,
  kind: K,
  page: { readonly limit: number; readonly before: number | null },
): readonly ListedCredential<K>[] {
  return db.sqlite
    .query<ListedCredential<K>, [Values]>(
      `SELECT ${COLUMNS} FROM credentials WHERE kind = $kind AND rowid < $before
       ORDER BY rowid DESC LIMIT $limit`,
    )
    .all({ kind, limit: page.limit, before: page.before ?? Number.MAX_SAFE_INTEGER })
}

/** The secret before it becomes invalid. */
export function replaceSecret(tx: Tx, id: CredentialId, secret: StoredSecret): void {
  tx.sqlite
    .query(
      `UPDATE credentials SET secret_sha256 = $secretSha256, hint = $hint,
         secret_created_at = $secretCreatedAt WHERE id = $id`,
    )
    .run({ id, ...secret })
}

/** A credential that is revoked already stays as it is. */
export function markRevoked(tx: Tx, kind: CredentialKind, id: CredentialId, now: Timestamp): void {
  tx.sqlite
    .query('UPDATE credentials SET revoked_at = $now WHERE id = $id AND revoked_at IS NULL')
    .run({ id, now })
  if (kind === 'key') touchKey(tx, id)
}

const using = prepared(({ sqlite }) =>
  sqlite.prepare<{ kind: CredentialKind }, [Values]>(
    'UPDATE credentials SET last_used_at = $at WHERE id = $id RETURNING kind',
  ),
)

export function saveLastUsed(tx: Tx, id: CredentialId, at: Timestamp): void {
  if (using(tx).get({ id, at })?.kind === 'key') touchKey(tx, id)
}

function touchKey(tx: Tx, id: CredentialId): void {
  tx.changes?.push({ what: 'key', id })
}

/** Credentials and webhooks that a key made and that still live: neither revoked nor deleted. */
export function listCreatedBy(db: Db, id: KeyId) {
  const ofKind = (kind: CredentialKind) =>
    db.sqlite
      .query<{ id: string }, [Values]>(
        `SELECT id FROM credentials
         WHERE created_by = $id AND kind = $kind AND revoked_at IS NULL ORDER BY rowid`,
      )
      .all({ id, kind })
  const webhooks = db.sqlite
    .query<{ id: WebhookId }, [Values]>(
      'SELECT id FROM webhooks WHERE created_by = $id AND deleted_at IS NULL ORDER BY rowid',
    )
    .all({ id })
  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map((row) => row.id)
  return { keys: idsOf(ofKind('key')), webhooks: idsOf(webhooks), bridges: idsOf(ofKind('bridge')) }
}
