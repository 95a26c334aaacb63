import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Clock } from '../system/clock.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'

/** What a setup link carries: 43 characters that let one person set the password, once. */
export type SetupToken = { readonly token: string; readonly expiresAt: Timestamp }

/** A token that was right, and is used up. */
export type TakenToken = {
  /** Nothing came of it: it is good again, unless a newer one was made meanwhile. */
  giveBack(): void
}

type Open = { readonly tokenSha256: Uint8Array; readonly until: number }

const TOKEN_BYTES = 32
const LIFE_MS = 30 * 60_000

/** The one setup link that is good: kept as a hash, in memory, until it is used, replaced or 30 minutes old. */
export class SetupLink {
  readonly #clock: Clock
  readonly #random: Random
  #open: Open | null = null

  constructor(tools: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = tools.clock
    this.#random = tools.random
  }

  /** Makes a new token; the one before it is good no more. */
  create(): SetupToken {
    const token = Buffer.from(this.#random.bytes(TOKEN_BYTES)).toString('base64url')
    this.#open = { tokenSha256: sha256(token), until: this.#clock.monotonic() + LIFE_MS }
    return { token, expiresAt: timestamp(this.#clock.now() + LIFE_MS) }
  }

  /** Uses the token up; null where it is not the one that is good. */
  take(token: string): TakenToken | null {
    const open = this.#open
    if (open === null || this.#clock.monotonic() >= open.until) return null
    if (!equalBytes(sha256(token), open.tokenSha256)) return null
    this.#open = null
    return { giveBack: () => void (this.#open ??= open) }
  }
}
