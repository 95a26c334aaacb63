// Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`, one signature for each secret.

import type { Random } from '../system/random.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export type Signed = {
  readonly id: string
  /** Unix seconds of the attempt. */
  readonly timestamp: number
  readonly body: string
}

export function newSecret(random: Random): Uint8Array {
  return random.bytes(SECRET_BYTES)
}

/** The secret as its owner is shown it, once. */
export function secretText(secret: Uint8Array): string {
  return PREFIX + Buffer.from(secret).toString('base64')
}

/** The value of `webhook-signature`: secrets newest first. */
export function signatureOf({ id, timestamp, body }: Signed, secrets: readonly Uint8Array[]) {
  const head = `${id}.${timestamp}.`
  return secrets
    .map((secret) => {
      const hash = new Bun.CryptoHasher('sha256', secret).update(head).update(body)
      return `v1,${hash.digest('base64')}`
    })
    .join(' ')
}

/** Everything that a receiver needs to know that the body is ours. */
export function signedHeaders(signed: Signed, secrets: readonly Uint8Array[]) {
  return {
    'content-type': 'application/json',
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': signatureOf(signed, secrets),
  }
}
