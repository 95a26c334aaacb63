import type { Caller } from '../domain/api-key.ts'
import type { KeyId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { findCredential } from '../storage/keys.ts'
import { equalBytes, sha256 } from '../system/hash.ts'

type Tools = { readonly db: Db; readonly lastUsed: { note(id: KeyId): void } }

/** Compared with where the key is unknown, so that it takes as long. */
const NO_SECRET = new Uint8Array(32)

/**
 * Who calls with this key and secret, or null. Nothing is cached: the row is read and the secret
 * hashed each time, so a revocation counts from the next request on, whoever made it.
 */
export function authenticate(tools: Tools, key: string, secret: string): Caller | null {
  const credential = findCredential(tools.db, key)
  const isRight = equalBytes(sha256(secret), credential?.secretSha256 ?? NO_SECRET)
  if (credential === null || !isRight || credential.revokedAt !== null) return null
  tools.lastUsed.note(credential.id)
  return { kind: 'key', keyId: credential.id }
}
