import type { BridgeId, KeyId } from './ids.ts'

/** `key`: an API key. `bridge`: the token by which the shortcuts of an iPhone reach the relay. */
export type CredentialKind = 'key' | 'bridge'

export type CredentialIds = { readonly key: KeyId; readonly bridge: BridgeId }
export type CredentialId = CredentialIds[CredentialKind]

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
export const BRIDGE_TOKEN_PREFIX = 'hlb_'
/** Code points of a key's name, and of a bridge's label. */
export const CREDENTIAL_NAME_LENGTH_MAX = 100
