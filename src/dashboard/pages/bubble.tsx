// One message: its text, when, who sent it, how far it came, and what can be done where it did not.

import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { LongText } from '../components/person-text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { sourceWords, statusWords, whyNot } from '../message-words.ts'
import { sendOnce } from '../outbox.ts'
import type { Answer } from '../request.ts'
import type { Message } from '../resources.ts'
import { absoluteTime, clockTime } from '../time-words.ts'

type Props = {
  readonly message: Message
  readonly onChanged: (message: Message) => void
}

export function Bubble({ message, onChanged }: Props) {
  const isOwn = message.direction === 'outbound'
  const why = isOwn ? whyNot(message) : null
  return (
    <article class={`bubble ${isOwn ? 'bubble-own' : 'bubble-theirs'}`}>
      <div class="bubble-text">
        <span class="visually-hidden">{isOwn ? 'Sent:' : 'Received:'} </span>
        <LongText text={message.text} />
      </div>
      <p class="bubble-about">
        <time dateTime={message.created_at} title={absoluteTime(message.created_at)}>
          {clockTime(message.created_at)}
        </time>
        {message.service !== 'iMessage' && <span>{message.service}</span>}
        {isOwn && <span>{sourceWords(message.source)}</span>}
        {isOwn && <Status message={message} />}
      </p>
      {why !== null && <p class="bubble-why">{why}</p>}
      {isOwn && <NextSteps message={message} onChanged={onChanged} />}
    </article>
  )
}

function Status({ message }: { readonly message: Message }) {
  const { text, tone, icon } = statusWords(message.status)
  const at = message.read_at ?? message.delivered_at ?? message.sent_at
  return (
    <span
      class={`bubble-status tone-${tone}`}
      title={at === null ? undefined : `${text} ${absoluteTime(at)}`}
    >
      <Icon name={icon} />
      {text}
    </span>
  )
}

function NextSteps({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const { isBusy, start } = useAction(
    (call: () => Promise<Answer<Message>>) => call(),
    (changed) => {
      onChanged(changed)
      notices.done(changed.id === message.id ? 'Noted.' : 'Sent again, once: see further down.')
    },
    (failure) => notices.failed(failure.message),
  )
  const resolve = (status: 'sent' | 'failed') => () =>
    start(() => api.post(`messages/${message.id}/resolve`, { status }))
  function sendAgain() {
    const { id, handle, text, phone_line_id } = message
    // The key comes from the message: it is sent again once, from however many pages.
    start(() => sendOnce(api, { to: handle, text, lineId: phone_line_id }, `again-${id}`))
  }
  if (message.status === 'uncertain') {
    return (
      <div class="actions bubble-actions">
        <Button icon="check" isBusy={isBusy} onClick={resolve('sent')}>
          It arrived
        </Button>
        <Button icon="cross" isBusy={isBusy} onClick={resolve('failed')}>
          It did not
        </Button>
      </div>
    )
  }
  if (message.status !== 'failed' && message.status !== 'expired') return null
  return (
    <div class="actions bubble-actions">
      <Button icon="again" isBusy={isBusy} onClick={sendAgain}>
        Send again
      </Button>
    </div>
  )
}
