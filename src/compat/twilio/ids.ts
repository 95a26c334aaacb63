// Twilio's ids are a prefix and 32 hexadecimal digits. They contain the relay's ids, so no table maps them.

import { hexOfId, idFromBytes, type Id, type KeyId } from '../../domain/ids.ts'

export type SidPrefix = 'AC' | 'MG' | 'SM' | 'MM' | 'ME'

export function sidOf(prefix: SidPrefix, id: string): string {
  return prefix + hexOfId(id as Id<'msg'>) // Any id has the same form.
}

/** The relay's id; null if the text isn't an id with one of these prefixes. */
export function idOfSid<P extends 'msg' | 'att' | 'key'>(
  prefix: P,
  text: string,
  kinds: readonly SidPrefix[],
): Id<P> | null {
  const isSid = kinds.some((kind) => text.startsWith(kind)) && /^[A-Z]{2}[0-9a-f]{32}$/.test(text)
  return isSid ? idFromBytes(prefix, Uint8Array.fromHex(text.slice(2))) : null
}

/** The account's id contains the key's id. Its token has as many bits as a UUID. */
export function accountOf(keyId: KeyId, random: Uint8Array) {
  return { key: sidOf('AC', keyId), secret: random.slice(0, 16).toHex() }
}
