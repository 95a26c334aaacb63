// Findings as cards, and those that the owner has put off.

import { useSignal } from '@preact/signals'

import { Button, LinkButton } from '../components/button.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { Field, SelectField } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { Ago } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { momentWords } from '../figure-words.ts'
import type { FindingBranch, HealthFinding } from '../resources.ts'
import { useRelayState } from '../sources.ts'
import { HOME as WORDS } from '../words/home.ts'

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const

/** One card for each cause, with its consequences inside. */
export function FindingList({ findings }: { readonly findings: readonly FindingBranch[] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label={WORDS.issues}>
      <ul class="stack findings">
        {findings.map((branch) => (
          <li key={keyOf(branch.cause)}>
            <FindingCard {...branch} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function FindingCard({ cause, consequences, place, guide }: FindingBranch) {
  const tone = TONES[cause.severity]
  return (
    <article class={`card finding tone-${tone}`}>
      <span class="finding-sign">
        <Icon name={tone === 'wait' ? 'info' : 'warning'} />
      </span>
      <div class="finding-words">
        <p class="finding-severity">
          {WORDS.severities[cause.severity]} · <Ago time={cause.since} />
        </p>
        <h2>{cause.title}</h2>
        <p class="quiet">{cause.why}</p>
        <p>
          {cause.fix}
          {guide !== null && (
            <>
              {' '}
              <a href={guide}>{WORDS.learnMore}</a>
            </>
          )}
        </p>
        {consequences.length > 0 && (
          <div class="consequences">
            <p class="small quiet">{WORDS.alsoCaused}</p>
            <ul>
              {consequences.map((finding) => (
                <li key={keyOf(finding)}>
                  <strong>{finding.title}</strong> <span class="quiet">{finding.why}</span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <div class="actions">
        <LinkButton href={place.href}>{WORDS.open(place.name)}</LinkButton>
        <Snooze finding={cause} />
      </div>
    </article>
  )
}

/** The same for as long as the finding is about the same thing. */
function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}

const DAY_MS = 86_400_000
const PERIODS = [
  { value: '1', text: WORDS.oneDay },
  { value: '7', text: WORDS.oneWeek },
  { value: '', text: WORDS.untilDate },
]

/** The call that puts a finding off until then, or shows it again where `until` is null. */
function useSnooze(finding: HealthFinding, onDone: () => void) {
  const { api } = useDashboard()
  const { refresh } = useRelayState()
  const { code, about } = finding
  return useAction(
    (until: number | null) => {
      const time = until === null || Number.isNaN(until) ? null : new Date(until).toISOString()
      return api.put<HealthFinding>('snoozes', { code, about, until: time })
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
    notices.done(WORDS.snoozeDone)
  })
  // A date begins at midnight of this browser.
  const until = () =>
    days.value === ''
      ? Date.parse(`${date.value}T00:00`)
      : clock.time() + Number(days.value) * DAY_MS
  return (
    <>
      <Button look="quiet" icon="clock" onClick={() => (isOpen.value = true)}>
        {WORDS.snooze}
      </Button>
      {isOpen.value && (
        <ActionDialog
          title={WORDS.snoozeTitle}
          confirm={WORDS.snoozeNow}
          action={{ isBusy, failure, start: () => start(until()) }}
          isReady={days.value !== '' || date.value !== ''}
          onClose={close}
        >
          <p>{WORDS.snoozeText}</p>
          <SelectField
            label={WORDS.snoozeFor}
            value={days.value}
            options={PERIODS}
            onChange={(value) => (days.value = value)}
          />
          {days.value === '' && (
            <Field label={WORDS.date}>
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
      <summary>{WORDS.snoozed(findings.length)}</summary>
      <ul class="stack-tight">
        {findings.map(({ cause }) => (
          <li key={keyOf(cause)}>
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
          {WORDS.snoozedUntil(momentWords(finding.snoozed_until ?? ''))}
        </span>
      </span>
      <Button isBusy={isBusy} onClick={() => start(null)}>
        {WORDS.showAgain}
      </Button>
    </div>
  )
}
