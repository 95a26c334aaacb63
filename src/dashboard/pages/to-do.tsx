// Things that need the owner: unfinished setup, issues, failing webhooks, and messages.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

import type { Attention, FindingBranch, WebhookDay } from '../../api/dashboard.ts'
import type { HealthFinding } from '../../api/health.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import type { IconName, Tone } from '../components/drawings.ts'
import { SelectField, TextField, optionsOf } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useQuickAction, useAction } from '../dashboard.ts'
import {
  useAbout,
  useAttention,
  useRelayState,
  useSite,
  useWebhookDays,
  useWebhooks,
} from '../sources.ts'
import { momentWords, isoTime } from '../time-words.ts'
import { countWords, grouped } from '../words/common.ts'
import { isReady } from '../words/line-states.ts'
import { hasLeft } from '../words/message-states.ts'
import { stepNamed, stepsFor } from '../words/setup-steps.ts'
import { PauseButton, useRetry } from './webhook-pause.tsx'

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const
const SEVERITIES = { error: 'Error', warning: 'Warning', info: 'Info' } as const

const GROUPED = new Set(['webhook_failing', 'webhook_gone', 'webhook_deactivated'])

/** Failing webhooks share one card. */
function isGrouped({ cause, consequences }: FindingBranch): boolean {
  return GROUPED.has(cause.code) && consequences.length === 0
}

/** One list of everything that needs the owner; empty if nothing does. */
export function ToDo({ lines }: SetupProps) {
  const site = useSite()
  const { findings = [], snoozed = [] } = useRelayState(site).value ?? {}
  const failing = findings.filter(isGrouped).map(({ cause }) => cause)
  const webhooks = useFailingWebhooks(failing)
  const counts = useAttention(site).value
  const messages = ATTENTION.filter(({ name }) => (counts?.[name] ?? 0) > 0)
  const others = findings.filter((branch) => !isGrouped(branch))
  return (
    <>
      <SetupCallout lines={lines} />
      {others.length + webhooks.length + messages.length > 0 && (
        <Card kind="list" title="To do">
          <ul aria-label="To do">
            {others.map((branch) => (
              <FindingRow key={keyOf(branch.cause)} {...branch} />
            ))}
            {webhooks.map((each) => (
              <WebhookRow key={each.webhook.id} {...each} />
            ))}
            {messages.map(({ name, ...row }) => (
              <MessagesRow key={name} name={name} {...row} count={counts?.[name] ?? 0} />
            ))}
          </ul>
        </Card>
      )}
      <SnoozedList findings={snoozed} />
    </>
  )
}

const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})/u

/** Shows the first sentence of the cause, and unfolds to the rest. */
function FindingRow({ cause, consequences, place, guide }: FindingBranch) {
  const tone = TONES[cause.severity]
  const [first, ...rest] = cause.why.split(SENTENCE_END)
  return (
    <ToDoRow
      tone={tone}
      icon={tone === 'wait' ? 'info' : 'warning'}
      title={cause.title}
      actions={
        <>
          <LinkButton href={place.href}>{`Open ${place.name}`}</LinkButton>
          <Snooze finding={cause} />
        </>
      }
    >
      <span class="to-do-severity">{SEVERITIES[cause.severity]}</span> · <Ago time={cause.since} />.{' '}
      {first}
      <details class="unfold">
        <summary>
          <Icon name="forward" />
          Details
        </summary>
        {rest.join(' ')} <span class="to-do-fix">{cause.fix}</span>
        {guide !== null && (
          <>
            {' '}
            <a href={guide}>Learn more</a>
          </>
        )}
        {consequences.length > 0 && (
          <ul class="consequences" aria-label="Also caused by this">
            {consequences.map((finding) => (
              <li key={keyOf(finding)}>
                <strong>{finding.title}</strong> {finding.why}
              </li>
            ))}
          </ul>
        )}
      </details>
    </ToDoRow>
  )
}

function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}

type SetupProps = { readonly lines: readonly PhoneLine[] }

function SetupCallout(props: SetupProps) {
  const step = useDashboard().session.now.value?.setup_step ?? null
  return step === null ? null : <UnfinishedSetup step={step} {...props} />
}

function UnfinishedSetup({ step, lines }: SetupProps & { readonly step: string }) {
  const { session } = useDashboard()
  const query = { direction: 'outbound', limit: 20 }
  const sent = useRead('listMessages', { query }, 'message')
  const hasSent = (sent.value?.data ?? []).some(hasLeft)
  const isProven = hasSent && lines.some(isReady)
  const { isBusy, start } = useQuickAction(() => session.setStep(null))
  // Without this, the card would return as soon as a line is offline.
  useEffect(() => {
    if (isProven) void session.setStep(null)
  }, [isProven])
  if (isProven) return null
  return (
    <Callout
      tone="wait"
      title="Finish setting up"
      actions={
        <>
          <Button variant="quiet" isBusy={isBusy} onClick={start}>
            Dismiss
          </Button>
          <LinkButton href={href('setup')}>Continue setup</LinkButton>
        </>
      }
    >
      <NextStep name={step} />
    </Callout>
  )
}

