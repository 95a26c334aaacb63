// Setup: the password, then the steps until the relay sends and receives.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { Key } from '../../api/keys.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DialogButton } from '../components/dialog.tsx'
import { SelectField, bindTo } from '../components/form.tsx'
import { Badge } from '../components/icon.tsx'
import { lazyDialog, lazyPage, lazyPart } from '../components/lazy-page.tsx'
import { AloneHead, Card, useNewView } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import {
  useAbout,
  useAlertChannels,
  useChecks,
  useKeys,
  useKinds,
  useLines,
  useSettings,
} from '../sources.ts'
import { browsersZone } from '../time-words.ts'
import { countWords } from '../words/common.ts'
import { creatorWords, keyName } from '../words/keys.ts'
import {
  isReady,
  isSimulated,
  kindName,
  lineName,
  lineOption,
  lineState,
} from '../words/line-states.ts'
import { stepBeside, stepNamed, stepsFor, type StepName, type Steps } from '../words/setup-steps.ts'
import { LineWays } from './add-line.tsx'
import { CheckCard } from './line-figures.tsx'
import { SetPassword } from './new-password.tsx'
import { LineSite } from './site-filter.tsx'

const CREATE_KEY = lazyDialog(async () => (await import('./key-form.tsx')).CreateKey)
const FIRST_CHANNELS = lazyPart(async () => (await import('./settings-alerts.tsx')).FirstChannels)
const RECEIVE_TEST = lazyPage(null, async () => (await import('./line-test.tsx')).ReceiveTest)

export function SetupPage() {
  const { router, session } = useDashboard()
  const token = router.setupToken.value
  if (token !== null) return <SetPassword token={token} />
  if (session.now.value?.state === 'signed_in') return <SetupSteps />
  return <NoPasswordYet />
}

function NoPasswordYet() {
  return (
    <>
      <AloneHead title="Set up Hookline">The relay is running, but has no password yet.</AloneHead>
      <Card>
        <p>To set one, run this on the computer that runs Hookline:</p>
        <CodeBlock what="Command" text="hookline setup-link" />
        <p>
          Then open the link it prints, on any device that can reach the relay. It works once, for
          30 minutes. If you started the relay in a terminal, the link is already there.
        </p>
      </Card>
    </>
  )
}

/** The steps after the password. Each can be skipped; the relay stores the next one. */
function SetupSteps() {
  const { session } = useDashboard()
  const about = useAbout()
  const name = session.now.value?.setup_step ?? null
  // Even the first step follows another view: the password form, or Home.
  useNewView(`step ${name}`, '')
  return (
    <div class="stack setup">
      {name === null ? (
        <SetupDone />
      ) : (
        <WhenReady of={about}>{(value) => <Step name={name} steps={stepsFor(value)} />}</WhenReady>
      )}
    </div>
  )
}

type StepsProps = { readonly steps: Steps }

const VIEWS = {
  permissions: PermissionsStep,
  line: LineStep,
  message: MessageStep,
  alerts: AlertsStep,
  key: KeyStep,
}

function Step({ name, steps }: StepsProps & { readonly name: string }) {
  const View = VIEWS[stepNamed(name, steps).name]
  return <View steps={steps} />
}

const HEADS = {
  permissions: ['Permissions', 'Hookline needs these permissions to read and send messages.'],
  line: ['Connect a line', 'The relay sends and receives messages through a line.'],
  message: ['Send a first text', 'Text your line to check that it receives messages.'],
  alerts: ['Who is called at night?', 'If a line or a webhook fails. Settings has this, too.'],
  key: [
    'Create an API key',
    'Use a separate key for each app so you can revoke them individually.',
  ],
} as const

type FrameProps = StepsProps & {
  readonly name: StepName
  readonly isDone: boolean
  readonly children: ComponentChildren
}

