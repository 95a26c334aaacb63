import type { ApiKey } from '../domain/api-key.ts'
import type { BridgeId, KeyId, Timestamp, WebhookId } from '../domain/ids.ts'
import type { Db, Tx } from './database.ts'
import { prepared } from './statement.ts'

type Values = Record<string, string | number | null | Uint8Array>

/** What is stored of a new key: its value, and the hash of its secret only. */
export type NewKey = {
  readonly id: KeyId
  readonly name: string | null
  readonly key: string
  readonly secretSha256: Uint8Array
  readonly createdBy: string
  readonly createdAt: Timestamp
}

/** What authentication asks of a key. */
export type Credential = {
  readonly id: KeyId
  readonly secretSha256: Uint8Array
  readonly revokedAt: Timestamp | null
}

/** A key in a list, with its place in it. */
export type ListedKey = ApiKey & { readonly seq: number }

const HINT_LENGTH = 14
const COLUMNS = `rowid AS seq, id, name, substr(key, 1, ${HINT_LENGTH}) AS hint,
  created_by AS createdBy, created_at AS createdAt, last_used_at AS lastUsedAt,
  revoked_at AS revokedAt`

export function insertKey(tx: Tx, key: NewKey): void {
  tx.sqlite
    .query(
      `INSERT INTO api_keys (id, name, key, secret_sha256, created_by, created_at)
       VALUES ($id, $name, $key, $secretSha256, $createdBy, $createdAt)`,
    )
    .run({ ...key })
  touch(tx, key.id)
}

const byKey = prepared(({ sqlite }) =>
  sqlite.prepare<Credential, [Values]>(
    `SELECT id, secret_sha256 AS secretSha256, revoked_at AS revokedAt FROM api_keys
     WHERE key = $key`,
  ),
)

/** Asked in every turn that brings requests: another process may have revoked the key. */
export function findCredential(db: Db, key: string): Credential | null {
  return byKey(db).get({ key })
}

export function hasKeys(db: Db): boolean {
  return db.sqlite.query('SELECT 1 FROM api_keys LIMIT 1').get() !== null
}

export function getKey(db: Db, id: string): ListedKey | null {
  return db.sqlite
    .query<ListedKey, [Values]>(`SELECT ${COLUMNS} FROM api_keys WHERE id = $id`)
    .get({ id })
}

/** Keys newest first; `before` is the cursor's seq. */
export function listKeys(
  db: Db,
  page: { readonly limit: number; readonly before: number | null },
): readonly ListedKey[] {
  return db.sqlite
    .query<ListedKey, [Values]>(
      `SELECT ${COLUMNS} FROM api_keys WHERE rowid < $before ORDER BY rowid DESC LIMIT $limit`,
    )
    .all({ limit: page.limit, before: page.before ?? Number.MAX_SAFE_INTEGER })
}

/** A key that is revoked already stays as it is. */
export function markRevoked(tx: Tx, id: KeyId, now: Timestamp): void {
  tx.sqlite
    .query('UPDATE api_keys SET revoked_at = $now WHERE id = $id AND revoked_at IS NULL')
    .run({ id, now })
  touch(tx, id)
}

const using = prepared(({ sqlite }) =>
  sqlite.prepare<null, [Values]>('UPDATE api_keys SET last_used_at = $at WHERE id = $id'),
)

export function saveLastUsed(tx: Tx, id: KeyId, at: Timestamp): void {
  using(tx).run({ id, at })
  touch(tx, id)
}

function touch(tx: Tx, id: KeyId): void {
  tx.touched?.push({ what: 'key', id })
}

/** What a key made and what still lives: neither revoked nor deleted. */
export function listCreatedBy(
  db: Db,
  id: KeyId,
): {
  readonly keys: readonly KeyId[]
  readonly webhooks: readonly WebhookId[]
  readonly bridges: readonly BridgeId[]
} {
  const keys = db.sqlite.query<{ id: KeyId }, [Values]>(
    'SELECT id FROM api_keys WHERE created_by = $id AND revoked_at IS NULL ORDER BY rowid',
  )
  const webhooks = db.sqlite.query<{ id: WebhookId }, [Values]>(
    'SELECT id FROM webhooks WHERE created_by = $id AND deleted_at IS NULL ORDER BY rowid',
  )
  const bridges = db.sqlite.query<{ id: BridgeId }, [Values]>(
    'SELECT id FROM bridges WHERE created_by = $id AND revoked_at IS NULL ORDER BY rowid',
  )
  return {
    keys: keys.all({ id }).map((row) => row.id),
    webhooks: webhooks.all({ id }).map((row) => row.id),
    bridges: bridges.all({ id }).map((row) => row.id),
  }
}
