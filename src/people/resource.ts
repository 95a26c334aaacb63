import type { Contact } from '../api/contacts.ts'
import { invalidRequest } from '../domain/errors.ts'
import { deviceHandle, parseRecipient, type Handle } from '../domain/handle.ts'
import type { Person } from '../domain/person.ts'
import { hasConversation } from '../storage/conversations.ts'
import type { Db } from '../storage/database.ts'
import { isoTime } from '../system/iso-time.ts'

export function contactResource({
  handle,
  name,
  note,
  tags,
  isOptedOut,
  createdAt,
  updatedAt,
}: Person): Contact {
  const [created_at, updated_at] = [isoTime(createdAt), isoTime(updatedAt)]
  const optedOut = isOptedOut ? { opted_out: true } : {}
  return { handle, name, note, tags, ...optedOut, created_at, updated_at }
}

export function handleIn(written: string): Handle {
  return parseRecipient(written)?.handle ?? deviceHandle(written)
}

/** A number, an e-mail address, or any sender that a conversation is with. */
export function knownHandle(db: Db, written: string): Handle {
  const handle = handleIn(written)
  if (parseRecipient(handle) !== null || hasConversation(db, handle, null)) return handle
  const message =
    'must be a phone number in international format, such as +12025550147, or an email address'
  throw invalidRequest({ path: 'handle', message })
}
