// What a message to somebody takes of the daily contact limit, said before it is sent.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import type { ContactCost } from '../api/dashboard.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { grouped } from '../domain/number-words.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import { readHandle, readQuery } from './query.ts'
import { callerOf } from './request-context.ts'

export type SendPreviews = {
  /** The line that a message would go by now, and whether that line knows the recipient. */
  readonly previewSend: (send: { readonly to: string; readonly lineId: string | null }) => {
    readonly lineId: string | null
    readonly knowsContact: boolean
  }
}

type Tools = SendPreviews & { readonly lines: Pick<PhoneLineActions, 'list'> }

const CostQuery = Type.Object({ to: Type.String(), phone_line_id: Type.Optional(Type.String()) })

/** Behind the door of the dashboard. */
export function contactCostRoutes({ lines, previewSend }: Tools) {
  return new Elysia().get('/dashboard/contact-cost', ({ request }) => {
    callerOf(request)
    const query = readQuery(request, CostQuery)
    const to = readHandle(query.to) ?? ''
    const preview = previewSend({ to, lineId: query.phone_line_id ?? null })
    const line = lines.list().find(({ id }) => id === preview.lineId)
    return contactCost(line ?? null, preview.knowsContact)
  })
}

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
