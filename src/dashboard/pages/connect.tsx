// The gallery of programs, and the page that connects one of them: its key, what to enter there, a test, and its
// first call.

import { useSignal } from '@preact/signals'

import type { CreatedKey } from '../../api/keys.ts'
import type { Message } from '../../api/messages.ts'
import {
  PROGRAMS,
  keyForProgram,
  needsPeople,
  type KeyProgram,
  type Program,
} from '../../compat/programs.ts'
import { href } from '../address.ts'
import { fieldError } from '../api.ts'
import { Callout } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ActionForm } from '../components/dialog.tsx'
import { TextArea, TextField } from '../components/form.tsx'
import { BackLink, Card, PageHead, useNewView } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { useAction, useDashboard } from '../dashboard.ts'
import { typedHandle } from '../numbers.ts'
import { useKeys, useLines } from '../sources.ts'
import { whyNot } from '../words/message-states.ts'
import { SHELL } from '../words/shell.ts'

export function ConnectPage() {
  const { router } = useDashboard()
  const [name = ''] = router.route.value.path
  const program = PROGRAMS.find((each) => each.name === name)
  useNewView(name)
  return program?.makes === 'key' ? <Connect key={name} program={program} /> : <Gallery />
}

function Gallery() {
  return (
    <>
      <PageHead title={SHELL.names.connect}>
        Programs that can send texts through your lines. Each gets a key of its own.
      </PageHead>
      <ul class="tiles">
        {PROGRAMS.map((program) => (
          <li key={program.name}>
            <a class="tile" href={addressOf(program)}>
              <span class="tile-title">{program.title}</span>
              <span class="small quiet">{program.purpose}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="small quiet">
        Other programs: <a href="/guide/compatible-apis">what Hookline speaks</a>, or{' '}
        <a href="/guide/api">its own API</a>.
      </p>
    </>
  )
}

function addressOf({ makes, name }: Program): string {
  return makes === 'key' ? href('connect', [name]) : href('webhooks')
}

type Props = { readonly program: KeyProgram }

function Connect({ program }: Props) {
  const { title, purpose, guide } = program
  // Nothing else in the page ever holds the secret, which goes with this view.
  const made = useSignal<Connected | null>(null)
  return (
    <>
      <BackLink href={href('connect')}>{SHELL.names.connect}</BackLink>
      <PageHead title={title}>
        {purpose} <a href={`/guide/${guide}`}>Read the guide</a>
      </PageHead>
      <div class="stack connect">
        {made.value === null ? (
          <NewKey program={program} onMade={(connected) => (made.value = connected)} />
        ) : (
          <>
            <Values program={program} made={made.value} />
            <Test people={made.value.people} keyId={made.value.created.id} />
            <FirstCall program={program} keyId={made.value.created.id} />
          </>
        )}
      </div>
    </>
  )
}

type Connected = {
  readonly created: CreatedKey
  readonly people: readonly string[]
  readonly relay: string
}

function NewKey({ program, onMade }: Props & { readonly onMade: (connected: Connected) => void }) {
  const { api } = useDashboard()
  const lines = useLines().value?.data ?? []
  const typed = useSignal('')
  const relay = useSignal(location.origin)
  const people = typed.value
    .split(/[\n,;]/)
    .filter((each) => each.trim() !== '')
    .map((each) => typedHandle(each, lines))
  const action = useAction(
    () => api.call('createKey', { body: keyForProgram(program, people) }),
    (created) => onMade({ created, people, relay: relay.value.trim().replace(/\/+$/, '') }),
  )
  const isReady = !needsPeople(program) || people.length > 0
  return (
    <Card title="Make its key">
      <ActionForm
        action={action}
        but={['rules.allow']}
        submit="Create key"
        variant="main"
        isReady={isReady}
      >
        {program.caution !== undefined && <Callout tone="warn">{program.caution}</Callout>}
        <p>{LIMITS[program.recipients ?? 'anyone']}</p>
        {needsPeople(program) && (
          <TextArea
            label="Numbers that it may text"
            hint="Your own, for example. One on each line."
            bind={typed}
            error={fieldError(action.failure, 'rules.allow')}
          />
        )}
        <TextField
          label="Address of the relay, as the program reaches it"
          hint="In a container, or on another machine, it can't be 127.0.0.1 or localhost."
          bind={relay}
        />
      </ActionForm>
    </Card>
  )
}

const LIMITS: Readonly<Record<NonNullable<KeyProgram['recipients']>, string>> = {
  list: 'Its key can write to the numbers that you name, and to nobody else.',
  anyone: 'Its key may write to anyone. Limit it on the page Keys if it should not.',
  known: 'Its key may write only to people who have written with your lines.',
  replied_within_24h: 'Its key may write only to people who wrote within 24 hours.',
}

function Values({ program, made }: Props & { readonly made: Connected }) {
  const { created, people, relay } = made
  const { key, secret, connect = {} } = created
  const entries = program.enter({ relay, key, secret, connect, people })
  return (
    <Card title="Enter these values">
      <p class="connect-place">{program.place}</p>
      {entries.map(([field, value]) => (
        <div key={field} class="stack-tight">
          <h3>{field}</h3>
          <CodeBlock what={field} text={value} />
        </div>
      ))}
      <p class="small quiet">
        You won't see these values again once you leave this page. To end its access, revoke{' '}
        <a href={href('keys')}>its key</a>.
      </p>
    </Card>
  )
}

function Test({ people, keyId }: { readonly people: readonly string[]; readonly keyId: string }) {
  const { api } = useDashboard()
  const lines = useLines().value?.data ?? []
  const to = useSignal(people[0] ?? '')
  const sent = useSignal<Message | null>(null)
  const action = useAction(
    () => {
      const handle = typedHandle(to.value, lines)
      // Pressing the button twice sends one message.
      const headers = { 'idempotency-key': `connect-${keyId}-${handle}`, prefer: 'wait=5' }
      return api.call('sendMessage', { body: { to: handle, text: TEST_TEXT }, headers })
    },
    (message) => (sent.value = message),
  )
  const outcome = sent.value && (whyNot(sent.value) ?? `Sent to ${sent.value.to}.`)
  const beside = (
    <span class="small quiet" role="status">
      {outcome}
    </span>
  )
  return (
    <Card title="Send a test">
      <ActionForm
        but={['to', 'invalid_recipient']}
        submit="Send a test"
        isReady={to.value.trim() !== ''}
        {...{ action, beside }}
      >
        <TextField
          label="Number"
          hint="Hookline itself sends it a short text, to show that a line works."
          type="tel"
          bind={to}
          error={fieldError(action.failure, 'to', 'invalid_recipient')}
        />
      </ActionForm>
    </Card>
  )
}

const TEST_TEXT = 'This is a test of Hookline. Texts will come from this number.'

function FirstCall({ program, keyId }: Props & { readonly keyId: string }) {
  const used = useKeys().value?.data.find(({ id }) => id === keyId)?.last_used_at ?? null
  return used === null ? (
    <Callout tone="wait" role="status" title="Waiting for its first call">
      Send something from {program.title}, such as its own test. This changes as soon as it calls.
    </Callout>
  ) : (
    <Callout tone="ok" role="status" title={`${program.title} is connected`}>
      It called <Ago time={used} />.
    </Callout>
  )
}
