import type { Caller } from '../domain/api-key.ts'
import type { KeyId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { findCredential, type Credential } from '../storage/keys.ts'
import { equalBytes, sha256 } from '../system/hash.ts'

type Tools = { readonly db: Db; readonly lastUsed: { note(id: KeyId): void } }

/** Who calls with this key and secret, or null. */
export type Authenticate = (key: string, secret: string) => Caller | null

/** Compared with where the key is unknown, so that it takes as long. */
const NO_SECRET = new Uint8Array(32)

/**
 * Nothing is cached beyond a turn of the event loop, so a revocation counts from the next one on, whoever
 * made it. Requests that are taken up in one turn came together, and share what is read of their key.
 */
export function createAuthenticate({ db, lastUsed }: Tools): Authenticate {
  const ofThisTurn = new Map<string, Credential>()
  const credentialOf = (key: string) => {
    const known = ofThisTurn.get(key)
    if (known !== undefined) return known
    const found = findCredential(db, key)
    if (found === null) return null
    if (ofThisTurn.size === 0) setImmediate(() => ofThisTurn.clear())
    ofThisTurn.set(key, found)
    return found
  }
  return (key, secret) => {
    const credential = credentialOf(key)
    const isRight = equalBytes(sha256(secret), credential?.secretSha256 ?? NO_SECRET)
    if (credential === null || !isRight || credential.revokedAt !== null) return null
    lastUsed.note(credential.id)
    return { kind: 'key', keyId: credential.id }
  }
}
