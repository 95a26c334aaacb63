// Acts on several messages of a list, one after another. The relay decides on each by itself, so some may be done
// and others refused.

import { useSignal, type Signal } from '@preact/signals'

import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { Answer, Api } from '../api.ts'
import { Button } from '../components/button.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { useAction, useDashboard } from '../dashboard.ts'
import { sendAgain } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { countWords, grouped } from '../words/common.ts'
import { againWords, goesAsSms } from '../words/message-states.ts'

type Act = {
  readonly text: string
  /** The end of the sentence "3 messages approved". */
  readonly done: string
  /** A sentence of the confirmation, below its title. */
  readonly consequence: string
  readonly call: (
    api: Api,
    message: Message,
    line: PhoneLine | undefined,
  ) => Promise<Answer<Message>>
  /** The reason why the relay's answer is no success; null if it is one. Without it, every answer is. */
  readonly whyNot?: (answer: Message) => string | null
}

const decide =
  (operation: 'approveMessage' | 'denyMessage') =>
  (api: Api, { id }: Message) =>
    api.call(operation, { params: { id }, body: {} })

const resolve =
  (status: 'sent' | 'failed') =>
  (api: Api, { id }: Message) =>
    api.call('resolveMessage', { params: { id }, body: { status } })

const SEND_AGAIN: Act = {
  text: 'Send again',
  done: 'sent again',
  consequence: 'Each will be sent as a new message, to the same recipient from the same line.',
  call: (api, message, line) =>
    sendAgain(api, message, goesAsSms(message, line) ? 'SMS' : undefined),
  whyNot: (sent) => {
    const { isBad, text } = againWords(sent)
    return isBad ? text : null
  },
}
const CANCEL: Act = {
  text: 'Cancel sending',
  done: 'canceled',
  consequence: 'They will not be sent.',
  call: (api, { id }) => api.call('cancelMessage', { params: { id } }),
}

/** By the status in the filter, or the reason why messages wait. */
const ACTS: Readonly<Record<string, readonly Act[]>> = {
  approval: [
    {
      text: 'Approve',
      done: 'approved',
      consequence: 'They will be sent as they are.',
      call: decide('approveMessage'),
    },
    { ...CANCEL, text: 'Deny', done: 'denied', call: decide('denyMessage') },
  ],
  scheduled: [CANCEL],
  quiet_hours: [CANCEL],
  failed: [SEND_AGAIN],
  expired: [SEND_AGAIN],
  uncertain: [
    {
      text: 'Mark as sent',
      done: 'marked as sent',
      consequence: 'Do this if you saw them on the device.',
      call: resolve('sent'),
    },
    {
      text: 'Mark as failed',
      done: 'marked as failed',
      consequence: "Do this if they aren't on the device.",
      call: resolve('failed'),
    },
  ],
}

/** Failures that a person caused: such a message can only be sent again from its own page. */
const DECIDED = ['canceled', 'denied', 'resolved_by_hand']

/** Returns whether the message can be picked in a list of this status, or of what waits for this reason. */
export function canPick(status: string, { error, sent_again }: Message): boolean {
  return status in ACTS && sent_again === undefined && !DECIDED.includes(error?.code ?? '')
}

type Props = {
  readonly status: string
  readonly messages: readonly Message[]
  /** Ids of messages. */
  readonly picked: Signal<ReadonlySet<string>>
  readonly onChanged: (message: Message) => void
}

export function BulkBar({ status, messages, picked, onChanged }: Props) {
  const chosen = messages.filter(({ id }) => picked.value.has(id))
  const isAll = chosen.length === messages.length
  const pick = (all: readonly Message[]) => (picked.value = new Set(all.map(({ id }) => id)))
  return (
    <div class="bulk" role="group" aria-label="Picked messages">
      <label class="bulk-all">
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ currentTarget }) => pick(currentTarget.checked ? messages : [])}
        />
        {chosen.length === 0 ? 'Pick all' : `${grouped(chosen.length)} picked`}
      </label>
      {chosen.length > 0 &&
        ACTS[status]?.map((act, place) => (
          <BulkButton
            key={act.text}
            isMain={place === 0}
            messages={chosen}
            onDone={() => pick([])}
            {...{ act, onChanged }}
          />
        ))}
    </div>
  )
}

type ButtonProps = Pick<Props, 'messages' | 'onChanged'> & {
  readonly act: Act
  readonly isMain: boolean
  readonly onDone: () => void
}

function BulkButton({ act, isMain, messages, onDone, onChanged }: ButtonProps) {
  const { api, notices } = useDashboard()
  const lines = useLines().value?.data ?? []
  const isOpen = useSignal(false)
  const action = useAction(
    async () => {
      const failures: string[] = []
      for (const message of messages) {
        const line = lines.find(({ id }) => id === message.phone_line_id)
        const answer = await act.call(api, message, line)
        if (answer.ok) onChanged(answer.value)
        const why = answer.ok ? act.whyNot?.(answer.value) : answer.failure.message
        if (typeof why === 'string') failures.push(why)
      }
      return { ok: true, value: failures }
    },
    (failures) => {
      isOpen.value = false
      onDone()
      const done = messages.length - failures.length
      const words = `${countWords(done, 'message')} ${act.done}`
      const [why] = failures
      if (why === undefined) notices.done(`${words}.`)
      else notices.failed(`${words}, ${grouped(failures.length)} not: ${why}`)
    },
  )
  return (
    <>
      <Button variant={isMain ? 'main' : 'plain'} onClick={() => (isOpen.value = true)}>
        {`${act.text}…`}
      </Button>
      {isOpen.value && (
        <ActionDialog
          title={`${act.text}: ${countWords(messages.length, 'message')}?`}
          confirm={act.text}
          action={action}
          onClose={() => (isOpen.value = false)}
        >
          <p>{act.consequence}</p>
        </ActionDialog>
      )}
    </>
  )
}