function StepFrame({ name, steps, isDone, children }: FrameProps) {
  const [title, lead] = HEADS[name]
  const current = steps.findIndex((step) => step.name === name)
  return (
    <>
      <AloneHead title={title}>{lead}</AloneHead>
      <ol class="setup-progress" aria-label="Setup steps">
        {steps.map((step, index) => (
          <li
            key={step.name}
            class={index < current ? 'is-past' : undefined}
            aria-current={index === current ? 'step' : undefined}
          >
            <span class="setup-progress-sign">{index + 1}</span>
            <span class="setup-progress-name">{step.title}</span>
          </li>
        ))}
      </ol>
      {children}
      <StepFoot name={name} steps={steps} isDone={isDone} />
    </>
  )
}

function StepFoot({ name, steps, isDone }: Pick<FrameProps, 'name' | 'steps' | 'isDone'>) {
  const { session } = useDashboard()
  const before = stepBeside(name, -1, steps)
  const next = stepBeside(name, 1, steps)
  const { isBusy, failure, start } = useAction((step: StepName | null) => session.setStep(step))
  return (
    <>
      <FailureNote failure={failure} />
      <div class="setup-foot">
        {before !== null && (
          <Button variant="quiet" icon="back" onClick={() => start(before)}>
            Back
          </Button>
        )}
        <a class="setup-later" href={href('home')}>
          Finish later
        </a>
        <Button variant={isDone ? 'main' : 'quiet'} isBusy={isBusy} onClick={() => start(next)}>
          {isDone ? 'Continue' : 'Skip'}
        </Button>
      </div>
    </>
  )
}

function PermissionsStep({ steps }: StepsProps) {
  const checks = useChecks().value?.data.find(({ line_id }) => line_id === null)?.checks
  return (
    <StepFrame
      name="permissions"
      steps={steps}
      isDone={checks?.every(({ state }) => state === 'ok') === true}
    >
      <CheckCard title="This Mac" lineId={null} />
    </StepFrame>
  )
}

function LineStep({ steps }: StepsProps) {
  const lines = useLines()
  return (
    <StepFrame name="line" steps={steps} isDone={lines.value?.data.some(isReady) === true}>
      <Card kind="list" title="Your lines">
        <WhenReady of={lines} kind="row" count={2}>
          {({ data }) => <LineList lines={data} />}
        </WhenReady>
      </Card>
      <Card title="Types of line">
        <LineWays />
      </Card>
      <p class="small quiet">
        Coming from another computer?{' '}
        <a href={href('settings', ['move'])}>Restore a backup instead</a>.
      </p>
    </StepFrame>
  )
}

