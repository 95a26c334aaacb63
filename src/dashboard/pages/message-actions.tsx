// The buttons of a message that waits, is uncertain, or failed.

import { useSignal } from '@preact/signals'

import type { SessionState } from '../../api/dashboard.ts'
import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { TextArea } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useQuickAction } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import { counterpart } from '../people.ts'
import { useLines } from '../sources.ts'
import { momentWords } from '../time-words.ts'
import { grouped } from '../words/common.ts'
import { againWords, goesAsSms } from '../words/message-states.ts'

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

function useDecided({ onChanged }: Props) {
  const { notices } = useDashboard()
  return (changed: Message) => {
    onChanged(changed)
    notices.done('Saved.')
  }
}

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

export function useSendAgain({ message, onChanged }: Props) {
  const { api, notices } = useDashboard()
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const service = goesAsSms(message, line) ? 'SMS' : undefined
  return {
    words: service === undefined ? 'Send again' : 'Send as SMS',
    call: () => sendAgain(api, message, service),
    onDone: (sent: Message) => {
      onChanged(sent)
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
      Sent again {sent_again.service_requested === 'SMS' && 'as SMS '}· {momentWords(sent_again.at)}
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
      {isRest ? 'Send the rest' : words}
    </Button>
  )
}

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
