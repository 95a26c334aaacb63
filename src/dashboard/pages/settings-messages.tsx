import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { SwitchSetting, TextSetting } from './settings-fields.tsx'
import { Section } from './settings-section.tsx'

const FOREVER = 'forever'

/** What becomes of messages. */
export function MessagesSection() {
  return (
    <Section title="Messages" about="What is announced, held back, and kept.">
      <SwitchSetting
        name="announce_device_messages"
        label="Announce what is typed on the device"
        hint="Webhooks hear of it as of messages that were sent through the relay."
      />
      <SwitchSetting
        name="enforce_automation_pause"
        label="Hold programs back where a person answers"
        hint="What they send there is refused. Off, they are only told."
      />
      <Retention />
    </Section>
  )
}

type Question = { readonly days: string; readonly answer: (isYes: boolean) => void }

/** To keep less deletes for good, so that is asked first. */
function Retention() {
  const question = useSignal<Question | null>(null)
  const ask = (days: string) => {
    // What is no number of days deletes nothing: the relay says what is wrong with it.
    if (!/^[1-9][0-9]*$/.test(days)) return Promise.resolve(true)
    return new Promise<boolean>((resolve) => {
      const answer = (isYes: boolean) => {
        question.value = null
        resolve(isYes)
      }
      question.value = { days, answer }
    })
  }
  return (
    <>
      <TextSetting
        name="message_retention_days"
        label="Days that messages are kept"
        type="number"
        placeholder="For ever"
        hint="Older ones are deleted. Empty: none ever is."
        toText={(value) => (value === FOREVER ? '' : value)}
        toValue={(text) => (text === '' ? FOREVER : text)}
        ask={ask}
      />
      {question.value !== null && <AskDelete {...question.value} />}
    </>
  )
}

function AskDelete({ days, answer }: Question) {
  return (
    <Dialog
      title="Delete old messages?"
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>Keep them</Button>
          <Button look="danger" onClick={() => answer(true)}>
            Delete them
          </Button>
        </>
      }
    >
      <p>
        Messages older than {days === '1' ? 'a day' : `${grouped(Number(days))} days`} are deleted
        within the hour, and from then on. Back-ups hold them as long as those are kept.
      </p>
    </Dialog>
  )
}
