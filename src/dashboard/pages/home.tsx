// The state of the relay, its issues, and the latest messages.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { href } from '../address.ts'
import { messageExcerpt } from '../attachment-words.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import type { Tone } from '../components/drawings.ts'
import { Form } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { isReady, kindName, lineName, lineState } from '../line-words.ts'
import { hasLeft, isSettled, stateSentence, statusWords, whyNot } from '../message-words.ts'
import { counterpart } from '../people.ts'
import type {
  DayStats,
  FindingBranch,
  HealthFinding,
  Message,
  Page,
  PhoneLine,
  RelayState,
} from '../resources.ts'
import { useAbout, useKinds, useLines, useRelayState } from '../sources.ts'
import { combine } from '../store.ts'
import { stepNamed, stepsFor } from '../words/setup.ts'
import { NewContactsMeter } from './line-figures.tsx'
import { SendButton, SendFields, useSendForm } from './send-form.tsx'
import { WebhookIssues } from './webhook-issues.tsx'

export function HomePage() {
  const days = useRead<{ readonly data: readonly DayStats[] }>('stats?days=1', 'message')
  const all = combine({
    state: useRelayState(),
    lines: useLines(),
    about: useAbout(),
    recent: useRead<Page<Message>>('messages?limit=10&type=all', 'message'),
  })
  return (
    <WhenReady of={all} skeleton={<Opening />}>
      {({ state, lines, recent }) => (
        <>
          <StateHead state={state} today={days.value?.data.at(-1) ?? null} />
          <SetupCallout lines={lines.data} recent={recent.data} />
          <FindingList findings={state.findings} />
          <WebhookIssues />
          <div class="home">
            <Card
              kind="list"
              title="Lines"
              actions={
                <a class="more-link" href={href('lines')}>
                  View all lines
                  <Icon name="forward" />
                </a>
              }
            >
              <LineList lines={lines.data} />
            </Card>
            <QuickSend lines={lines.data} />
            <RecentMessages messages={recent.data} />
          </div>
        </>
      )}
    </WhenReady>
  )
}

function Opening() {
  return (
    <>
      <PageHead title="Home">{'\u00A0'}</PageHead>
      <div class="home">
        <Skeleton kind="card" count={3} />
      </div>
    </>
  )
}

/** `today` is null until it is known. */
type StateProps = { readonly state: RelayState; readonly today: DayStats | null }

function StateHead({ state, today }: StateProps) {
  return (
    <div class={`home-state tone-${state.tone}`}>
      <span class="home-state-sign">
        <Icon name={state.tone === 'ok' ? 'check' : 'warning'} />
      </span>
      <PageHead title={state.title}>{stateSentence(state, today)}</PageHead>
    </div>
  )
}

type SetupProps = { readonly lines: readonly PhoneLine[]; readonly recent: readonly Message[] }

/** The rest of setup, until it is finished, dismissed, or proven unnecessary. */
function SetupCallout(props: SetupProps) {
  const step = useDashboard().session.now.value?.setup_step ?? null
  return step === null ? null : <UnfinishedSetup step={step} {...props} />
}

function UnfinishedSetup({ step, lines, recent }: SetupProps & { readonly step: string }) {
  const { session, notices } = useDashboard()
  const sent = useRead<Page<Message>>('messages?direction=outbound&limit=20', 'message')
  const hasSent = [...recent, ...(sent.value?.data ?? [])].some(hasLeft)
  const isProven = hasSent && lines.some(isReady)
  const { isBusy, start } = useAction(
    () => session.setStep(null),
    () => {},
    ({ message }) => notices.failed(message),
  )
  // Otherwise the card would be back as soon as a line is offline.
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
          <Button look="quiet" isBusy={isBusy} onClick={start}>
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
  return (
    <>
      Next: {step.title}, step {steps.indexOf(step) + 1} of {steps.length}.
    </>
  )
}

const SEVERITIES: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  error: ['Error', 'bad'],
  warning: ['Warning', 'warn'],
  info: ['Info', 'wait'],
}

