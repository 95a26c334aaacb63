// The box to answer in: Enter sends, Shift and Enter begin a new line.

import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { useDashboard } from '../dashboard.ts'
import { Outbox } from '../outbox.ts'
import type { Failure } from '../request.ts'
import type { Conversation, Message, PhoneLine } from '../resources.ts'

type Props = {
  readonly conversation: Conversation
  readonly line: PhoneLine | null
  readonly onSent: (message: Message) => void
}

export function Composer({ conversation, line, onSent }: Props) {
  const { api } = useDashboard()
  const outbox = useMemo(() => new Outbox(api), [api])
  const text = useSignal('')
  const failure = useSignal<Failure | null>(null)
  const isBusy = useSignal(false)

  async function send() {
    const sent = { to: conversation.handle, text: text.value, lineId: conversation.phone_line_id }
    if (sent.text.trim() === '' || isBusy.value) return
    isBusy.value = true
    const answer = await outbox.send(sent)
    isBusy.value = false
    if (answer === null) return
    failure.value = answer.ok ? null : answer.failure
    if (!answer.ok) return
    onSent(answer.value)
    // What was typed meanwhile is the next message.
    if (text.value === sent.text) text.value = ''
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {failure.value !== null && <FailureNote failure={failure.value} />}
      <div class="composer-row">
        <textarea
          class="input"
          dir="auto"
          rows={1}
          aria-label={`Message to ${conversation.handle}`}
          placeholder={line?.status === 'offline' ? 'The line is offline: it waits' : 'Message'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // While a word is being composed, Enter chooses it.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        <Button
          type="submit"
          look="main"
          icon="send"
          isIconOnly
          isBusy={isBusy.value}
          isDisabled={text.value.trim() === ''}
        >
          Send
        </Button>
      </div>
    </form>
  )
}
