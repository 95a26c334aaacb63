// The fixed credentials of a fake: a key for the relay's own API, and one for each compatible API.

import { COMPAT_APIS } from '../compat/apis.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { FAKE_ACCOUNT_PREFIX, FAKE_KEY_PREFIX, FAKE_SECRET_PREFIX } from '../domain/credential.ts'
import { idFromBytes } from '../domain/ids.ts'
import { EVERYTHING, type Permissions } from '../domain/permissions.ts'
import { createKey } from '../keys/credentials.ts'
import type { FixedKey } from '../keys/tokens.ts'
import type { FileCore } from '../storage/core.ts'
import type { Seal } from '../system/seal.ts'
import { secretText } from '../webhooks/signature.ts'

/** Seals what a fake stores. Nothing in it is secret. */
export const SEALING_KEY = new Uint8Array(32).fill(0xfa)
/** `whsec_` and 32 bytes in Base64. */
export const WEBHOOK_SECRET = new TextEncoder().encode('hookline fake webhook secret 001')

/** The secret as receivers of webhooks enter it. */
export function webhookSecret(): string {
  return secretText(WEBHOOK_SECRET)
}

/** The APIs in the order in which their keys are made. */
const OWN = null
const APIS: readonly (string | null)[] = [OWN, ...COMPAT_APIS.map(({ name }) => name)]

/** The credentials for an API; `api` is null for the relay's own. */
export function credentialsFor(api: string | null): {
  readonly key: string
  readonly secret: string
} {
  const { id, account, key, secret } = fixedKey(api)
  return compatOf(api)?.account?.(id, account) ?? { key, secret }
}

function compatOf(api: string | null) {
  return COMPAT_APIS.find(({ name }) => name === api)
}

/** The values for a client of each compatible API, by its name. */
export function connections(url: string, numbers: readonly string[]) {
  const all = COMPAT_APIS.map(({ name, connect }) => {
    return [name, connect({ url, numbers, ...credentialsFor(name) })] as const
  })
  return Object.fromEntries(all)
}

export async function createKeys(core: FileCore, seal: Seal): Promise<void> {
  for (const api of APIS) {
    const scopes = compatOf(api)?.scopes ?? null
    const permissions: Permissions = { ...EVERYTHING, scopes }
    await createKey(core, {
      name: `hookline fake: ${api ?? 'its own API'}`,
      origin: COMMAND_LINE,
      permissions,
      madeFor: api,
      seal: () => seal,
      fixed: fixedKey(api),
    })
  }
}

function fixedKey(api: string | null): FixedKey {
  const word = api ?? 'hookline'
  const place = String(APIS.indexOf(api)).padStart(24, '0')
  const hex = FAKE_ACCOUNT_PREFIX.slice('AC'.length) + place
  return {
    id: idFromBytes('key', Uint8Array.fromHex(hex)),
    key: FAKE_KEY_PREFIX + word,
    secret: FAKE_SECRET_PREFIX + word,
    account: Uint8Array.fromHex(hex),
  }
}
