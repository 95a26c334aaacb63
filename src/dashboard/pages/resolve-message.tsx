// Decisions about a message that is uncertain, or waits.

import type { Message } from '../../api/messages.ts'
import { Button } from '../components/button.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

function useDecided({ onChanged }: Props) {
  const { notices } = useDashboard()
  return (changed: Message) => {
    onChanged(changed)
    notices.done('Saved.')
  }
}

/** The owner's decision about a message whose sending is uncertain. */
export function ResolveButtons(props: Props) {
  const { api } = useDashboard()
  const { isBusy, start } = useQuickAction(
    (status: 'sent' | 'failed') =>
      api.call('resolveMessage', { params: { id: props.message.id }, body: { status } }),
    useDecided(props),
  )
  return (
    <>
      <Button icon="check" isBusy={isBusy} onClick={() => start('sent')}>
        Mark as sent
      </Button>
      <Button icon="cross" isBusy={isBusy} onClick={() => start('failed')}>
        Mark as failed
      </Button>
    </>
  )
}

export function CancelButton(props: Props) {
  const { api } = useDashboard()
  const { isBusy, start } = useQuickAction(
    () => api.call('cancelMessage', { params: { id: props.message.id } }),
    useDecided(props),
  )
  return (
    <Button icon="cross" isBusy={isBusy} onClick={start}>
      Cancel sending
    </Button>
  )
}
