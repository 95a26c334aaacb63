// The last ten messages, in and out, as they happen.

import { href } from '../address.ts'
import { Ago } from '../components/ago.tsx'
import { Badge } from '../components/badge.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Icon } from '../components/icon.tsx'
import { PersonText } from '../components/person-text.tsx'
import { statusWords } from '../message-words.ts'
import type { Message } from '../resources.ts'

export function RecentMessages({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <Card kind="list" title="Latest messages">
      {messages.length === 0 ? <NoMessages /> : <Rows messages={messages} />}
    </Card>
  )
}

function Rows({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ul class="recent">
      {messages.map((message) => (
        <li key={message.id}>
          <Row message={message} />
        </li>
      ))}
    </ul>
  )
}

function Row({ message }: { readonly message: Message }) {
  const isInbound = message.direction === 'inbound'
  return (
    <a class="recent-row" href={href('conversations', [message.conversation_id])}>
      <span class={`recent-sign ${isInbound ? 'recent-in' : ''}`}>
        <Icon name={isInbound ? 'arrow-in' : 'send'} />
        <span class="visually-hidden">{isInbound ? 'Received from' : 'Sent to'}</span>
      </span>
      <span class="recent-words">
        <span class="one-line recent-handle">
          <PersonText>{message.handle}</PersonText>
        </span>
        <span class="one-line quiet">
          <PersonText>{message.text}</PersonText>
        </span>
      </span>
      <span class="recent-end">
        <Ago time={message.created_at} isInside />
        {!isInbound && <Badge of={statusWords(message.status)} />}
      </span>
    </a>
  )
}

function NoMessages() {
  return (
    <EmptyState icon="conversations" title="No messages yet">
      Send one from here, or text one of the lines from a phone.
    </EmptyState>
  )
}
