// Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, one signature for each secret.

import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { listSecrets } from '../storage/webhooks.ts'
import type { Age } from '../system/confirmed-clock.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Random } from '../system/random.ts'
import type { Seal } from '../system/seal.ts'

/** A decrypted signing secret, kept in memory only. */
export type SigningSecret = { readonly secret: Uint8Array; readonly retiredAt: Timestamp | null }

const SECRET_BYTES = 32
const SIGNS_AFTER_MS = 24 * 3_600_000
export const SECRETS_MAX = 8

export type Signed = {
  readonly id: string
  /** Unix seconds of the attempt. */
  readonly timestamp: number
  readonly body: string
}

export function newSecret(random: Random): Uint8Array {
  return random.bytes(SECRET_BYTES)
}

/** Marks a secret that a client chose. The relay's own ones are random. */
const CHOSEN = 'chosen:'

/** A secret that a client of a compatible API chose, as it is stored. */
export function chosenSecret(text: string): Uint8Array {
  return Buffer.from(CHOSEN + text)
}

/** The secret as its user knows it: as shown at its creation, or as the client chose it. */
export function secretText(secret: Uint8Array): string {
  const bytes = Buffer.from(secret)
  const text = bytes.toString('utf8')
  return text.startsWith(CHOSEN) ? text.slice(CHOSEN.length) : 'whsec_' + bytes.toString('base64')
}

/** The `webhook-signature` header; pass the newest secret first. */
export function signatureOf({ id, timestamp, body }: Signed, secrets: readonly Uint8Array[]) {
  const head = `${id}.${timestamp}.`
  return secrets
    .map((secret) => {
      const hash = new Bun.CryptoHasher('sha256', secret).update(head).update(body)
      return `v1,${hash.digest('base64')}`
    })
    .join(' ')
}

/** Allowed clock difference in seconds. */
const TOLERANCE = 300

/** True if one of the secrets signed the request within five minutes of `now` (Unix seconds). */
export function isSigned(
  request: { readonly headers: Headers; readonly body: string; readonly now: number },
  secrets: readonly Uint8Array[],
): boolean {
  const { headers, body, now } = request
  const id = headers.get('webhook-id') ?? ''
  const timestamp = Number(headers.get('webhook-timestamp'))
  const given = (headers.get('webhook-signature') ?? '').split(' ')
  const valid = signatureOf({ id, timestamp, body }, secrets).split(' ').map(sha256)
  const isValid = (hash: Uint8Array) => valid.some((one) => equalBytes(one, hash))
  return (
    secrets.length > 0 && Math.abs(now - timestamp) <= TOLERANCE && given.map(sha256).some(isValid)
  )
}

/** The headers that let a receiver verify that the body is ours. */
export function signedHeaders(signed: Signed, secrets: readonly Uint8Array[]) {
  return {
    'content-type': 'application/json',
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': signatureOf(signed, secrets),
  }
}

/** Newest first, without unreadable retired ones. Null if the current one is: nothing may be sent then. */
export function openSecrets(db: Db, seal: Seal, id: WebhookId): readonly SigningSecret[] | null {
  const opened = listSecrets(db, id).map(({ sealed, retiredAt }) => ({
    secret: seal.open(sealed, id),
    retiredAt,
  }))
  if ((opened[0]?.secret ?? null) === null) return null
  return opened.flatMap(({ secret, retiredAt }) => (secret === null ? [] : { secret, retiredAt }))
}

/** Secrets that sign now: the current one and those retired in the last 24 hours, eight at most. */
export function signingSecrets(secrets: readonly SigningSecret[], age: Age): Uint8Array[] {
  return secrets
    .filter(({ retiredAt }) => retiredAt === null || age.ageOf(retiredAt) < SIGNS_AFTER_MS)
    .slice(0, SECRETS_MAX)
    .map(({ secret }) => secret)
}
