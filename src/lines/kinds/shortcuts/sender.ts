import { deviceHandle, parseRecipient, type Handle } from '../../../domain/handle.ts'

/** What people and iOS write between digits: spaces and dashes of all kinds, marks of direction. */
const BETWEEN_DIGITS = /[\s().\-/\u200e\u200f\u2010-\u2015\u202a-\u202e\u2066-\u2069]/g
/** Short codes of companies have three digits or more; E.164 ends at fifteen. */
const NUMBER = /^\+?[0-9]{3,15}$/

/**
 * Whom a message is from, or null for a name: where the sender is among the contacts of the iPhone,
 * Shortcuts may tell the name of the contact only.
 */
export function readSender(from: string): Handle | null {
  const number = from.replaceAll(BETWEEN_DIGITS, '')
  if (NUMBER.test(number)) return deviceHandle(number)
  const recipient = parseRecipient(from.trim())
  return recipient?.kind === 'email' ? recipient.handle : null
}
