import type { Contact } from '../api/contacts.ts'
import type { Person } from '../domain/person.ts'
import { isoTime } from '../system/iso-time.ts'

export function contactResource({
  handle,
  name,
  note,
  tags,
  createdAt,
  updatedAt,
}: Person): Contact {
  const [created_at, updated_at] = [isoTime(createdAt), isoTime(updatedAt)]
  return { handle, name, note, tags, created_at, updated_at }
}
