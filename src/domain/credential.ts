import type { BridgeId, KeyId } from './ids.ts'

/** `key`: an API key. `bridge`: the token with which an iPhone's shortcuts call the relay. */
export type CredentialKind = 'key' | 'bridge'

export type CredentialIds = { readonly key: KeyId; readonly bridge: BridgeId }
export type CredentialId = CredentialIds[CredentialKind]

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
export const BRIDGE_TOKEN_PREFIX = 'hlb_'
/** Most code points in a key's name or a bridge's label. */
export const CREDENTIAL_NAME_LENGTH_MAX = 100
