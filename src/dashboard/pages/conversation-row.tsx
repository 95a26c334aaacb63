// A conversation in a list: its person, the latest message, and what is unread.

import type { Conversation, Message } from '../../api/messages.ts'
import { Face, Icon } from '../components/icon.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard } from '../dashboard.ts'
import { conversationName, isGroup, personName } from '../people.ts'
import { absoluteTime, shortTime } from '../time-words.ts'
import { messageExcerpt } from '../words/attachments.ts'
import { countWords, grouped } from '../words/common.ts'
import { CONVERSATIONS } from '../words/conversations.ts'
import { statusWords } from '../words/message-states.ts'

export function ConversationRow(props: {
  readonly conversation: Conversation
  /** The name of its line, if there are several lines. */
  readonly line: string | null
  readonly href: string
  readonly isSelected?: boolean
  readonly tabIndex?: number
}) {
  const { conversation, line, href: address, isSelected = false, tabIndex } = props
  const { clock } = useDashboard()
  const { last_message: last, updated_at, unread_count = 0 } = conversation
  return (
    <a
      class={unread_count > 0 ? 'conversation-row is-unread' : 'conversation-row'}
      href={address}
      tabIndex={tabIndex}
      aria-current={isSelected ? 'true' : undefined}
    >
      <Face
        handle={conversation.handle}
        name={conversation.contact_name}
        isGroup={isGroup(conversation)}
      />
      <span class="conversation-top">
        <span class="one-line conversation-handle">
          {isGroup(conversation) && <span class="visually-hidden">Group: </span>}
          <PersonText>{conversationName(conversation)}</PersonText>
        </span>
        {conversation.automation_paused && (
          <span class="conversation-person" title={CONVERSATIONS.takeover}>
            <Icon name="person" />
            <span class="visually-hidden">Human takeover.</span>
          </span>
        )}
        {line !== null && (
          <PersonText in="small quiet one-line conversation-line">{line}</PersonText>
        )}
        <time class="small quiet" dateTime={updated_at} title={absoluteTime(updated_at)}>
          {shortTime(updated_at, clock.now.value)}
        </time>
      </span>
      <span class="conversation-bottom">
        {last !== null && <LastText message={last} />}
        {unread_count > 0 && (
          <span class="unread-count">
            <span aria-hidden="true">{grouped(unread_count)}</span>
            <span class="visually-hidden">{`${countWords(unread_count, 'unread message')}.`}</span>
          </span>
        )}
      </span>
    </a>
  )
}

function LastText({ message }: { readonly message: Message }) {
  const { text, tone, icon } = statusWords(message.status, message.error)
  return (
    <>
      {message.direction === 'outbound' && (
        <span class={`conversation-status tone-${tone}`} title={text}>
          <Icon name={icon} />
          <span class="visually-hidden">{text}:</span>
        </span>
      )}
      <span class="one-line quiet conversation-text">
        {message.sender && (
          <>
            <PersonText>{personName(message.sender)}</PersonText>:{' '}
          </>
        )}
        {message.attachments !== undefined && <Icon name="attach" />}
        <PersonText>{messageExcerpt(message).slice(0, 160)}</PersonText>
      </span>
    </>
  )
}
