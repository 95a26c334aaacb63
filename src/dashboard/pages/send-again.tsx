// Sends a failed message again, and reports its state.

import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { momentWords } from '../time-words.ts'
import { againWords, goesAsSms } from '../words/message-states.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

export function useSendAgain({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const service = goesAsSms(message, line) ? 'SMS' : undefined
  return {
    words: service === undefined ? 'Send again' : 'Send as SMS',
    call: () => sendAgain(api, message, service),
    onDone: (sent: Message) => {
      onChanged(sent)
      const { isBad, text } = againWords(sent)
      if (isBad) notices.failed(text)
      else notices.done(text)
    },
  }
}

/** Leads to the message by which a failed one was sent again; null if it wasn't. */
export function SentAgain({ message: { sent_again, conversation_id } }: Pick<Props, 'message'>) {
  if (sent_again === undefined) return null
  return (
    <a href={href('conversations', [conversation_id], { message: sent_again.message_id })}>
      Sent again {sent_again.service_requested === 'SMS' && 'as SMS '}· {momentWords(sent_again.at)}
    </a>
  )
}

/** The button in a thread, which doesn't ask for confirmation. */
export function SendAgain(props: Props) {
  const { words, call, onDone } = useSendAgain(props)
  const { isBusy, start } = useQuickAction(call, onDone)
  const isRest = props.message.attachments?.some(({ sent }) => sent === true) === true
  return (
    <Button icon="again" isBusy={isBusy} onClick={start}>
      {isRest ? 'Send the rest' : words}
    </Button>
  )
}
