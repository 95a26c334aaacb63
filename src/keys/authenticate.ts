import type { Caller } from '../domain/credential.ts'
import { findKey } from '../storage/credentials.ts'
import type { Db } from '../storage/database.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import { KEY_USE_MS, type LastUsed } from './last-used.ts'

type Tools = { readonly db: Db; readonly lastUsed: Pick<LastUsed, 'note'> }

/** The caller with this key and secret, or null. */
export type Authenticate = (key: string, secret: string) => Caller | null

/** Dummy hash: keeps the timing of unknown keys equal. */
const NO_SECRET = new Uint8Array(32)

/**
 * Nothing is cached beyond a turn of the event loop, so a revocation counts from the next one on, in
 * whichever process it was made. Requests that are taken up in one turn share what is read of their key.
 */
export function createAuthenticate({ db, lastUsed }: Tools): Authenticate {
  const ofThisTurn = new Map<string, NonNullable<ReturnType<typeof findKey>>>()
  const keyOf = (key: string) => {
    const known = ofThisTurn.get(key)
    if (known !== undefined) return known
    const found = findKey(db, key)
    if (found === null) return null
    if (ofThisTurn.size === 0) setImmediate(() => ofThisTurn.clear())
    ofThisTurn.set(key, found)
    return found
  }
  return (key, secret) => {
    const found = keyOf(key)
    const isRight = equalBytes(sha256(secret), found?.secretSha256 ?? NO_SECRET)
    if (found === null || !isRight || found.revokedAt !== null) return null
    lastUsed.note(found.id, KEY_USE_MS)
    return { kind: 'key', keyId: found.id }
  }
}
