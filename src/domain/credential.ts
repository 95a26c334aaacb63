import type { BridgeId, KeyId } from './ids.ts'

/** `key`: an API key. `bridge`: the token with which an iPhone's shortcuts call the relay. */
export type CredentialKind = 'key' | 'bridge'

export type CredentialIds = { readonly key: KeyId; readonly bridge: BridgeId }
export type CredentialId = CredentialIds[CredentialKind]

export const KEY_PREFIX = 'hl_live_'
export const SECRET_PREFIX = 'hl_secret_'
/** Of the keys of `hookline fake`, which are the same everywhere: every other relay refuses them by their form. */
export const FAKE_KEY_PREFIX = 'fake_live_'
export const FAKE_SECRET_PREFIX = 'fake_secret_'
/** Twilio's accounts in `hookline fake`. The id of any other account begins with the time when it was made. */
export const FAKE_ACCOUNT_PREFIX = 'ACfa4efa4e'

/** A key, or the id of an account, of `hookline fake`. */
export const FAKE_KEY = new RegExp(`^(?:${FAKE_KEY_PREFIX}|${FAKE_ACCOUNT_PREFIX})`)

export const BRIDGE_TOKEN_PREFIX = 'hlb_'
/** Most code points in a key's name or a bridge's label. */
export const CREDENTIAL_NAME_LENGTH_MAX = 100
