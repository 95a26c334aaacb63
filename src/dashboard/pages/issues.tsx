// Cards for what needs the owner: unfinished setup, issues, and messages.

import { useEffect } from 'preact/hooks'

import type { Attention, FindingBranch } from '../../api/dashboard.ts'
import type { HealthFinding } from '../../api/health.ts'
import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Icon } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { useAbout, useAttention, useRelayState, useSite } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { isReady } from '../words/line-states.ts'
import { hasLeft } from '../words/message-states.ts'
import { stepNamed, stepsFor } from '../words/setup-steps.ts'
import { SiteFilter } from './site-filter.tsx'
import { Snooze, SnoozedList } from './snooze.tsx'
import { WebhookIssues } from './webhook-issues.tsx'

const TONES = { error: 'bad', warning: 'warn', info: 'wait' } as const
const SEVERITIES = { error: 'Error', warning: 'Warning', info: 'Info' } as const

const GROUPED = new Set(['webhook_failing', 'webhook_gone', 'webhook_deactivated'])

/** Failing webhooks share one card. */
function isGrouped({ cause, consequences }: FindingBranch): boolean {
  return GROUPED.has(cause.code) && consequences.length === 0
}

export function Issues(props: SetupProps) {
  const { findings = [], snoozed = [] } = useRelayState(useSite()).value ?? {}
  return (
    <>
      <SiteFilter page="home" />
      <SetupCallout {...props} />
      <FindingList findings={findings.filter((branch) => !isGrouped(branch))} />
      <WebhookIssues findings={findings.filter(isGrouped).map(({ cause }) => cause)} />
      <SnoozedList findings={snoozed} />
      <AttentionCard />
    </>
  )
}

function FindingList({ findings }: { readonly findings: readonly FindingBranch[] }) {
  if (findings.length === 0) return null
  return (
    <section aria-label="Issues">
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
          {SEVERITIES[cause.severity]} · <Ago time={cause.since} />
        </p>
        <h2>{cause.title}</h2>
        <p class="quiet">{cause.why}</p>
        <p>
          {cause.fix}
          {guide !== null && (
            <>
              {' '}
              <a href={guide}>Learn more</a>
            </>
          )}
        </p>
        {consequences.length > 0 && (
          <div class="consequences">
            <p class="small quiet">Also caused by this:</p>
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
        <LinkButton href={place.href}>{`Open ${place.name}`}</LinkButton>
        <Snooze finding={cause} />
      </div>
    </article>
  )
}

function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}

type SetupProps = { readonly lines: readonly PhoneLine[]; readonly recent: readonly Message[] }

function SetupCallout(props: SetupProps) {
  const step = useDashboard().session.now.value?.setup_step ?? null
  return step === null ? null : <UnfinishedSetup step={step} {...props} />
}

function UnfinishedSetup({ step, lines, recent }: SetupProps & { readonly step: string }) {
  const { session, notices } = useDashboard()
  const query = { direction: 'outbound', limit: 20 }
  const sent = useRead('listMessages', { query }, 'message')
  const hasSent = [...recent, ...(sent.value?.data ?? [])].some(hasLeft)
  const isProven = hasSent && lines.some(isReady)
  const { isBusy, start } = useAction(
    () => session.setStep(null),
    () => {},
    ({ message }) => notices.failed(message),
  )
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

const ATTENTION = {
  approval: 'to approve',
  failed: 'failed',
  expired: 'expired',
  uncertain: 'uncertain',
  queued: 'waiting',
} as const

/** Numbers of failed and undecided messages, each with a link to their list. */
function AttentionCard() {
  const site = useSite()
  const counts = useAttention(site).value
  const names = Object.keys(ATTENTION) as readonly (keyof Attention)[]
  const linkTo = (status: keyof Attention) => {
    const isOld = status === 'failed' || status === 'expired'
    return href('messages', [], { site, status, days: isOld ? ATTENTION_DAYS : null })
  }
  return (
    <Card title="Messages to look at">
      <ul class="attention">
        {names.map((name) => {
          const count = counts?.[name] ?? 0
          return (
            <li key={name} class={count === 0 ? 'quiet' : undefined}>
              <a href={linkTo(name)}>
                <strong class="figures">
                  {count === 1_000 ? `${grouped(count)}+` : grouped(count)}
                </strong>{' '}
                {ATTENTION[name]}
              </a>
            </li>
          )
        })}
      </ul>
      <p class="small quiet">
        Failed and expired messages from the last 7 days, and all that are uncertain or waiting.
      </p>
    </Card>
  )
}

/** The relay counts failed messages of the last 7 days. */
const ATTENTION_DAYS = 7
