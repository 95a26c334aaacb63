// <ContactCost to={handle} lineId={null} />: what a message to somebody takes of the daily contact limit.
// It says nothing until the handle is whole, and keeps its place meanwhile.

import type * as api from '../../api/dashboard.ts'
import { withQuery } from '../address.ts'
import { useRead } from '../dashboard.ts'
import { isWhole, tidyHandle } from '../handles.ts'
import { PersonText } from './person-text.tsx'
import { useSettled } from './use-settled.ts'

type Props = { readonly to: string; readonly lineId: string | null }

export function ContactCost({ to, lineId }: Props) {
  const settled = useSettled(tidyHandle(to))
  return (
    <p class="contact-cost small quiet">
      {isWhole(settled) && <Cost to={settled} lineId={lineId} />}
    </p>
  )
}

function Cost({ to, lineId }: Props) {
  const path = withQuery('/dashboard/contact-cost', { to, phone_line_id: lineId })
  const { now, value } = useRead<api.ContactCost>(path, 'conversation', 'line')
  if (now.state === 'failed') return <>{now.failure.message}</>
  return (
    value && (
      <>
        {value.before}
        {value.name !== null && <PersonText>{value.name}</PersonText>}
        {value.after}
      </>
    )
  )
}
