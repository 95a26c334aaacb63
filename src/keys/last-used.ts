import type { CredentialId } from '../domain/credential.ts'
import { type Timestamp, timestamp } from '../domain/ids.ts'
import type { KeyCaller } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import { findKey, saveLastUsed } from '../storage/credentials.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'

export const KEY_USE_MS = 1_000
/** At most one note per minute, because a shortcut calls every half minute, all day. */
export const BRIDGE_USE_MS = 60_000

const FLUSH_MS = 1_000
const IDLE_MS = 60_000

/**
 * The last use of each credential. Noting a use takes one map lookup; new uses are written at most once a second, in
 * one transaction, and once more at the end.
 */
export class LastUsed implements Service {
  readonly name = 'credentials.last-used'
  readonly #core: Core
  readonly #signal = new Signal()
  /** Has an entry for each credential that was used since the start. */
  readonly #usedAt = new Map<CredentialId, Timestamp>()
  readonly #unwritten = new Set<CredentialId>()

  constructor(core: Core) {
    this.#core = core
  }

  /** Notes a use, unless the last use was in the same period of `everyMs`. */
  note(id: CredentialId, everyMs: number): void {
    const now = timestamp(this.#core.clock.now())
    const known = this.#usedAt.get(id)
    if (known !== undefined && Math.floor(known / everyMs) === Math.floor(now / everyMs)) return
    this.#usedAt.set(id, now)
    this.#unwritten.add(id)
    this.#signal.notify()
  }

  /** The last use since the start; it may not be written yet. */
  of(id: CredentialId): Timestamp | null {
    return this.#usedAt.get(id) ?? null
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    while (!signal.aborted) {
      await this.#flush()
      await clock.sleep(FLUSH_MS, signal)
      if (this.#unwritten.size === 0) await this.#signal.wait(clock, IDLE_MS, signal)
    }
    await this.#flush()
  }

  /** If a write fails, its uses stay noted for the next one. */
  async #flush(): Promise<void> {
    const batch = [...this.#usedAt].filter(([id]) => this.#unwritten.has(id))
    if (batch.length === 0) return
    await this.#core.writer.write((tx) => {
      for (const [id, at] of batch) saveLastUsed(tx, id, at)
    })
    for (const [id, at] of batch) {
      if (this.#usedAt.get(id) === at) this.#unwritten.delete(id)
    }
  }
}

export type Authenticate = (key: string, secret: string) => KeyCaller | null

/** A dummy hash, so that unknown keys take as long. */
const NO_SECRET = new Uint8Array(32)

/**
 * Requests in the same turn of the event loop share one read of their key. Nothing is cached longer, so a revocation by
 * any process takes effect from the next turn on.
 */
export function createAuthenticate(
  { db, clock }: Core,
  { lastUsed }: { readonly lastUsed: LastUsed },
): Authenticate {
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
    const { permissions, id: keyId, lineage, madeFor } = found
    if (permissions.expiresAt !== null && permissions.expiresAt <= clock.now()) return null
    lastUsed.note(keyId, KEY_USE_MS)
    return { kind: 'key', keyId, lineage: lineage ?? keyId, madeFor, permissions }
  }
}

/** The end of a key and its reason, for the holder of the secret; null if the key is unknown or the secret wrong. */
export type EndedKey = {
  readonly reason: 'expired' | 'revoked'
  readonly at: Timestamp
}

/** Says whether a refused key has ended. Anyone without its secret gets null. */
export function endedKeyOf({ db, clock }: Core, key: string, secret: string): EndedKey | null {
  const found = findKey(db, key)
  const isRight = equalBytes(sha256(secret), found?.secretSha256 ?? NO_SECRET)
  if (found === null || !isRight) return null
  const { expiresAt } = found.permissions
  if (found.revokedAt !== null) return { reason: 'revoked', at: found.revokedAt }
  return expiresAt !== null && expiresAt <= clock.now()
    ? { reason: 'expired', at: expiresAt }
    : null
}
