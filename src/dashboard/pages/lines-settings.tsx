import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { TextField } from '../components/field.tsx'
import { Switch } from '../components/switch.tsx'
import { useDashboard } from '../dashboard.ts'
import { fieldError, otherFailure } from '../field-error.ts'
import type { Failure } from '../request.ts'
import type { PhoneLine } from '../resources.ts'

type Props = { readonly line: PhoneLine }
type Changes = Partial<
  Pick<PhoneLine, 'label' | 'daily_contact_limit' | 'is_enabled' | 'relay_sms'>
>

const FIELDS = ['label', 'daily_contact_limit']
const LIMIT_MAX = 100_000
const LIMIT_WANTED = 'It must be a whole number from 0 to 100,000.'

export function LineSettings({ line }: Props) {
  const { label, limit, isBusy, isChanged, failure, save, change } = useLineSettings(line)
  const rest = otherFailure(failure.value, FIELDS)
  return (
    <Card title="Settings">
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <TextField
          label="Name"
          placeholder={line.phone_number}
          maxLength={100}
          value={label.value ?? line.label ?? ''}
          error={fieldError(failure.value, 'label')}
          onInput={(text) => (label.value = text)}
        />
        <TextField
          label="New contacts a day, at most"
          type="number"
          min={0}
          max={LIMIT_MAX}
          value={limit.value ?? String(line.daily_contact_limit)}
          error={fieldError(failure.value, 'daily_contact_limit') === null ? null : LIMIT_WANTED}
          hint="People whom the line knows never count. Apple blocks lines that write to many strangers."
          onInput={(text) => (limit.value = text)}
        />
        {rest !== null && <FailureNote failure={rest} />}
        <div class="actions">
          <Button type="submit" isBusy={isBusy.value} isDisabled={!isChanged}>
            Save
          </Button>
        </div>
      </form>
      <Switch
        label="Sends messages"
        isOn={line.is_enabled}
        hint="Switched off it is paused: it goes on receiving, and what is sent by it waits for 24 hours at most."
        onChange={(is_enabled) => void change({ is_enabled })}
      />
      <Switch
        label="Relays SMS too"
        isOn={line.relay_sms}
        hint="SMS and RCS that come in are stored and announced, as iMessages are."
        onChange={(relay_sms) => void change({ relay_sms })}
      />
    </Card>
  )
}

function useLineSettings(line: PhoneLine) {
  const { api, notices } = useDashboard()
  /** What is typed and not saved yet; null where that is as the line has it. */
  const label = useSignal<string | null>(null)
  const limit = useSignal<string | null>(null)
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)

  async function change(changes: Changes): Promise<boolean> {
    const answer = await api.patch<PhoneLine>(`phone-lines/${line.id}`, changes)
    failure.value = answer.ok ? null : answer.failure
    if (answer.ok) notices.done('Saved.')
    return answer.ok
  }
  async function save() {
    isBusy.value = true
    const isSaved = await change({
      ...(label.value === null ? {} : { label: label.value.trim() || null }),
      // What is no number is sent as it is: the relay says what would be right.
      ...(limit.value === null ? {} : { daily_contact_limit: Number(limit.value || 'none') }),
    })
    isBusy.value = false
    if (!isSaved) return
    label.value = null
    limit.value = null
  }
  const isChanged = label.value !== null || limit.value !== null
  return { label, limit, isBusy, isChanged, failure, save, change }
}
