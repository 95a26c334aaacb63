// Snoozing findings until a time.

import { useSignal } from '@preact/signals'

import type { FindingBranch } from '../../api/dashboard.ts'
import type { HealthFinding } from '../../api/health.ts'
import { Button } from '../components/button.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { Field, SelectField, optionsOf } from '../components/form.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useRelayState } from '../sources.ts'
import { momentWords, isoTime } from '../time-words.ts'
import { countWords } from '../words/common.ts'

const DAY_MS = 86_400_000
const PERIODS = optionsOf({ 1: '1 day', 7: '1 week', '': 'Until a date' })

/** The action snoozes a finding until a time in milliseconds since 1970, or shows it again for null. */
function useSnooze(finding: HealthFinding, onDone: () => void) {
  const { api } = useDashboard()
  const { refresh } = useRelayState()
  const { code, about } = finding
  return useAction(
    (until: number | null) => {
      const time = until === null || Number.isNaN(until) ? null : isoTime(until)
      return api.call('putSnooze', { body: { code, about, until: time } })
    },
    () => {
      refresh()
      onDone()
    },
  )
}

export function Snooze({ finding }: { readonly finding: HealthFinding }) {
  const { clock, notices } = useDashboard()
  const isOpen = useSignal(false)
  const days = useSignal('1')
  const date = useSignal('')
  const close = () => (isOpen.value = false)
  const { isBusy, failure, start } = useSnooze(finding, () => {
    close()
    notices.done('Snoozed.')
  })
  // Midnight in this browser's time zone.
  const until = () =>
    days.value === ''
      ? Date.parse(`${date.value}T00:00`)
      : clock.time() + Number(days.value) * DAY_MS
  return (
    <>
      <Button variant="quiet" icon="clock" onClick={() => (isOpen.value = true)}>
        Snooze…
      </Button>
      {isOpen.value && (
        <ActionDialog
          title="Snooze this issue?"
          confirm="Snooze"
          action={{ isBusy, failure, start: () => start(until()) }}
          isReady={days.value !== '' || date.value !== ''}
          onClose={close}
        >
          <p>It stays hidden until then, unless it gets worse.</p>
          <SelectField label="Hide for" bind={days} options={PERIODS} />
          {days.value === '' && (
            <Field label="Date">
              {(box) => (
                <input
                  {...box}
                  class="input"
                  type="date"
                  value={date.value}
                  onChange={(event) => (date.value = event.currentTarget.value)}
                />
              )}
            </Field>
          )}
        </ActionDialog>
      )}
    </>
  )
}

export function SnoozedList({ findings }: { readonly findings: readonly FindingBranch[] }) {
  if (findings.length === 0) return null
  return (
    <details class="snoozed">
      <summary>{countWords(findings.length, 'snoozed issue')}</summary>
      <ul class="stack-tight">
        {findings.map(({ cause }) => (
          <li key={`${cause.code} ${cause.about.id}`}>
            <SnoozedRow finding={cause} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function SnoozedRow({ finding }: { readonly finding: HealthFinding }) {
  const { isBusy, start } = useSnooze(finding, () => {})
  return (
    <div class="row">
      <span class="grow">
        {finding.title}{' '}
        <span class="small quiet">
          {`Snoozed until ${momentWords(finding.snoozed_until ?? '')}`}
        </span>
      </span>
      <Button isBusy={isBusy} onClick={() => start(null)}>
        Show now
      </Button>
    </div>
  )
}
