import type { Branded } from './ids.ts'

/**
 * The other side of a conversation: a number in E.164, an e-mail address in lower case, or, from a device, any string
 * of up to 255 characters.
 */
export type Handle = Branded<string, 'Handle'>

export type Recipient = { readonly kind: 'phone' | 'email'; readonly handle: Handle }

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL =
  /^[^\s@<>"(),:;\\[\]-][^\s@<>"(),:;\\[\]]{0,62}@[a-z0-9](?:[a-z0-9.-]{0,250})[a-z0-9]$/
const HANDLE_LENGTH_MAX = 255

/** The sender that a test event names; a real line refuses to send to it. */
export const TEST_HANDLE = deviceHandle('+12025550100')

/** A client's `to`: E.164 or an e-mail address; null for anything else. */
export function parseRecipient(text: string): Recipient | null {
  if (E164.test(text)) return { kind: 'phone', handle: deviceHandle(text) }
  const address = text.toLowerCase()
  if (address.length <= HANDLE_LENGTH_MAX && EMAIL.test(address)) {
    return { kind: 'email', handle: deviceHandle(address) }
  }
  return null
}

/** A handle as reported by a device: cut to 255 characters, e-mail addresses in lower case. */
export function deviceHandle(text: string): Handle {
  const cut = text.slice(0, HANDLE_LENGTH_MAX).toWellFormed().replaceAll('\0', '\uFFFD')
  return (cut.includes('@') ? cut.toLowerCase() : cut) as Handle // Normalised: the brand's meaning.
}

/** A handle for logs: its last four characters at most, never the whole. */
export function maskHandle(handle: string): string {
  return handle.length <= 4 ? '…' : `…${handle.slice(-4)}`
}