/** One card for each cause, with its consequences inside. */
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
  const [word, tone] = SEVERITIES[cause.severity] ?? [cause.severity, 'plain']
  return (
    <article class={`card finding tone-${tone}`}>
      <span class="finding-sign">
        <Icon name={tone === 'wait' ? 'info' : 'warning'} />
      </span>
      <div class="finding-words">
        <p class="finding-severity">
          {word} · <Ago time={cause.since} />
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
      <LinkButton href={place.href}>{`Open ${place.name}`}</LinkButton>
    </article>
  )
}

/** The same for as long as the finding is about the same thing. */
function keyOf({ code, about }: HealthFinding): string {
  return `${code} ${about.kind} ${about.id}`
}

/** Each line with its state and the new contacts it has left for today. */
function LineList({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  if (lines.length === 0) {
    return (
      <EmptyState
        icon="lines"
        title="No phone line yet"
        action={<LinkButton href={href('lines')}>See what's missing</LinkButton>}
      >
        A line is a Mac or an iPhone that sends and receives for the relay.
      </EmptyState>
    )
  }
  return (
    <ul class="home-lines">
      {lines.map((line) => (
        <li key={line.id} class="home-line">
          <div class="home-line-words">
            <a class="home-line-name" href={href('lines', [line.id])}>
              <PersonText>{lineName(line)}</PersonText>
            </a>
            <Badge of={lineState(line)} />
          </div>
          <p class="small quiet home-line-about">
            {line.label !== null && <span class="figures">{line.phone_number} · </span>}
            {line.status_hint ?? kindName(line, kinds)}
          </p>
          <NewContactsMeter line={line} />
        </li>
      ))}
    </ul>
  )
}

function QuickSend({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const sent = useSignal<Message | null>(null)
  const form = useSendForm((message) => (sent.value = message))
  return (
    <Card title="Send a message">
      <Form onSubmit={form.submit}>
        <SendFields form={form} lines={lines} />
        <SendButton {...form.button} />
      </Form>
      {sent.value !== null && <Outcome key={sent.value.id} sent={sent.value} />}
    </Card>
  )
}

function Outcome({ sent }: { readonly sent: Message }) {
  const message = useRead<Message>(`messages/${sent.id}`, sent.id).value ?? sent
  const why = whyNot(message)
  return (
    <div class="outcome" role="status" aria-busy={!isSettled(message)}>
      <p class="row">
        <Badge of={statusWords(message.status)} />
        <a href={href('conversations', [message.conversation_id])}>
          <PersonText>{message.handle}</PersonText>
        </a>
      </p>
      {why !== null && <p class="small">{why}</p>}
    </div>
  )
}

function RecentMessages({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <Card kind="list" title="Latest messages">
      {messages.length === 0 ? (
        <EmptyState icon="conversations" title="No messages yet">
          Send one from here, or text one of your lines from a phone.
        </EmptyState>
      ) : (
        <ul class="recent">
          {messages.map((message) => (
            <li key={message.id}>
              <RecentRow message={message} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function RecentRow({ message }: { readonly message: Message }) {
  const isInbound = message.direction === 'inbound'
  return (
    <a class="recent-row" href={href('conversations', [message.conversation_id])}>
      <span class={`recent-sign ${isInbound ? 'recent-in' : ''}`}>
        <Icon name={isInbound ? 'arrow-in' : 'send'} />
        <span class="visually-hidden">{isInbound ? 'Received from' : 'Sent to'}</span>
      </span>
      <span class="recent-words">
        <span class="one-line recent-handle">
          {message.conversation_type === 'group' && <Icon name="people" />}
          <PersonText>{counterpart(message)}</PersonText>
        </span>
        <span class="one-line quiet">
          <PersonText>{messageExcerpt(message)}</PersonText>
        </span>
      </span>
      <span class="recent-end">
        <Ago time={message.created_at} isInside />
        {!isInbound && <Badge of={statusWords(message.status)} />}
      </span>
    </a>
  )
}
