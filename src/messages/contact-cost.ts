import type { ContactCost } from '../api/dashboard.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { grouped } from '../domain/number-words.ts'

/** The share of its line's daily contact limit that a message uses. */
export function contactCost(line: PhoneLine | null, knowsContact: boolean): ContactCost {
  if (line === null) {
    return { before: '', name: null, after: 'No line is ready. The message will wait for one.' }
  }
  const name = line.label ?? line.phone_number
  const { new_contacts_today: used, daily_contact_limit: limit } = line
  if (knowsContact) {
    return { before: 'Existing contact of ', name, after: ". Doesn't count toward today's limit." }
  }
  if (used >= limit) return { before: '', name, after: ' has no new contacts left today.' }
  const after = `. ${grouped(used)} of ${grouped(limit)} used today.`
  return { before: 'New contact for ', name, after }
}
