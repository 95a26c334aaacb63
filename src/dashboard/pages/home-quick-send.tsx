// A text to somebody, and what becomes of it.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Badge } from '../components/badge.tsx'
import { Card } from '../components/card.tsx'
import { Form } from '../components/form.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useRead } from '../dashboard.ts'
import { isSettled, statusWords, whyNot } from '../message-words.ts'
import type { Message, PhoneLine } from '../resources.ts'
import { SendButton, SendFields, useSendForm } from './send-form.tsx'

export function QuickSend({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const sent = useSignal<Message | null>(null)
  const form = useSendForm((message) => (sent.value = message))
  return (
    <Card title="Send a message">
      <Form onSubmit={form.submit}>
        <SendFields form={form} lines={lines} />
        <SendButton {...form.button} />
      </Form>
      {sent.value !== null && <Outcome key={sent.value.id} sent={sent.value} />}
    </Card>
  )
}

/** Follows the message that was accepted, until there is nothing more to say of it. */
function Outcome({ sent }: { readonly sent: Message }) {
  const message = useRead<Message>(`messages/${sent.id}`, sent.id).value ?? sent
  const why = whyNot(message)
  return (
    <div class="outcome" role="status" aria-busy={!isSettled(message)}>
      <p class="row">
        <Badge of={statusWords(message.status)} />
        <a href={href('conversations', [message.conversation_id])}>
          <PersonText>{message.handle}</PersonText>
        </a>
      </p>
      {why !== null && <p class="small">{why}</p>}
    </div>
  )
}
