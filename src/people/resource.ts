import type { Contact } from '../api/contacts.ts'
import { contactFields, textsIn } from '../domain/contact-fields.ts'
import type { Person } from '../storage/people.ts'
import { isoTime } from '../system/iso-time.ts'

export function contactResource(person: Person): Contact {
  return {
    handle: person.handle,
    ...contactFields((_row, field) => textsIn(person[field])),
    ...(person.isOptedOut ? { opted_out: true } : {}),
    created_at: isoTime(person.createdAt),
    updated_at: isoTime(person.updatedAt),
  }
}
