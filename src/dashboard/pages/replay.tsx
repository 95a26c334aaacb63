// Sending many deliveries again: those that failed, or past events. They are counted first, and pending
// ones can be stopped.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { countWords } from '../../domain/number-words.ts'
import type { Answer } from '../api.ts'
import { Callout } from '../components/callout.tsx'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { Field, Switch, TextField } from '../components/form.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useRead } from '../dashboard.ts'
import type {
  ReplayAnswer,
  ReplayState,
  RetryAnswer,
  StoppedReplay,
  Webhook,
} from '../resources.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { confirmation, hostAndPathOf, isConfirmed } from '../words/webhooks.ts'
import { EventChoice } from './webhook-parts.tsx'

type Props = { readonly webhook: Webhook; readonly onClose: () => void }

export function RetryFailed({ webhook, onClose }: Props) {
  const { api } = useDashboard()
  return (
    <CountedDialog
      title="Retry failed deliveries"
      webhook={webhook}
      what="failed delivery"
      call={async (dry_run) => {
        const path = `webhooks/${webhook.id}/retry-failed`
        const answer = await api.post<RetryAnswer>(path, { dry_run })
        return counted(answer, ({ retried, would_retry = retried }) => would_retry)
      }}
      onClose={onClose}
    >
      <p>Each failed delivery is retried, with its full schedule of attempts.</p>
    </CountedDialog>
  )
}

export function SendPastEvents({ webhook, onClose }: Props) {
  const { api } = useDashboard()
  const since = useSignal(pickerTime(Date.parse(webhook.created_at)))
  const isEarlier = useSignal(false)
  const events = useSignal<readonly string[]>(webhook.events)
  const time = pickedTime(since.value)
  return (
    <CountedDialog
      title="Send past events"
      webhook={webhook}
      what="event"
      isReady={time !== null && events.value.length > 0}
      call={async (dry_run) => {
        const answer = await api.post<ReplayAnswer>(`webhooks/${webhook.id}/replay`, {
          since: isoTime(time ?? 0),
          include_earlier: isEarlier.value,
          events: events.value,
          dry_run,
        })
        return counted(answer, ({ replayed, would_replay = replayed }) => would_replay)
      }}
      onClose={onClose}
    >
      <p>
        Sends events that this webhook missed or that failed. Delivered events aren't sent again.
      </p>
      <Field label="Since" hint="In your local time. Events are kept for 30 days.">
        {(box) => (
          <input
            {...box}
            class="input"
            type="datetime-local"
            autoFocus
            value={since.value}
            onInput={(event) => (since.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <Switch
        label="Include events from before this webhook was created"
        isOn={isEarlier.value}
        onChange={(isOn) => (isEarlier.value = isOn)}
      />
      <EventChoice
        chosen={events.value}
        error={null}
        onChange={(chosen) => (events.value = chosen)}
      />
    </CountedDialog>
  )
}

type CountedProps = Props & {
  readonly title: string
  readonly what: string
  readonly isReady?: boolean | undefined
  /** Counts in a dry run, and sends otherwise. */
  readonly call: (isDryRun: boolean) => Promise<Answer<number>>
  /** The choice, replaced by the count. */
  readonly children: ComponentChildren
}

/** Counts, shows the number, and sends after a confirmation; a large number must be typed. */
function CountedDialog(props: CountedProps) {
  const { title, webhook, what, isReady = true, onClose, children } = props
  const { notices } = useDashboard()
  const found = useSignal<number | null>(null)
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
  const wanted = confirmation(value)
  return (
    <ActionDialog
      title={title}
      confirm={value === 0 ? 'Send' : `Send ${countWords(value, what)}`}
      action={send}
      isReady={value > 0 && isConfirmed(typed.value, value)}
      onClose={onClose}
    >
      <p>
        {value === 0
          ? 'Nothing to send.'
          : `This will send ${countWords(value, what)} to ${hostAndPathOf(webhook.url)}.`}
      </p>
      {wanted !== null && <TextField label={`Type ${wanted} to confirm`} isFirst bind={typed} />}
    </ActionDialog>
  )
}

/** The pending events of a replay or retry, and the way to stop them. */
export function PendingReplay({ webhook }: { readonly webhook: Webhook }) {
  const { api, notices } = useDashboard()
  const path = `webhooks/${webhook.id}/replay`
  const state = useRead<ReplayState>(path, 'delivery', 'webhook')
  const waiting = state.value?.waiting ?? 0
  if (waiting === 0) return null
  const stop = (
    <ConfirmButton
      text="Stop…"
      title="Stop sending these?"
      confirm="Stop"
      look="danger"
      call={() => api.remove<StoppedReplay>(path)}
      onDone={({ stopped }) => {
        notices.done(`Stopped ${countWords(stopped, 'event')}.`)
        state.refresh()
      }}
    >
      Pending events won't be sent. Events already sent aren't affected.
    </ConfirmButton>
  )
  return (
    <Callout tone="wait" title={`${countWords(waiting, 'past event')} pending`} actions={stop}>
      Sending to {hostAndPathOf(webhook.url)}.
    </Callout>
  )
}

function counted<T>(answer: Answer<T>, of: (value: T) => number): Answer<number> {
  return answer.ok ? { ok: true, value: of(answer.value) } : answer
}
