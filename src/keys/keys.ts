import type { CreatedKey, Key, RevokedKey } from '../api/keys.ts'
import { type Page, type PageRequest, decodeCursor, pageOf } from '../api/paging.ts'
import { KEY_NAME_LENGTH_MAX, KEY_PREFIX, SECRET_PREFIX, type ApiKey } from '../domain/api-key.ts'
import { makerOf, type Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp, type KeyId, type Timestamp } from '../domain/ids.ts'
import type { Audit } from '../storage/audit.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  getKey,
  insertKey,
  listCreatedBy,
  listKeys as listStoredKeys,
  markRevoked,
} from '../storage/keys.ts'
import type { Writer } from '../storage/writer.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Random } from '../system/random.ts'
import type { Stamps } from '../system/stamps.ts'
import { keyResource } from './resource.ts'

export type KeyTools = {
  readonly db: Db
  readonly writer: Pick<Writer, 'write'>
  readonly stamps: Stamps
  readonly random: Random
  readonly audit: Pick<Audit, 'record'>
}

/** Knows of uses that are not written yet. */
export type UseKnown = { of(id: KeyId): Timestamp | null }

const KEY_BYTES = 24
const SECRET_BYTES = 32

export type NewKeyRequest = { readonly name: string | null; readonly origin: Origin }

/** Makes a key; key and secret can be read in this answer only. */
export async function createKey(tools: KeyTools, request: NewKeyRequest): Promise<CreatedKey> {
  if (Array.from(request.name ?? '').length > KEY_NAME_LENGTH_MAX) {
    const message = `must have at most ${KEY_NAME_LENGTH_MAX} characters`
    throw invalidRequest({ path: 'name', message })
  }
  return tools.writer.write((tx) => writeNewKey(tx, tools, request))
}

/** Stores a new key in a transaction that does more. */
export function writeNewKey(
  tx: Tx,
  tools: Pick<KeyTools, 'stamps' | 'random' | 'audit'>,
  { name, origin }: NewKeyRequest,
): CreatedKey {
  const key = KEY_PREFIX + base64url(tools.random.bytes(KEY_BYTES))
  const secret = SECRET_PREFIX + base64url(tools.random.bytes(SECRET_BYTES))
  const id = tools.stamps.id('key')
  const createdAt = tools.stamps.now()
  const createdBy = makerOf(origin)
  insertKey(tx, { id, name, key, secretSha256: sha256(secret), createdBy, createdAt })
  const about = { kind: 'key', id } as const
  tools.audit.record(tx, origin, { action: 'key.created', about, after: { name } })
  return {
    id,
    name,
    key,
    secret,
    created_by: createdBy,
    created_at: isoTime(createdAt),
    last_used_at: null,
  }
}

/** Keys newest first, the revoked ones too. */
export function listKeys(
  tools: { readonly db: Db; readonly lastUsed?: UseKnown | undefined },
  { limit, cursor }: PageRequest,
): Page<Key> {
  const before = cursor === null ? null : decodeCursor(cursor, 1)
  if (cursor !== null && before === null) {
    throw invalidRequest({ path: 'cursor', message: 'must be a next_cursor of this list' })
  }
  const rows = listStoredKeys(tools.db, { limit: limit + 1, before: before?.[0] ?? null })
  return pageOf(
    rows,
    limit,
    (key) => keyResource(withLatestUse(key, tools.lastUsed)),
    (key) => [key.seq],
  )
}

/** Revokes at once and for good; a second time changes nothing and answers alike. */
export async function revokeKey(
  tools: Pick<KeyTools, 'writer' | 'stamps' | 'audit'>,
  id: string,
  origin: Origin,
): Promise<RevokedKey> {
  return tools.writer.write((tx) => {
    const key = getKey(tx, id)
    if (key === null) throw new RelayError('not_found', 'There is no key with this id.')
    if (key.revokedAt === null) {
      markRevoked(tx, key.id, tools.stamps.now())
      const about = { kind: 'key', id: key.id } as const
      tools.audit.record(tx, origin, { action: 'key.revoked', about, before: { name: key.name } })
    }
    const created = listCreatedBy(tx, key.id)
    const isAlone = Object.values(created).every((made) => made.length === 0)
    return { id: key.id, deleted: true as const, ...(isAlone ? {} : { created }) }
  })
}

function withLatestUse(key: ApiKey, lastUsed: UseKnown | undefined): ApiKey {
  const use = lastUsed?.of(key.id) ?? null
  if (use === null) return key
  return { ...key, lastUsedAt: timestamp(Math.max(use, key.lastUsedAt ?? 0)) }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