function LineList({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  if (lines.length === 0) {
    return <p class="setup-nothing quiet">No lines yet. New lines appear here automatically.</p>
  }
  return (
    <ul class="setup-lines">
      {lines.map((line) => (
        <li key={line.id}>
          <span class="grow">
            <strong>
              <PersonText>{lineName(line)}</PersonText>
            </strong>
            <span class="small quiet one-line">{line.status_hint ?? kindName(line, kinds)}</span>
            <LineSite line={line} />
          </span>
          <Badge of={lineState(line)} />
        </li>
      ))}
    </ul>
  )
}

function MessageStep({ steps }: StepsProps) {
  const lines = useLines()
  const hasArrived = useSignal(false)
  return (
    <StepFrame name="message" steps={steps} isDone={hasArrived.value}>
      <Card>
        <WhenReady of={lines}>
          {({ data }) => <FirstText lines={data} onArrived={() => (hasArrived.value = true)} />}
        </WhenReady>
      </Card>
    </StepFrame>
  )
}

type TextProps = { readonly lines: readonly PhoneLine[]; readonly onArrived: () => void }

function FirstText({ lines, onArrived }: TextProps) {
  const chosen = useSignal<string | null>(null)
  const kinds = useKinds()
  const usable = lines.filter(isReady)
  const line =
    usable.find(({ id }) => id === chosen.value) ??
    usable.find((each) => !isSimulated(each, kinds)) ??
    usable[0]
  if (line === undefined) {
    return (
      <EmptyState
        icon="lines"
        title="No line is ready"
        action={<LinkButton href={href('lines')}>See what's missing</LinkButton>}
      >
        Once a line is ready, you can test it here.
      </EmptyState>
    )
  }
  return (
    <>
      {usable.length > 1 && (
        <SelectField
          label="Line"
          bind={bindTo(line.id, (id) => (chosen.value = id))}
          options={usable.map(lineOption)}
        />
      )}
      <RECEIVE_TEST.View line={line} onArrived={onArrived} />
    </>
  )
}

function AlertsStep({ steps }: StepsProps) {
  const isDone = (useAlertChannels().value?.data.length ?? 0) > 0
  return (
    <StepFrame name="alerts" steps={steps} isDone={isDone}>
      <FIRST_CHANNELS.View />
    </StepFrame>
  )
}

function KeyStep({ steps }: StepsProps) {
  const keys = useKeys()
  const active = (keys.value?.data ?? []).filter(({ revoked_at }) => revoked_at === null)
  return (
    <StepFrame name="key" steps={steps} isDone={active.length > 0}>
      <WhenReady of={keys}>
        {() => (
          <>
            <ActiveKeys keys={active} />
            <Card>
              <p>You'll get a key, its secret, and a command that sends a first message.</p>
              <div class="actions">
                <DialogButton
                  variant={active.length > 0 ? 'plain' : 'main'}
                  icon="plus"
                  dialog={(onClose) => <CREATE_KEY.View onClose={onClose} />}
                >
                  {active.length > 0 ? 'Create another key' : 'New key'}
                </DialogButton>
              </div>
            </Card>
          </>
        )}
      </WhenReady>
    </StepFrame>
  )
}

function ActiveKeys({ keys }: { readonly keys: readonly Key[] }) {
  const [latest] = keys
  if (latest === undefined) return null
  return (
    <Callout tone="ok" title={`You already have ${countWords(keys.length, 'key')}`}>
      The newest is <PersonText>{keyName(latest)}</PersonText>, created by{' '}
      <PersonText>{creatorWords(latest, keys)}</PersonText>.
    </Callout>
  )
}

/** Suggests the browser's time zone until one is chosen. */
function TimeZoneCard() {
  const { api } = useDashboard()
  const settings = useSettings()
  const { isBusy, failure, start } = useAction(
    () =>
      api.call('putSetting', { params: { name: 'time_zone' }, body: { value: browsersZone() } }),
    () => settings.refresh(),
  )
  const zone = settings.value?.data.find(({ name }) => name === 'time_zone')
  if (zone?.from !== 'default' || zone.value === browsersZone()) return null
  return (
    <Card title="Time zone">
      <p>{`The days of limits and figures begin at midnight ${zone.value}.`}</p>
      <div class="actions">
        <Button isBusy={isBusy} onClick={start}>
          {`Use ${browsersZone().replaceAll('_', ' ')}`}
        </Button>
      </div>
      <FailureNote failure={failure} />
    </Card>
  )
}

function SetupDone() {
  return (
    <>
      <AloneHead title="Hookline is set up">
        You can do any skipped steps later in the dashboard.
      </AloneHead>
      <TimeZoneCard />
      <Card title="Next steps">
        <ul class="stack-tight">
          <li>
            Who else answers? <a href={href('settings', ['members'])}>Invite people</a>, for some
            lines or for all.
          </li>
          <li>
            Away from home? <a href="/guide/tailscale">Reach this page by Tailscale</a>, and install
            it on your phone.
          </li>
          <li>
            SMS too? <a href={href('lines')}>A line</a> announces SMS and RCS once you turn it on.
          </li>
          <li>
            A program of yours? <a href={href('connect')}>Connect it</a>,{' '}
            <a href={href('webhooks')}>add a webhook</a>, or <a href="/swagger">try the API</a>.
          </li>
        </ul>
        <div class="actions">
          <LinkButton variant="main" href={href('home')}>
            Open dashboard
          </LinkButton>
        </div>
      </Card>
    </>
  )
}
