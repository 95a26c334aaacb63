import type { KeyId, Timestamp } from './ids.ts'

/** An API key as it is listed: the secret is stored as its SHA-256 only. */
export type ApiKey = {
  readonly id: KeyId
  readonly name: string | null
  /** The first characters of the key value. */
  readonly hint: string
  readonly createdBy: string
  readonly createdAt: Timestamp
  readonly lastUsedAt: Timestamp | null
  readonly revokedAt: Timestamp | null
}

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
export const KEY_NAME_LENGTH_MAX = 100

/** Who asks: a key, the control socket, or a dashboard session. */
export type Caller =
  | { readonly kind: 'key'; readonly keyId: KeyId }
  | { readonly kind: 'cli' }
  | { readonly kind: 'dashboard' }
