// Sends a message that failed once more, and says how far it came.

import { useDashboard } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import type { Message } from '../resources.ts'
import { useLines } from '../sources.ts'
import { againWords, goesAsSms } from '../words/message-states.ts'
import { MESSAGES as WORDS } from '../words/messages.ts'

export function useSendAgain(message: Message, onChanged: (message: Message) => void) {
  const { api, notices } = useDashboard()
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const service = goesAsSms(message, line) ? 'SMS' : undefined
  return {
    words: service === undefined ? WORDS.again : WORDS.asSms,
    call: () => sendAgain(api, message, service),
    onDone: (sent: Message) => {
      onChanged(sent)
      const { isBad, text } = againWords(sent)
      if (isBad) notices.failed(text)
      else notices.done(text)
    },
  }
}
