// The first message to somebody, and by which line.

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { SendFields, useSendForm } from './send-form.tsx'

type Props = {
  readonly lines: readonly PhoneLine[]
  readonly onClose: () => void
}

export function NewConversation({ lines, onClose }: Props) {
  const { router } = useDashboard()
  const form = useSendForm((message) => {
    onClose()
    router.go(href('conversations', [message.conversation_id]))
  })
  return (
    <Dialog
      title="New conversation"
      onClose={onClose}
      onSubmit={() => void form.submit()}
      actions={
        <Button
          type="submit"
          look="main"
          icon="send"
          isBusy={form.isBusy.value}
          isDisabled={!form.isFilled}
        >
          Send
        </Button>
      }
    >
      <SendFields form={form} lines={lines} isFirst />
    </Dialog>
  )
}
