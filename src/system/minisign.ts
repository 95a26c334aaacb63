// Verifies minisign signatures (https://jedisct1.github.io/minisign/): Ed25519 over the file or its BLAKE2b-512
// hash, and a second signature over the first one and a comment, which makes the comment trusted too.

import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'

/** A public key as minisign prints it: `RW` and 54 more characters of base64. */
export type MinisignKey = { readonly id: Buffer; readonly key: KeyObject }

const KEY_ALGORITHM = 'Ed'
const SIGNS_HASH = 'ED'
const KEY_BYTES = 2 + 8 + 32
const SIGNATURE_BYTES = 2 + 8 + 64
const GLOBAL_SIGNATURE_BYTES = 64
const TRUSTED_COMMENT = 'trusted comment: '

/** Parses a minisign public key file, or the key alone; throws if it isn't one. */
export function parseMinisignKey(text: string): MinisignKey {
  const bytes = Buffer.from(text.trim().split('\n').at(-1) ?? '', 'base64')
  if (bytes.length !== KEY_BYTES || bytes.toString('latin1', 0, 2) !== KEY_ALGORITHM) {
    throw new Error('Not a minisign public key.')
  }
  const x = bytes.subarray(10).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { id: bytes.subarray(2, 10), key }
}

/** Returns the trusted comment if `text`, a `.minisig` file, is a signature of `content` by `key`; else null. */
export function verifyMinisign(key: MinisignKey, content: Uint8Array, text: string): string | null {
  const signature = parseSignature(text)
  if (signature === null || !signature.id.equals(key.id)) return null
  const { bytes, comment, overAll } = signature
  const message = signature.isOverHash ? createHash('blake2b512').update(content).digest() : content
  const isGenuine =
    verify(null, message, key.key, bytes) &&
    verify(null, Buffer.concat([bytes, Buffer.from(comment)]), key.key, overAll)
  return isGenuine ? comment : null
}

type Signature = {
  readonly id: Buffer
  readonly isOverHash: boolean
  /** The signature over the content. */
  readonly bytes: Buffer
  /** The trusted comment, and the signature over `bytes` and the comment. */
  readonly comment: string
  readonly overAll: Buffer
}

function parseSignature(text: string): Signature | null {
  const [, own = '', comment = '', global = ''] = text.split(/\r?\n/)
  const signed = Buffer.from(own, 'base64')
  const overAll = Buffer.from(global, 'base64')
  const algorithm = signed.toString('latin1', 0, 2)
  const isWhole = signed.length === SIGNATURE_BYTES && overAll.length === GLOBAL_SIGNATURE_BYTES
  const isKnown = algorithm === SIGNS_HASH || algorithm === KEY_ALGORITHM
  if (!isWhole || !isKnown || !comment.startsWith(TRUSTED_COMMENT)) return null
  return {
    id: signed.subarray(2, 10),
    isOverHash: algorithm === SIGNS_HASH,
    bytes: signed.subarray(10),
    comment: comment.slice(TRUSTED_COMMENT.length),
    overAll,
  }
}
