import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Clock } from '../system/clock.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'

/** The token of a setup link: 43 characters, good for setting the password once. */
export type SetupToken = {
  readonly token: string
  readonly expiresAt: Timestamp
  /** Of the member whose password it sets; left out for the owner's. */
  readonly name?: string | undefined
}

type Open = { readonly tokenSha256: Uint8Array; readonly until: number }

const TOKEN_BYTES = 32
const LIFE_MS = 30 * 60_000

/** The one valid setup link: kept as a hash, in memory, until it is used, replaced or 30 minutes old. */
export class SetupLink {
  readonly #clock: Clock
  readonly #random: Random
  #open: Open | null = null

  constructor(tools: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = tools.clock
    this.#random = tools.random
  }

  /** Makes a new token; the one before it becomes invalid. */
  create(): SetupToken {
    const token = Buffer.from(this.#random.bytes(TOKEN_BYTES)).toString('base64url')
    this.#open = { tokenSha256: sha256(token), until: this.#clock.monotonic() + LIFE_MS }
    return { token, expiresAt: timestamp(this.#clock.now() + LIFE_MS) }
  }

  /**
   * Uses the token up; null where it is not valid. `restore` makes it valid again after a failure, unless
   * a newer one was made meanwhile.
   */
  take(token: string): { restore(): void } | null {
    const open = this.#open
    if (open === null || this.#clock.monotonic() >= open.until) return null
    if (!equalBytes(sha256(token), open.tokenSha256)) return null
    this.#open = null
    return { restore: () => void (this.#open ??= open) }
  }
}

/** The URLs of a setup link. The token stands behind the #, which no browser sends and no proxy logs. */
export function setupAddresses(
  { token, name }: Pick<SetupToken, 'token' | 'name'>,
  where: {
    readonly publicUrl: string | null
    readonly listeningUrl: string
    /** The name of this machine in its network, as `<hostname>.local`. */
    readonly localName: string
  },
): { readonly url: string; readonly lanUrl: string | null } {
  const { publicUrl, listeningUrl, localName } = where
  const whose = name === undefined ? '' : `?name=${encodeURIComponent(name)}`
  const end = `/#/setup/${token}${whose}`
  if (publicUrl !== null) return { url: publicUrl + end, lanUrl: null }
  const { protocol, hostname, port } = new URL(listeningUrl)
  // A wildcard address is none that a browser could open.
  if (hostname !== '0.0.0.0' && hostname !== '[::]')
    return { url: listeningUrl + end, lanUrl: null }
  const at = port === '' ? '' : `:${port}`
  return {
    url: `${protocol}//127.0.0.1${at}${end}`,
    lanUrl: `${protocol}//${localName}${at}${end}`,
  }
}
