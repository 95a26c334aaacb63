import type { Message } from '../../api/messages.ts'
import { Button } from '../components/button.tsx'
import { useDashboard, useAction } from '../dashboard.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

/** The owner's decision about a message whose sending is uncertain. */
export function ResolveButtons({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const { isBusy, start } = useAction(
    (status: 'sent' | 'failed') =>
      api.call('resolveMessage', { params: { id: message.id }, body: { status } }),
    (changed) => {
      onChanged(changed)
      notices.done('Saved.')
    },
    (failure) => notices.failed(failure.message),
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
