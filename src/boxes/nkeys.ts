// Keys of the broker's users, which are Ed25519 keys. Their library is loaded with the link, once it is needed.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

import { memoize } from '../system/memoize.ts'

/** A seed `SU…` with its public nkey `U…`. */
export type NkeyPair = { readonly seed: string; readonly publicKey: string }

const KEYS_KEPT = 1_000
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export async function makeKey(): Promise<NkeyPair> {
  const { nkeys } = await import('./nats-link.ts')
  const pair = nkeys.createUser()
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() }
}

/** Public nkey `U…` of a seed `SU…`; throws if it isn't a seed. */
export async function publicKeyOf(seed: string): Promise<string> {
  const { nkeys } = await import('./nats-link.ts')
  return nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey()
}

const keyIn = (nkey: string, prefixBytes: number) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: bytesIn(nkey)
    .subarray(prefixBytes, prefixBytes + 32)
    .toString('base64url'),
})

export const publicKeyIn = memoize(KEYS_KEPT, (nkey): KeyObject =>
  createPublicKey({ key: keyIn(nkey, 1), format: 'jwk' }),
)

export function privateKeyOf({ seed, publicKey }: NkeyPair): KeyObject {
  return createPrivateKey({ key: { ...keyIn(publicKey, 1), d: keyIn(seed, 2).x }, format: 'jwk' })
}

function bytesIn(base32: string): Buffer {
  const bits = Array.from(base32, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
