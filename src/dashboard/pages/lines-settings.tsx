import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { TextField } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Switch } from '../components/switch.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError } from '../field-error.ts'
import type { PhoneLine } from '../resources.ts'

type Changes = Partial<
  Pick<PhoneLine, 'label' | 'daily_contact_limit' | 'is_enabled' | 'relay_sms'>
>

const LIMIT_WANTED = 'It must be a whole number from 0 to 100,000.'

export function LineSettings({ line }: { readonly line: PhoneLine }) {
  const { api, notices } = useDashboard()
  const label = useDraft(line.label ?? '')
  const limit = useDraft(String(line.daily_contact_limit))
  const { isBusy, failure, start } = useAction(
    (changes: Changes) => api.patch<PhoneLine>(`phone-lines/${line.id}`, changes),
    () => notices.done('Saved.'),
  )
  const save = () =>
    start({
      ...(label.isChanged && { label: label.value.trim() || null }),
      // What is no number is sent as it is: the relay says what would be right.
      ...(limit.isChanged && { daily_contact_limit: Number(limit.value || 'none') }),
    })
  return (
    <Card title="Settings">
      <Form onSubmit={save}>
        <TextField
          label="Name"
          placeholder={line.phone_number}
          maxLength={100}
          bind={label}
          error={fieldError(failure, 'label')}
        />
        <TextField
          label="New contacts a day, at most"
          type="number"
          bind={limit}
          error={fieldError(failure, 'daily_contact_limit') && LIMIT_WANTED}
          hint="Apple blocks lines that write to many strangers. People whom the line knows never count."
        />
        <FailureNote failure={failure} but={['label', 'daily_contact_limit']} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!label.isChanged && !limit.isChanged}>
            Save
          </Button>
        </div>
      </Form>
      <Switch
        label="Sends messages"
        isOn={line.is_enabled}
        hint="Off, it goes on receiving; what is sent by it waits, for 24 hours at most."
        onChange={(is_enabled) => start({ is_enabled })}
      />
      <Switch
        label="Relays SMS too"
        isOn={line.relay_sms}
        hint="On, SMS and RCS are announced as iMessages are. Off, they are listed as history; they stay history when it is switched on."
        onChange={(relay_sms) => start({ relay_sms })}
      />
    </Card>
  )
}

/** A text as it is kept, until somebody types another one. */
function useDraft(kept: string) {
  const typed = useSignal<string | null>(null)
  useEffect(() => {
    typed.value = null
  }, [kept])
  return {
    get value() {
      return typed.value ?? kept
    },
    set value(text) {
      typed.value = text
    },
    isChanged: typed.value !== null && typed.value.trim() !== kept,
  }
}
