// What a message to somebody takes of the daily contact limit, said before it is sent.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import type { ConversationActions } from './conversations.ts'
import { callerOf } from './exchange.ts'
import type { PhoneLineActions, PhoneLineResource } from './phone-lines.ts'
import { readHandle, readQuery } from './query.ts'

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly conversations: Pick<ConversationActions, 'list'>
}

/** A sentence around the name of a line, which somebody gave; without one it is all in `after`. */
export type ContactCost = {
  readonly before: string
  readonly name: string | null
  readonly after: string
}

type Asked = {
  /** Null for the first line that is ready. */
  readonly lineId: string | null
  readonly lines: readonly PhoneLineResource[]
  readonly knowsContact: (line: PhoneLineResource) => boolean
}

const CostQuery = Type.Object({ to: Type.String(), phone_line_id: Type.Optional(Type.String()) })

/** Of one handle, there is a conversation for each line at most. */
const CONVERSATIONS_MAX = 200

/** Behind the door of the dashboard. */
export function contactCostRoutes({ lines, conversations }: Tools) {
  return new Elysia().get('/dashboard/contact-cost', ({ request }) => {
    callerOf(request)
    const query = readQuery(request, CostQuery)
    const page = { limit: CONVERSATIONS_MAX, cursor: null }
    const known = conversations.list({ handle: readHandle(query.to) ?? '' }, page).data
    const lineIds = new Set(known.map((conversation) => conversation.phone_line_id))
    return contactCost({
      lineId: query.phone_line_id ?? null,
      lines: lines.list(),
      knowsContact: ({ id }) => lineIds.has(id),
    })
  })
}

export function contactCost({ lineId, lines, knowsContact }: Asked): ContactCost {
  const given = lines.find(({ id }) => id === lineId)
  const line = lineId === null ? expectedLine(lines, knowsContact) : given
  if (line === undefined) {
    return { before: '', name: null, after: 'No line is ready: the message waits until one is.' }
  }
  const name = line.label ?? line.phone_number
  const { new_contacts_today: used, daily_contact_limit: limit } = line
  if (knowsContact(line)) {
    return { before: '', name, after: ' knows this contact: it costs nothing of its limit.' }
  }
  if (used >= limit) return { before: '', name, after: ' has no new contact left today.' }
  return { before: 'A new contact for ', name, after: `: ${used} of ${limit} used today.` }
}

/**
 * The line that a message without a line would take now: the first, by creation, that is ready and has
 * a new contact left. Simulated ones come into play only where no other line is enabled.
 */
function expectedLine(
  lines: readonly PhoneLineResource[],
  knowsContact: (line: PhoneLineResource) => boolean,
): PhoneLineResource | undefined {
  const enabled = lines.filter((line) => line.is_enabled)
  const real = enabled.filter((line) => line.driver !== 'simulated')
  const usable = (real.length > 0 ? real : enabled).filter(
    (line) => line.status === 'online' && line.imessage_active,
  )
  const free = usable.find(
    (line) => knowsContact(line) || line.new_contacts_today < line.daily_contact_limit,
  )
  return free ?? usable[0]
}
