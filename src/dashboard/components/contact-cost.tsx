// <ContactCost to={handle} lineId={null} lines={lines} />: what a message to somebody takes of the daily
// contact limit. It says nothing until the handle is whole, and keeps its place meanwhile.

import { useDashboard, useLive } from '../dashboard.ts'
import { isWhole, tidyHandle } from '../handles.ts'
import { expectedLine, lineName } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { conversationsWith } from '../sources.ts'
import { PersonText } from './person-text.tsx'
import { useSettled } from './use-settled.ts'

type Props = {
  readonly to: string
  readonly lineId: string | null
  readonly lines: readonly PhoneLine[]
}

export function ContactCost({ to, lineId, lines }: Props) {
  const settled = useSettled(tidyHandle(to))
  return (
    <p class="contact-cost small quiet">
      {isWhole(settled) && <Cost to={settled} lineId={lineId} lines={lines} />}
    </p>
  )
}

function Cost({ to, lineId, lines }: Props) {
  const { api } = useDashboard()
  const known = useLive(conversationsWith(api, to)).now
  if (known.state !== 'ready') return null
  const lineIds = new Set(known.value.data.map((conversation) => conversation.phone_line_id))
  const knowsContact = (line: PhoneLine) => lineIds.has(line.id)
  const line =
    lineId === null
      ? expectedLine(lines, knowsContact)
      : (lines.find(({ id }) => id === lineId) ?? null)
  if (line === null) return <>No line is ready: the message waits until one is.</>
  const name = <PersonText>{lineName(line)}</PersonText>
  if (knowsContact(line)) return <>{name} knows this contact: it costs nothing of its limit.</>
  const { new_contacts_today: used, daily_contact_limit: limit } = line
  if (used >= limit)
    return (
      <>
        {name} has written to its {limit} new contacts for today.
      </>
    )
  return (
    <>
      A new contact for {name}: {used} of {limit} used today.
    </>
  )
}
