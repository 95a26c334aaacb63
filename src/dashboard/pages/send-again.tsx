// Sends a failed message again, and reports its state.

import type { Message } from '../../api/messages.ts'
import { Button } from '../components/button.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { againWords, goesAsSms } from '../words/message-states.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

export function useSendAgain({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const service = goesAsSms(message, line) ? 'SMS' : undefined
  return {
    words:
      service === undefined
        ? { act: 'Send again', title: 'Send this message again?' }
        : { act: 'Send as SMS', title: 'Send this message as SMS?' },
    call: () => sendAgain(api, message, service),
    onDone: (sent: Message) => {
      onChanged(sent)
      const { isBad, text } = againWords(sent)
      if (isBad) notices.failed(text)
      else notices.done(text)
    },
  }
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
