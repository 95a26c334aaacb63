import { createCipheriv, createDecipheriv } from 'node:crypto'

import { assert } from '../domain/errors.ts'
import type { Random } from './random.ts'

/** Encrypts secrets in the database and its backups; the key is in a separate file. */
export type Seal = {
  /** `context` names the owner of the secret: sealed bytes only open with the same context. */
  seal(plain: Uint8Array, context: string): Uint8Array
  /** The plain bytes; null for another key, another context or damaged bytes. */
  open(sealed: Uint8Array, context: string): Uint8Array | null
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/** AES-256-GCM with a key of 32 bytes; the bytes are version, nonce, tag, cipher text. */
export function createSeal(key: Uint8Array, random: Random): Seal {
  assert(key.length === KEY_BYTES, 'the key that seals secrets has 32 bytes')
  return {
    seal: (plain, context) => {
      const nonce = random.bytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
      const text = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.getAuthTag(), text])
    },
    open: (sealed, context) => {
      if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) return null
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce)
          .setAAD(Buffer.from(context))
          .setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES))
        return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()])
      } catch {
        return null
      }
    },
  }
}
