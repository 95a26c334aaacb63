// The first message to somebody, and by which line.

import { href } from '../address.ts'
import { Dialog } from '../components/dialog.tsx'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { SendButton, SendFields, useSendForm } from './send-form.tsx'

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
      onSubmit={form.submit}
      actions={<SendButton {...form.button} />}
    >
      <SendFields form={form} lines={lines} isFirst />
    </Dialog>
  )
}
