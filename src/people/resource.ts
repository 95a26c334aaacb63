import type { Contact } from '../api/contacts.ts'
import type { Person } from '../domain/person.ts'
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
