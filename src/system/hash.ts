import { createHash, timingSafeEqual } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** SHA-256 of bytes, or of text in UTF-8: 32 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  return Bun.SHA256.hash(data) as Uint8Array // Bun's type allows any typed array.
}

/** SHA-256 of a file in hexadecimal. The file is read in pieces, because a big one must not block the relay. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Compares two byte strings in constant time for their length. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

export type PasswordHash = {
  make(password: string): Promise<string>
  fits(password: string, hash: string): Promise<boolean>
}

/**
 * argon2id on a separate thread. OWASP's password storage page asks for at least 19 MiB and 2 passes; 64 MiB take
 * 0.2 s on a small machine.
 */
export const argon2id: PasswordHash = {
  make: (password) =>
    Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 65_536, timeCost: 2 }),
  fits: (password, hash) => Bun.password.verify(password, hash),
}
