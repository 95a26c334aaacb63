// Twilio's ids are a prefix and 32 hexadecimal digits: those of ours, so that each can be read back without a table.

import { hexOfId, idFromBytes, type Id, type KeyId } from '../../domain/ids.ts'

export type SidPrefix = 'AC' | 'MG' | 'SM' | 'MM' | 'ME'

export function sidOf(prefix: SidPrefix, id: string): string {
  return prefix + hexOfId(id as Id<'msg'>) // Any id has the same form.
}

/** Our id; null if the text is no id of these prefixes. */
export function idOfSid<P extends 'msg' | 'att' | 'key'>(
  prefix: P,
  text: string,
  kinds: readonly SidPrefix[],
): Id<P> | null {
  const isSid = kinds.some((kind) => text.startsWith(kind)) && /^[A-Z]{2}[0-9a-f]{32}$/.test(text)
  return isSid ? idFromBytes(prefix, Uint8Array.fromHex(text.slice(2))) : null
}

/** A key's id is in that of its account. The token has as many bits as a UUID. */
export function accountOf(keyId: KeyId, random: Uint8Array) {
  return { key: sidOf('AC', keyId), secret: random.slice(0, 16).toHex() }
}
