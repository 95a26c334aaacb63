import { Icon } from '../components/icon.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useDashboard } from '../dashboard.ts'
import { statusWords } from '../message-words.ts'
import type { Conversation, Message } from '../resources.ts'
import { absoluteTime, shortTime } from '../time-words.ts'

type Props = {
  readonly conversation: Conversation
  /** The name of its line, where there is more than one. */
  readonly line: string | null
  readonly href: string
  readonly isSelected: boolean
}

/** More of a text is never seen in one line. */
const TEXT_MAX = 160

export function ConversationRow({ conversation, line, href, isSelected }: Props) {
  const { clock } = useDashboard()
  const { handle, last_message: last, updated_at } = conversation
  return (
    <a class="conversation-row" href={href} aria-current={isSelected ? 'true' : undefined}>
      <span class="conversation-top">
        <span class="one-line conversation-handle">
          <PersonText>{handle}</PersonText>
        </span>
        {conversation.automation_paused && (
          <span class="conversation-person" title="A person answers">
            <Icon name="person" />
            <span class="visually-hidden">A person answers.</span>
          </span>
        )}
        <time class="small quiet" dateTime={updated_at} title={absoluteTime(updated_at)}>
          {shortTime(updated_at, clock.now.value)}
        </time>
      </span>
      <span class="conversation-bottom">
        {last !== null && <LastText message={last} />}
        {line !== null && (
          <span class="chip one-line">
            <PersonText>{line}</PersonText>
          </span>
        )}
      </span>
    </a>
  )
}

function LastText({ message }: { readonly message: Message }) {
  const isOwn = message.direction === 'outbound'
  const { text, tone, icon } = statusWords(message.status)
  return (
    <>
      {isOwn && (
        <span class={`conversation-status tone-${tone}`} title={text}>
          <Icon name={icon} />
          <span class="visually-hidden">{text}:</span>
        </span>
      )}
      <span class="one-line quiet conversation-text">
        <PersonText>{message.text.slice(0, TEXT_MAX)}</PersonText>
      </span>
    </>
  )
}
