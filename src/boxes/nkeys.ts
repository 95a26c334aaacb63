// Keys of the broker's users, which are Ed25519 keys. Their library is loaded with the link, where there is
// something to join.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

import { memoize } from '../system/memoize.ts'

const KEYS_KEPT = 1_000
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** What stands before the 32 bytes of a key in DER (RFC 8410). */
const PUBLIC_DER = '302a300506032b6570032100'
const PRIVATE_DER = '302e020100300506032b657004220420'

/** Key of a new user. Its seed is stored by its owner only. */
export async function makeKey(): Promise<{ readonly seed: string; readonly publicKey: string }> {
  const { nkeys } = await import('./nats-link.ts')
  const pair = nkeys.createUser()
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() }
}

/** Public nkey `U…` of a seed `SU…`; throws where it is none. */
export async function publicKeyOf(seed: string): Promise<string> {
  const { nkeys } = await import('./nats-link.ts')
  return nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey()
}

/** The key of a seed `SU…`, whose two first bytes say what it is. */
export function privateKeyIn(seed: string): KeyObject {
  const key = Buffer.from(PRIVATE_DER + bytesIn(seed).subarray(2, 34).toHex(), 'hex')
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}

/** The key of a public nkey `U…`, whose first byte says what it is. */
export const publicKeyIn = memoize(KEYS_KEPT, (nkey): KeyObject => {
  const key = Buffer.from(PUBLIC_DER + bytesIn(nkey).subarray(1, 33).toHex(), 'hex')
  return createPublicKey({ key, format: 'der', type: 'spki' })
})

function bytesIn(base32: string): Uint8Array {
  const bits = [...base32].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2))
}
