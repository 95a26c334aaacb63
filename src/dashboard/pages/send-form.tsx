// To, line and text of a message to anybody: on Home, and for a new conversation.

import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'

import { FailureNote } from '../components/callout.tsx'
import { ContactCost } from '../components/contact-cost.tsx'
import { TextArea, TextField } from '../components/field.tsx'
import { LineSelect } from '../components/line-select.tsx'
import { useDashboard } from '../dashboard.ts'
import { tidyHandle } from '../handles.ts'
import { Outbox } from '../outbox.ts'
import type { Failure } from '../request.ts'
import type { Message, PhoneLine } from '../resources.ts'

export type SendForm = ReturnType<typeof useSendForm>

export function useSendForm(onAccepted: (message: Message) => void) {
  const { api } = useDashboard()
  const outbox = useMemo(() => new Outbox(api), [api])
  const to = useSignal('')
  const text = useSignal('')
  const lineId = useSignal<string | null>(null)
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  const isFilled = to.value.trim() !== '' && text.value.trim() !== ''

  async function submit() {
    if (!isFilled) return
    isBusy.value = true
    const sent = { to: tidyHandle(to.value), text: text.value, lineId: lineId.value }
    const answer = await outbox.send(sent)
    if (answer === null) return
    isBusy.value = false
    failure.value = answer.ok ? null : answer.failure
    if (!answer.ok) return
    // What was typed meanwhile is the next message.
    if (text.value === sent.text) text.value = ''
    onAccepted(answer.value)
  }
  return { to, text, lineId, isBusy, failure, isFilled, submit }
}

type Props = {
  readonly form: SendForm
  readonly lines: readonly PhoneLine[]
  readonly isFirst?: boolean | undefined
}

export function SendFields({ form, lines, isFirst = false }: Props) {
  const { to, text, lineId, failure } = form
  return (
    <>
      <TextField
        label="To"
        type="tel"
        placeholder="+12025550147"
        isFirst={isFirst}
        value={to.value}
        onInput={(value) => (to.value = value)}
      />
      {lines.length > 1 && (
        <LineSelect lines={lines} value={lineId.value} onChange={(id) => (lineId.value = id)} />
      )}
      <TextArea label="Text" value={text.value} onInput={(value) => (text.value = value)} />
      <ContactCost to={to.value} lineId={lineId.value} lines={lines} />
      {failure.value !== null && <FailureNote failure={failure.value} />}
    </>
  )
}
