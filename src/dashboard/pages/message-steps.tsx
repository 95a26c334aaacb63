// The buttons below a message that waits, is uncertain, or failed.

import type { SessionState } from '../../api/dashboard.ts'
import type { Message } from '../../api/messages.ts'
import { useDashboard } from '../dashboard.ts'
import { ApprovalActions } from './approval.tsx'
import { CancelButton, ResolveButtons } from './resolve-message.tsx'
import { SendAgain, SentAgain } from './send-again.tsx'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

/** Members can't decide on messages, and cancel only their own. */
function isOpenTo(member: SessionState['member'], { status, sent_by }: Message): boolean {
  if (member === undefined || status === 'failed' || status === 'expired') return true
  return status === 'queued' && member.id === sent_by?.id
}

export function MessageSteps(props: Props) {
  const { session } = useDashboard()
  const { message } = props
  if (!isOpenTo(session.member, message)) return null
  const Again = message.sent_again === undefined ? SendAgain : SentAgain
  const steps = {
    uncertain: ResolveButtons,
    queued: message.queued_reason === 'approval' ? ApprovalActions : CancelButton,
    failed: Again,
    expired: Again,
  }
  const Steps = steps[message.status as keyof typeof steps] // Undefined for any other status.
  if (Steps === undefined) return null
  return (
    <div class="actions bubble-actions">
      <Steps {...props} />
    </div>
  )
}
