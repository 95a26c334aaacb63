// Dialogs that count, and then send, a webhook's failed deliveries again, or events that it missed.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { Webhook } from '../../api/webhooks.ts'
import { missedWords } from '../../domain/webhook-state.ts'
import type { Answer } from '../api.ts'
import { ActionDialog } from '../components/dialog.tsx'
import { SelectField, Switch, TextField } from '../components/form.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useLines } from '../sources.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { countWords } from '../words/common.ts'
import {
  confirmation,
  DELIVERIES,
  hostAndPathOf,
  isConfirmed,
  REPLAY,
} from '../words/deliveries.ts'
import { lineName } from '../words/line-states.ts'
import { EVENT_NAMES, EVENT_OPTIONS } from '../words/webhook-form.ts'

type Props = { readonly webhook: Webhook; readonly onClose: () => void }

export function RetryFailed({ webhook, onClose }: Props) {
  const { api } = useDashboard()
  const choice = useChoice()
  return (
    <CountedDialog
      title={REPLAY.retry}
      webhook={webhook}
      what="failed delivery"
      call={async (dry_run) => {
        const body = { ...bodyOf(choice), dry_run }
        const answer = await api.call('retryFailedDeliveries', { params: { id: webhook.id }, body })
        return counted(answer, ({ retried, would_retry = retried }) => would_retry)
      }}
      onClose={onClose}
    >
      <p>Each failed delivery is retried, with its full schedule of attempts.</p>
      <ChoiceFields choice={choice} />
    </CountedDialog>
  )
}

export function SendPastEvents({ webhook, onClose }: Props) {
  const { api } = useDashboard()
  const since = useSignal(pickerTime(Date.parse(webhook.created_at)))
  const isEarlier = useSignal(false)
  const choice = useChoice()
  const time = pickedTime(since.value)
  return (
    <CountedDialog
      title={REPLAY.past}
      webhook={webhook}
      what="event"
      isReady={time !== null}
      call={async (dry_run) => {
        const body = {
          since: isoTime(time ?? 0),
          include_earlier: isEarlier.value,
          ...bodyOf(choice),
          dry_run,
        }
        const answer = await api.call('replayWebhook', { params: { id: webhook.id }, body })
        return counted(answer, ({ replayed, would_replay = replayed }) => would_replay)
      }}
      onClose={onClose}
    >
      <p>
        Sends events that this webhook missed or that failed. Delivered events aren't sent again.
      </p>
      <TextField
        type="datetime-local"
        label="Since"
        hint="In your local time. Events are kept for 30 days."
        isFirst
        bind={since}
      />
      <Switch
        label="Include events from before this webhook was created"
        isOn={isEarlier.value}
        onChange={(isOn) => (isEarlier.value = isOn)}
      />
      <ChoiceFields choice={choice} />
    </CountedDialog>
  )
}

/** Offers a webhook that was just resumed the events that came while it was paused. */
export function SendMissed({ webhook, onClose }: Props) {
  const { api } = useDashboard()
  const { events_while_paused: count = 0, paused_at: since = '' } = webhook
  return (
    <CountedDialog
      title={missedWords(count)}
      webhook={webhook}
      what="event"
      count={count}
      ask={`Send them to ${hostAndPathOf(webhook.url)} now? Events are kept for 30 days, so you can also choose "Send past events…" later.`}
      cancel="Don't send"
      call={async () => {
        const call = { params: { id: webhook.id }, body: { since } }
        const answer = await api.call('replayWebhook', call)
        return counted(answer, ({ replayed }) => replayed)
      }}
      onClose={onClose}
    />
  )
}

/** An event's name and a line's id; empty for all. */
const useChoice = () => ({ event: useSignal(''), line: useSignal('') })
type Choice = ReturnType<typeof useChoice>

function bodyOf({ event, line }: Choice) {
  return {
    ...(event.value === '' ? {} : { events: EVENT_NAMES.filter((name) => name === event.value) }),
    ...(line.value === '' ? {} : { phone_line_id: line.value }),
  }
}

function ChoiceFields({ choice: { event, line } }: { readonly choice: Choice }) {
  const lines = useLines().value?.data ?? []
  return (
    <>
      <SelectField label={DELIVERIES.event} bind={event} options={EVENT_OPTIONS} />
      <SelectField
        label="Line"
        bind={line}
        options={[
          { value: '', text: 'All lines' },
          ...lines.map((each) => ({ value: each.id, text: lineName(each) })),
        ]}
      />
    </>
  )
}

type CountedProps = Props & {
  readonly title: string
  readonly what: string
  readonly isReady?: boolean | undefined
  /** Left out if the events must be counted first. */
  readonly count?: number | undefined
  /** Replaces the sentence about what will be sent. */
  readonly ask?: string | undefined
  readonly cancel?: string | undefined
  /** Counts the events, and also sends them unless it is a dry run. */
  readonly call: (isDryRun: boolean) => Promise<Answer<number>>
  /** Shown until the events are counted. */
  readonly children?: ComponentChildren
}

/** Counts, then sends after a confirmation. A large number must be typed. */
function CountedDialog(props: CountedProps) {
  const { title, webhook, what, isReady = true, onClose, children } = props
  const { notices } = useDashboard()
  const found = useSignal<number | null>(props.count ?? null)
  const typed = useSignal('')
  const count = useAction(
    () => props.call(true),
    (value) => (found.value = value),
  )
  const send = useAction(
    () => props.call(false),
    (value) => {
      notices.done(`Sending ${countWords(value, what)}.`)
      onClose()
    },
  )
  const { value } = found
  if (value === null) {
    const confirm = 'Continue'
    return (
      <ActionDialog {...{ title, confirm, action: count, isReady, onClose }}>
        {children}
      </ActionDialog>
    )
  }
  const target = hostAndPathOf(webhook.url)
  const wanted = confirmation(value)
  return (
    <ActionDialog
      key="count"
      title={title}
      confirm={value === 0 ? 'Send' : `Send ${countWords(value, what)}`}
      cancel={props.cancel}
      action={send}
      isReady={value > 0 && isConfirmed(typed.value, value)}
      onClose={onClose}
    >
      <p>
        {value > 0 && (props.ask ?? `This will send ${countWords(value, what)} to ${target}.`)}
        {value === 0 && 'Nothing to send.'}
      </p>
      {wanted !== null && <TextField label={`Type ${wanted} to confirm`} isFirst bind={typed} />}
    </ActionDialog>
  )
}

function counted<T>(answer: Answer<T>, of: (value: T) => number): Answer<number> {
  return answer.ok ? { ok: true, value: of(answer.value) } : answer
}
