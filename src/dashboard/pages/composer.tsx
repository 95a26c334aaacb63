// The box to answer in: Enter sends, Shift and Enter begin a new line.

import { FailureNote } from '../components/callout.tsx'
import { Form } from '../components/form.tsx'
import { useSending } from '../components/use-sending.ts'
import type { Conversation, Message, PhoneLine } from '../resources.ts'
import { SendButton } from './send-form.tsx'

type Props = {
  readonly conversation: Conversation
  readonly line: PhoneLine | null
  readonly onSent: (message: Message) => void
}

export function Composer({ conversation, line, onSent }: Props) {
  const { text, isBusy, failure, send } = useSending(onSent)
  const { handle, phone_line_id } = conversation
  const submit = () => send(handle, phone_line_id)
  return (
    <Form class="composer" onSubmit={submit}>
      <FailureNote failure={failure} />
      <div class="composer-row">
        <textarea
          class="input"
          dir="auto"
          rows={1}
          aria-label={`Message to ${handle}`}
          placeholder={line?.status === 'offline' ? 'The line is offline: it waits' : 'Message'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // While a word is being composed, Enter chooses it.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
        <SendButton isIconOnly isBusy={isBusy} isDisabled={text.value.trim() === ''} />
      </div>
    </Form>
  )
}
