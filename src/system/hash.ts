import { timingSafeEqual } from 'node:crypto'

/** SHA-256 of bytes, or of text in UTF-8: 32 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  return Bun.SHA256.hash(data) as Uint8Array // Its type says that it might be any typed array.
}

/** Whether two byte strings of equal length are the same, in constant time. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
