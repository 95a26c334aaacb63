// Approving and denying messages whose API key needs an approval.

import { useSignal } from '@preact/signals'

import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { TextArea } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useQuickAction } from '../dashboard.ts'
import { counterpart } from '../people.ts'
import { grouped } from '../words/common.ts'

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

export function ApprovalActions(props: Props) {
  const { isBusy, start } = useDecision(props, 'approve')
  return (
    <>
      <Button variant="main" icon="check" isBusy={isBusy} onClick={() => start({})}>
        Approve
      </Button>
      <WithText {...props} action="approve" field="text" value={props.message.text} />
      <WithText {...props} action="deny" field="reason" value="" />
    </>
  )
}

function useDecision({ message, onChanged }: Props, action: 'approve' | 'deny') {
  const { api, notices } = useDashboard()
  const operation = action === 'approve' ? 'approveMessage' : 'denyMessage'
  return useQuickAction(
    (body: Readonly<Record<string, string>>) =>
      api.call(operation, { params: { id: message.id }, body }),
    (decided) => {
      notices.done(action === 'approve' ? 'Approved.' : 'Denied. It will not be sent.')
      onChanged(decided)
    },
  )
}

type TextProps = Props & {
  readonly action: 'approve' | 'deny'
  readonly field: 'text' | 'reason'
  readonly value: string
}

const DIALOGS = {
  approve: { open: 'Edit…', title: 'Edit and approve', confirm: 'Approve', label: 'Text' },
  deny: {
    open: 'Deny…',
    title: 'Deny this message?',
    confirm: 'Deny',
    label: 'Reason (optional)',
  },
}

function WithText({ action, field, value, ...props }: TextProps) {
  const isOpen = useSignal(false)
  const text = useSignal(value)
  const close = () => (isOpen.value = false)
  const onChanged = (message: Message) => {
    close()
    props.onChanged(message)
  }
  const { start, ...state } = useDecision({ ...props, onChanged }, action)
  const body = () => (text.value.trim() === '' ? {} : { [field]: text.value })
  const words = DIALOGS[action]
  return (
    <>
      <Button icon={action === 'deny' ? 'cross' : undefined} onClick={() => (isOpen.value = true)}>
        {words.open}
      </Button>
      {isOpen.value && (
        <ActionDialog
          title={words.title}
          confirm={words.confirm}
          variant={action === 'deny' ? 'danger' : 'main'}
          action={{ ...state, start: () => start(body()) }}
          onClose={close}
        >
          <TextArea label={words.label} bind={text} />
        </ActionDialog>
      )}
    </>
  )
}

/**
 * Leads to the message that has waited longest for approval, here or in another conversation. `latest` is the newest
 * message of this one, which is in view with its buttons.
 */
export function ApprovalBar({ conversationId, latest }: BarProps) {
  const { session, router } = useDashboard()
  const query = { queued_reason: 'approval', type: 'all', limit: 200, contact_names: 'true' }
  const { value } = useRead('listMessages', { query }, 'message')
  const others = value?.data.filter(({ id }) => id !== latest) ?? []
  const next = others.findLast((each) => each.conversation_id === conversationId) ?? others.at(-1)
  if (next === undefined || session.member) return null
  const isHere = next.conversation_id === conversationId
  const address = { ...router.route.value.query, message: next.id }
  return (
    <Callout
      tone="wait"
      role="status"
      title={waitingWords(others.length)}
      actions={
        <LinkButton href={href('conversations', [next.conversation_id], address)}>
          {isHere ? 'Show it' : 'Next'}
        </LinkButton>
      }
    >
      {!isHere && <PersonText>{`To ${counterpart(next)}`}</PersonText>}
    </Callout>
  )
}

type BarProps = { readonly conversationId: string; readonly latest: string | undefined }

function waitingWords(count: number): string {
  return count === 1
    ? 'Another message needs your approval'
    : `${grouped(count)} more messages need your approval`
}
