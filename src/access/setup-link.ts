import type * as api from '../api/owner.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'

/** A token sets the password once. It has 43 characters. */
export type SetupToken = {
  readonly token: string
  readonly expiresAt: Timestamp
  /** The name of the member whose password it sets; left out for the owner. */
  readonly name?: string | undefined
}

const LIFE_MS = 30 * 60_000

/** The one valid setup link, kept in memory as a hash until it is used, replaced or 30 minutes old. */
export class SetupLink {
  readonly #core: Core
  #open: { readonly tokenSha256: Uint8Array; readonly until: number } | null = null

  constructor(core: Core) {
    this.#core = core
  }

  /** Makes a new token; the earlier one becomes invalid. */
  create(): SetupToken {
    const token = Buffer.from(this.#core.random.bytes(32)).toString('base64url')
    this.#open = { tokenSha256: sha256(token), until: this.#core.clock.monotonic() + LIFE_MS }
    return { token, expiresAt: timestamp(this.#core.clock.now() + LIFE_MS) }
  }

  /**
   * Uses the token up; returns null if it isn't valid. `restore` makes it valid again after a failure, unless there is
   * a newer one by then.
   */
  take(token: string): { restore(): void } | null {
    const open = this.#open
    if (open === null || this.#core.clock.monotonic() >= open.until) return null
    if (!equalBytes(sha256(token), open.tokenSha256)) return null
    this.#open = null
    return { restore: () => void (this.#open ??= open) }
  }
}

/** The relay's addresses as its callers know them. */
export type Addresses = {
  readonly publicUrl: string | null
  readonly listeningUrl: string
  /** The name of this machine in its network: `<hostname>.local`. */
  readonly localName: string
}

/** The token comes after the #, which no browser sends and no proxy logs. */
export function setupLinkOf(
  { token, name, expiresAt }: SetupToken,
  { publicUrl, listeningUrl, localName }: Addresses,
): api.SetupLink {
  const whose = name === undefined ? '' : `?name=${encodeURIComponent(name)}`
  const end = `/#/setup/${token}${whose}`
  const link = (url: string, lanUrl: string | null) => {
    return { url: url + end, lan_url: lanUrl && lanUrl + end, expires_at: isoTime(expiresAt) }
  }
  if (publicUrl !== null) return link(publicUrl, null)
  const { protocol, hostname, port } = new URL(listeningUrl)
  // A browser can't open a wildcard address.
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return link(listeningUrl, null)
  const at = port === '' ? '' : `:${port}`
  return link(`${protocol}//127.0.0.1${at}`, `${protocol}//${localName}${at}`)
}
