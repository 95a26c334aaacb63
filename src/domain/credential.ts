import type { BridgeId, KeyId, Timestamp } from './ids.ts'
import type { Permissions } from './permissions.ts'

/** `key`: an API key. `bridge`: the token by which the shortcuts of an iPhone reach the relay. */
export type CredentialKind = 'key' | 'bridge'

/** `number` is that of the bridge's line, in E.164. */
type Subjects = {
  readonly key: { readonly id: KeyId; readonly number: null }
  readonly bridge: { readonly id: BridgeId; readonly number: string }
}

/** A credential as it is listed: its secret or token is stored as SHA-256 only. */
export type Credential<K extends CredentialKind = CredentialKind> = Subjects[K] & {
  readonly name: string | null
  /** The first characters of the key, or of the token. */
  readonly hint: string
  readonly createdBy: string
  readonly createdAt: Timestamp
  readonly secretCreatedAt: Timestamp
  /** Right to the second for a key, to the minute for a bridge. */
  readonly lastUsedAt: Timestamp | null
  readonly revokedAt: Timestamp | null
  /** Those of a key; a bridge has its own routes only. */
  readonly permissions: Permissions
}

export type CredentialId<K extends CredentialKind = CredentialKind> = Subjects[K]['id']

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
export const BRIDGE_TOKEN_PREFIX = 'hlb_'
/** Code points of a key's name, and of a bridge's label. */
export const CREDENTIAL_NAME_LENGTH_MAX = 100
