import type { BridgeId, KeyId } from './ids.ts'

/** `key`: an API key. `bridge`: the token with which an iPhone's shortcuts call the relay. */
export type CredentialKind = 'key' | 'bridge'

export type CredentialIds = { readonly key: KeyId; readonly bridge: BridgeId }
export type CredentialId = CredentialIds[CredentialKind]

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
/** Prefix of the keys of `hookline fake`, which are the same everywhere, so every other relay refuses them. */
export const FAKE_KEY_PREFIX = 'fake_live_'
export const FAKE_SECRET_PREFIX = 'fake_secret_'
/** Prefix of Twilio's account ids in `hookline fake`. Any other account's id begins with the time when it was made. */
export const FAKE_ACCOUNT_PREFIX = 'ACfa4efa4e'

/** Matches a key or an account id of `hookline fake`. */
export const FAKE_KEY = new RegExp(`^(?:${FAKE_KEY_PREFIX}|${FAKE_ACCOUNT_PREFIX})`)

export const BRIDGE_TOKEN_PREFIX = 'hlb_'
/** Most code points in a key's name or a bridge's label. */
export const CREDENTIAL_NAME_LENGTH_MAX = 100
