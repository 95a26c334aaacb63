import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { TextField } from '../components/field.tsx'
import { Switch } from '../components/switch.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError, otherFailure } from '../field-error.ts'
import type { PhoneLine } from '../resources.ts'

type Props = { readonly line: PhoneLine }
type Changes = Partial<
  Pick<PhoneLine, 'label' | 'daily_contact_limit' | 'is_enabled' | 'relay_sms'>
>

const FIELDS = ['label', 'daily_contact_limit']
const LIMIT_MAX = 100_000
const LIMIT_WANTED = 'It must be a whole number from 0 to 100,000.'

export function LineSettings({ line }: Props) {
  const { label, limit, save, toggle } = useLineSettings(line)
  const failure = save.failure ?? toggle.failure
  const rest = otherFailure(failure, FIELDS)
  return (
    <Card title="Settings">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save.start()
        }}
      >
        <TextField
          label="Name"
          placeholder={line.phone_number}
          maxLength={100}
          value={label.value ?? line.label ?? ''}
          error={fieldError(failure, 'label')}
          onInput={(text) => (label.value = text)}
        />
        <TextField
          label="New contacts a day, at most"
          type="number"
          min={0}
          max={LIMIT_MAX}
          value={limit.value ?? String(line.daily_contact_limit)}
          error={fieldError(failure, 'daily_contact_limit') === null ? null : LIMIT_WANTED}
          hint="People whom the line knows never count. Apple blocks lines that write to many strangers."
          onInput={(text) => (limit.value = text)}
        />
        {rest !== null && <FailureNote failure={rest} />}
        <div class="actions">
          <Button
            type="submit"
            isBusy={save.isBusy}
            isDisabled={label.value === null && limit.value === null}
          >
            Save
          </Button>
        </div>
      </form>
      <Switch
        label="Sends messages"
        isOn={line.is_enabled}
        hint="Switched off it is paused: it goes on receiving, and what is sent by it waits for 24 hours at most."
        onChange={(is_enabled) => toggle.start({ is_enabled })}
      />
      <Switch
        label="Relays SMS too"
        isOn={line.relay_sms}
        hint="SMS and RCS that come in are stored and announced, as iMessages are."
        onChange={(relay_sms) => toggle.start({ relay_sms })}
      />
    </Card>
  )
}

function useLineSettings(line: PhoneLine) {
  const { api, notices } = useDashboard()
  /** What is typed and not saved yet; null where that is as the line has it. */
  const label = useSignal<string | null>(null)
  const limit = useSignal<string | null>(null)
  const patch = (changes: Changes) => api.patch<PhoneLine>(`phone-lines/${line.id}`, changes)
  const typed = (): Changes => ({
    ...(label.value === null ? {} : { label: label.value.trim() || null }),
    // What is no number is sent as it is: the relay says what would be right.
    ...(limit.value === null ? {} : { daily_contact_limit: Number(limit.value || 'none') }),
  })
  const save = useAction(
    () => patch(typed()),
    () => {
      label.value = null
      limit.value = null
      notices.done('Saved.')
    },
  )
  const toggle = useAction(patch, () => notices.done('Saved.'))
  return { label, limit, save, toggle }
}
