// A text to somebody, and what becomes of it.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { isSettled, statusWords, whyNot } from '../message-words.ts'
import type { Message, PhoneLine } from '../resources.ts'
import { SendFields, useSendForm } from './send-form.tsx'

export function QuickSend({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const sent = useSignal<Message | null>(null)
  const form = useSendForm((message) => (sent.value = message))
  return (
    <Card title="Send a message">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void form.submit()
        }}
      >
        <SendFields form={form} lines={lines} />
        <Button
          type="submit"
          look="main"
          icon="send"
          isBusy={form.isBusy.value}
          isDisabled={!form.isFilled}
        >
          Send
        </Button>
      </form>
      {sent.value !== null && <Outcome key={sent.value.id} sent={sent.value} />}
    </Card>
  )
}

/** Follows the message that was accepted, until there is nothing more to say of it. */
function Outcome({ sent }: { readonly sent: Message }) {
  const { api } = useDashboard()
  const { now } = useLive({
    key: `message ${sent.id}`,
    load: (signal) => api.get<Message>(`messages/${sent.id}`, signal),
    on: (change) => change.id === sent.id,
  })
  const message = now.state === 'ready' ? now.value : sent
  const { text, tone, icon } = statusWords(message.status)
  const why = whyNot(message)
  return (
    <div class="outcome" role="status" aria-busy={!isSettled(message)}>
      <p class="row">
        <Badge tone={tone} icon={icon}>
          {text}
        </Badge>
        <a href={href('conversations', [message.conversation_id])}>
          <PersonText>{message.handle}</PersonText>
        </a>
      </p>
      {why !== null && <p class="small">{why}</p>}
    </div>
  )
}
