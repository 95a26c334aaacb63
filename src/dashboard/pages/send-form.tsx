// Recipient, line and text of a message: on Home, in a new conversation, and in the composer of a thread.

import { useSignal, type Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'

import { withQuery } from '../address.ts'
import type { Failure } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { SelectField, TextArea, TextField, useSettled } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useRead } from '../dashboard.ts'
import { lineOption } from '../line-words.ts'
import { createOutbox, isWhole, tidyHandle } from '../outbox.ts'
import type { ContactCost, Message, PhoneLine } from '../resources.ts'

type Composition = {
  readonly text: Signal<string>
  readonly isBusy: boolean
  readonly failure: Failure | null
  readonly send: (to: string, lineId: string | null) => void
}

/** A text that is being written, and the function that sends it. */
export function useComposition(onAccepted: (message: Message) => void): Composition {
  const { api } = useDashboard()
  const outbox = useMemo(() => createOutbox(api), [api])
  const text = useSignal('')
  const { isBusy, failure, start } = useAction(outbox, (message) => {
    // Text typed meanwhile is the next message.
    if (text.value === message.text) text.value = ''
    onAccepted(message)
  })
  const send = (to: string, lineId: string | null) => {
    if (text.value.trim() !== '') start({ to, text: text.value, lineId })
  }
  return { text, isBusy, failure, send }
}

type SendForm = ReturnType<typeof useSendForm>

export function useSendForm(onAccepted: (message: Message) => void) {
  const { text, isBusy, failure, send } = useComposition(onAccepted)
  const to = useSignal('')
  const lineId = useSignal<string | null>(null)
  const isDisabled = to.value.trim() === '' || text.value.trim() === ''
  const submit = () => {
    if (!isDisabled) send(tidyHandle(to.value), lineId.value)
  }
  return { to, text, lineId, failure, submit, button: { isBusy, isDisabled } }
}

type FieldsProps = {
  readonly form: SendForm
  readonly lines: readonly PhoneLine[]
  readonly isFirst?: boolean | undefined
}

export function SendFields({ form, lines, isFirst }: FieldsProps) {
  const { to, text, lineId, failure } = form
  const automatic = { value: '', text: 'Automatic (first available line)' }
  return (
    <>
      <TextField label="To" type="tel" placeholder="+12025550147" isFirst={isFirst} bind={to} />
      {lines.length > 1 && (
        <SelectField
          label="Line"
          value={lineId.value ?? ''}
          options={[automatic, ...lines.map(lineOption)]}
          onChange={(id) => (lineId.value = id === '' ? null : id)}
        />
      )}
      <TextArea label="Text" bind={text} />
      <ContactLimitNote to={tidyHandle(to.value)} lineId={lineId.value} />
      <FailureNote failure={failure} />
    </>
  )
}

type ButtonProps = SendForm['button'] & { readonly isIconOnly?: boolean | undefined }

export function SendButton(props: ButtonProps) {
  return (
    <Button type="submit" look="main" icon="send" {...props}>
      Send
    </Button>
  )
}

type NoteProps = { readonly to: string; readonly lineId: string | null }

/** The message's effect on the daily contact limit, empty until the recipient is complete. */
function ContactLimitNote({ to, lineId }: NoteProps) {
  const settled = useSettled(to)
  return (
    <p class="contact-cost small quiet">
      {isWhole(settled) && <Cost to={settled} lineId={lineId} />}
    </p>
  )
}

function Cost({ to, lineId }: NoteProps) {
  const path = withQuery('/dashboard/contact-cost', { to, phone_line_id: lineId })
  const { now, value } = useRead<ContactCost>(path, 'conversation', 'line')
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
