// To, line and text of a message to anybody: on Home, and for a new conversation.

import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { ContactCost } from '../components/contact-cost.tsx'
import { TextArea, TextField } from '../components/field.tsx'
import { LineSelect } from '../components/line-select.tsx'
import { useSending } from '../components/use-sending.ts'
import { tidyHandle } from '../handles.ts'
import type { Message, PhoneLine } from '../resources.ts'

export type SendForm = ReturnType<typeof useSendForm>

export function useSendForm(onAccepted: (message: Message) => void) {
  const { text, isBusy, failure, send } = useSending(onAccepted)
  const to = useSignal('')
  const lineId = useSignal<string | null>(null)
  const isDisabled = to.value.trim() === '' || text.value.trim() === ''
  const submit = () => {
    if (!isDisabled) send(tidyHandle(to.value), lineId.value)
  }
  return { to, text, lineId, failure, submit, button: { isBusy, isDisabled } }
}

type Props = {
  readonly form: SendForm
  readonly lines: readonly PhoneLine[]
  readonly isFirst?: boolean | undefined
}

export function SendFields({ form, lines, isFirst }: Props) {
  const { to, text, lineId, failure } = form
  return (
    <>
      <TextField label="To" type="tel" placeholder="+12025550147" isFirst={isFirst} bind={to} />
      {lines.length > 1 && (
        <LineSelect lines={lines} value={lineId.value} onChange={(id) => (lineId.value = id)} />
      )}
      <TextArea label="Text" bind={text} />
      <ContactCost to={to.value} lineId={lineId.value} />
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
