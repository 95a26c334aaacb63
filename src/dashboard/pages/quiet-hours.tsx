// Hours of each day in which a line sends nothing.

import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Form, TextField } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { useTimeZone } from '../sources.ts'
import { LINES as WORDS } from '../words/lines.ts'

export function QuietHoursCard({ line }: { readonly line: PhoneLine }) {
  const { api, notices } = useDashboard()
  const { from: storedFrom = '', to: storedTo = '' } = line.quiet_hours ?? {}
  const from = useSignal(storedFrom)
  const to = useSignal(storedTo)
  const { isBusy, failure, start } = useAction(
    (quiet_hours: PhoneLine['quiet_hours'] | null) =>
      api.patch<PhoneLine>(`phone-lines/${line.id}`, { quiet_hours }),
    () => notices.done(WORDS.saved),
  )
  const isChanged = from.value !== storedFrom || to.value !== storedTo
  const isWhole = from.value !== '' && to.value !== ''
  const turnOff = () => {
    from.value = to.value = ''
    start(null)
  }
  return (
    <Card title={WORDS.quietHours}>
      <p class="small quiet">{WORDS.quietHint(useTimeZone() ?? '…')}</p>
      <Form onSubmit={() => start({ from: from.value, to: to.value })}>
        <div class="row">
          <TextField type="time" label={WORDS.quietFrom} bind={from} />
          <TextField type="time" label={WORDS.quietTo} bind={to} />
        </div>
        <FailureNote failure={failure} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!isChanged || !isWhole}>
            {WORDS.save}
          </Button>
          {storedFrom !== '' && (
            <Button look="quiet" isBusy={isBusy} onClick={turnOff}>
              {WORDS.quietOff}
            </Button>
          )}
        </div>
      </Form>
    </Card>
  )
}