function NextStep({ name }: { readonly name: string }) {
  const about = useAbout().value
  if (about === null) return <>{'\u00A0'}</>
  const steps = stepsFor(about)
  const step = stepNamed(name, steps)
  return <>{`Next: ${step.title}, step ${steps.indexOf(step) + 1} of ${steps.length}.`}</>
}

type AttentionRow = {
  readonly name: Exclude<keyof Attention, 'queued'>
  readonly tone: Tone
  readonly icon: IconName
  readonly title: (words: string) => string
  readonly about: string
  readonly act: string
  /** The list shows the messages that are counted: the relay counts some for seven days. */
  readonly days?: number
}

const LATELY = { about: 'In the last 7 days.', act: 'Look', days: 7 }
/** The relay counts no further. */
const COUNTED_MAX = 1_000

const ATTENTION: readonly AttentionRow[] = [
  {
    name: 'approval',
    tone: 'wait',
    icon: 'check',
    title: (words) => `Approve ${words}`,
    about: 'Programs may only send them with your approval.',
    act: 'Review',
  },
  {
    name: 'uncertain',
    tone: 'warn',
    icon: 'question',
    title: (words) => `${words} may not have arrived`,
    about: 'Look on the device, and say what became of it.',
    act: 'Look',
  },
  { name: 'failed', tone: 'bad', icon: 'cross', title: (words) => `${words} failed`, ...LATELY },
  { name: 'expired', tone: 'bad', icon: 'clock', title: (words) => `${words} expired`, ...LATELY },
]

function MessagesRow({ name, count, days = 0, ...row }: AttentionRow & { readonly count: number }) {
  const site = useSite()
  const address = href('messages', [], { site, status: name, days: days === 0 ? null : days })
  const words = count >= COUNTED_MAX ? `${grouped(count)}+ messages` : countWords(count, 'message')
  const title = row.title(words)
  return (
    <ToDoRow
      tone={row.tone}
      icon={row.icon}
      title={title}
      actions={
        <LinkButton href={address}>
          {row.act}
          <span class="visually-hidden">{title}</span>
        </LinkButton>
      }
    >
      {row.about}
    </ToDoRow>
  )
}

type RowProps = {
  readonly tone: Tone
  readonly icon: IconName
  readonly title: ComponentChildren
  readonly actions: ComponentChildren
  readonly children: ComponentChildren
}

export function ToDoRow({ tone, icon, title, actions, children }: RowProps) {
  return (
    <li class={`to-do-row tone-${tone}`}>
      <span class="to-do-mark">
        <Icon name={icon} />
      </span>
      <div>
        <h3>{title}</h3>
        <div class="small quiet">{children}</div>
      </div>
      <div class="actions">{actions}</div>
    </li>
  )
}

/** The failing webhooks of these findings, each with its state of the day. */
export function useFailingWebhooks(findings: readonly HealthFinding[]): readonly FailingProps[] {
  const days = useWebhookDays().value?.data ?? []
  const webhooks = useWebhooks().value?.data ?? []
  return findings.flatMap((finding) => {
    const webhook = webhooks.find(({ id }) => id === finding.about.id)
    const day = days.find(({ webhook_id }) => webhook_id === finding.about.id)
    return webhook === undefined || day === undefined ? [] : [{ finding, webhook, day }]
  })
}

type FailingProps = {
  readonly finding: HealthFinding
  readonly webhook: Webhook
  readonly day: WebhookDay
}

export function WebhookRow({ finding, webhook, day }: FailingProps) {
  const name = webhookName(webhook)
  const { failing, failing_since, waiting, stopped } = day
  const retry = useRetry(webhook, day)
  return (
    <ToDoRow
      tone="bad"
      icon="warning"
      title={
        <>
          Events don't reach <PersonText>{name}</PersonText>
        </>
      }
      actions={
        <>
          <LinkButton href={href('webhooks', [webhook.id])}>Open</LinkButton>
          {webhook.is_active && (
            <>
              <PauseButton webhook={webhook} />
              <Button icon="again" isBusy={retry.isBusy} onClick={retry.start}>
                Retry now
              </Button>
            </>
          )}
          <Snooze finding={finding} />
        </>
      }
    >
      <span class="webhook-trouble">{stopped ?? failing?.attempts.at(-1)?.hint?.title}</span>
      {failing_since !== null && (
        <>
          {' · '}
          first failed <Ago time={failing_since} />
        </>
      )}
      {waiting > 0 && ` · ${grouped(waiting)} waiting`}
      <FailureNote failure={retry.failure} />
    </ToDoRow>
  )
}

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
          {days.value === '' && <TextField label="Date" type="date" bind={date} />}
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
          <SnoozedRow key={keyOf(cause)} finding={cause} />
        ))}
      </ul>
    </details>
  )
}

function SnoozedRow({ finding }: { readonly finding: HealthFinding }) {
  const { isBusy, start } = useSnooze(finding, () => {})
  return (
    <li class="row">
      <span class="grow">
        {finding.title}{' '}
        <span class="small quiet">
          {`Snoozed until ${momentWords(finding.snoozed_until ?? '')}`}
        </span>
      </span>
      <Button isBusy={isBusy} onClick={() => start(null)}>
        Show now
      </Button>
    </li>
  )
}
