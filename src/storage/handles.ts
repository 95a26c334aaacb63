// Finds the person that a client names, by a phone number, an email address or a device's spelling.

import { invalidRequest } from '../domain/errors.ts'
import {
  commonHome,
  deviceHandle,
  isNumber,
  parseRecipient,
  understandRecipient,
  type Handle,
} from '../domain/handle.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import { hasConversation } from './conversations.ts'
import type { Db } from './database.ts'
import { listLines } from './lines.ts'
import { mergedInto } from './merges.ts'

/** The person that `written` names, even by a spelling whose conversation was merged into the person's. */
export function handleIn(db: Db, written: string): Handle {
  const recipient = parseRecipient(written)
  if (recipient !== null) return recipient.handle
  const spelling = deviceHandle(written)
  return hasConversation(db, spelling, null) ? spelling : (mergedInto(db, spelling) ?? spelling)
}

/** The handle; throws unless it is a number, an email address, or has a conversation. */
export function knownHandle(db: Db, written: string): Handle {
  const handle = handleIn(db, written)
  if (parseRecipient(handle) !== null || hasConversation(db, handle, null)) return handle
  const message =
    'must be a phone number in international format, such as +12025550147, or an email address'
  throw invalidRequest({ path: 'handle', message, suggestion: handleMeant(db, written, null) })
}

/**
 * The number in international format for a number written in another way; undefined if that isn't certain. A number
 * without its country code is read by the rules of the lines' country, if they share one.
 */
export function handleMeant(db: Db, written: string, lines: LineLimit): Handle | undefined {
  const seen = listLines(db).filter(({ id }) => includesLine(lines, id))
  const home = commonHome(seen.map(({ number }) => number))
  const understood = understandRecipient(written, home)
  return 'handle' in understood ? understood.handle : undefined
}

/** The person named in a list's filter; throws for a national number without a conversation. */
export function handleAsked(db: Db, written: string): Handle {
  return isNumber(written) ? knownHandle(db, written) : handleIn(db, written)
}
