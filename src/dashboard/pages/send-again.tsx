// Sends a failed message again, and reports its state.

import { useRef } from 'preact/hooks'

import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { againWords, goesAsSms, sentAgainWords } from '../words/message-states.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

export function useSendAgain({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const service = goesAsSms(message, line) ? 'SMS' : undefined
  const announced = useRef('')
  return {
    words:
      service === undefined
        ? { act: 'Send again', title: 'Send this message again?' }
        : { act: 'Send as SMS', title: 'Send this message as SMS?' },
    call: () => sendAgain(api, message, service),
    onDone: (sent: Message) => {
      onChanged(sent)
      // Pressed again before the failed one is shown as sent again, it is the same new message.
      if (announced.current === sent.id) return
      announced.current = sent.id
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
      {sentAgainWords(sent_again)}
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
      {isRest ? 'Send the rest' : words.act}
    </Button>
  )
}
