import { useSignal } from '@preact/signals'

import { ActionDialog } from '../components/action-dialog.tsx'
import { Field } from '../components/field.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import type { ReplayAnswer } from './webhooks-resources.ts'

type Props = { readonly webhook: Webhook; readonly onClose: () => void }

const DAY_MS = 86_400_000

/** Sends again what was given up since a time, and what was never queued. */
export function ReplayWebhook({ webhook, onClose }: Props) {
  const { api, clock, notices } = useDashboard()
  const since = useSignal(pickerTime(clock.time() - DAY_MS))
  const time = pickedTime(since.value)
  const action = useAction(
    () => api.post<ReplayAnswer>(`webhooks/${webhook.id}/replay`, { since: isoTime(time ?? 0) }),
    (answer) => {
      notices.done(replayedWords(answer))
      onClose()
    },
  )
  return (
    <ActionDialog
      title="Replay what failed"
      confirm="Replay"
      action={action}
      isReady={time !== null}
      onClose={onClose}
    >
      <p>
        Events that were given up since then are sent again, and those that were never queued for
        this webhook are sent now.
      </p>
      <Field label="Since" hint="In the time of this browser. Events are kept for 30 days.">
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
    </ActionDialog>
  )
}

function replayedWords({ replayed }: ReplayAnswer): string {
  if (replayed === 0) return 'Nothing was missed since then.'
  return replayed === 1 ? 'One event is on its way.' : `${replayed} events are on their way.`
}
