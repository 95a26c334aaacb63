// Tests that a line receives: with a text from a phone, or from a simulated contact on a simulated line, where incoming
// events of every kind can be simulated.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import type { Answer, Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionForm } from '../components/dialog.tsx'
import { SelectField, TextField } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { typedHandle } from '../numbers.ts'
import { useKinds } from '../sources.ts'
import { isReady, practiceNumbers, type TestOutcome, testOutcome } from '../words/line-states.ts'
import { whyNot } from '../words/message-states.ts'

type TestProps = { readonly line: PhoneLine; readonly onArrived?: (() => void) | undefined }

/** Waits for one text with a unique code. */
export function ReceiveTest({ line, onArrived }: TestProps) {
  const code = useSignal(newCode())
  const again = () => (code.value = newCode())
  const key = `${line.id} ${code.value}`
  return <TestRun key={key} line={line} code={code.value} onAgain={again} onArrived={onArrived} />
}

type RunProps = TestProps & { readonly code: string; readonly onAgain: () => void }

function TestRun({ line, code, onAgain, onArrived }: RunProps) {
  // A busy line receives other messages meanwhile.
  const query = { phone_line_id: line.id, limit: 50 }
  const latest = useRead('listMessages', { query }, 'message')
  const practice = practiceNumbers(line, useKinds())
  const arrived = useRef<TestOutcome | null>(null)
  const seen = testOutcome(latest.value?.data ?? [], line, code)
  // On a busy line, the text is soon no longer among the latest.
  if (seen.outcome === 'arrived') arrived.current ??= seen
  const outcome = arrived.current ?? seen
  const hasArrived = outcome.outcome === 'arrived'
  useEffect(() => {
    if (hasArrived) onArrived?.()
  }, [hasArrived])
  const text = `Hookline test ${code}`
  if (outcome.outcome === 'arrived') return <Arrived message={outcome.message} onAgain={onAgain} />
  return (
    <>
      {practice === null ? (
        <PhoneTest line={line} text={text} />
      ) : (
        <SimulatedTest line={line} text={text} echo={practice.echo} />
      )}
      {outcome.outcome === 'own' && (
        <Callout tone="warn" role="alert" title="Received, but from the line itself">
          The phone you used has the same number or Apple Account. Use another one.
        </Callout>
      )}
      <ReadFailure of={latest} />
    </>
  )
}

type TextProps = { readonly line: PhoneLine; readonly text: string }

function PhoneTest({ line, text }: TextProps) {
  // iOS reads the body after `&`, Android after `?`; `?&` works for both.
  const link = `sms:${line.phone_number}?&body=${encodeURIComponent(text)}`
  return (
    <div class="line-test">
      <QrCode text={link} label={`Opens a text to ${line.phone_number}`} />
      <div class="stack-tight">
        <p>
          Scan this with a phone that has <strong>a different number</strong>, and send the text
          that opens. Or send it yourself:
        </p>
        <p>
          <strong>{text}</strong> to <strong class="figures">{line.phone_number}</strong>
        </p>
        <p class="small quiet">This turns green as soon as the text arrives.</p>
        <div class="actions">
          <LinkButton href={link}>Open on this device</LinkButton>
        </div>
      </div>
    </div>
  )
}

/** A QR code drawn by the relay, which draws only `sms:` links. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { api } = useDashboard()
  const svg = useSignal<string | null>(null)
  useEffect(() => {
    const end = new AbortController()
    const show = async () => {
      const answer = await api.bytes('drawQrCode', { query: { text }, signal: end.signal })
      // Without the code, the words beside it are enough.
      const drawn = answer.ok ? await answer.value.text() : null
      if (!end.signal.aborted) svg.value = drawn
    }
    void show()
    return () => end.abort()
  }, [text])
  const source =
    svg.value === null ? undefined : `data:image/svg+xml,${encodeURIComponent(svg.value)}`
  return <img class="qr-code" alt={label} src={source} />
}

function SimulatedTest({ line, text, echo }: TextProps & { readonly echo: string }) {
  const { api } = useDashboard()
  const sent = useSignal<Message | null>(null)
  const { isBusy, failure, start } = useAction(
    () => {
      const body = { to: echo, text, phone_line_id: line.id }
      // Pressing the button twice sends one message.
      const headers = { 'idempotency-key': `${text} ${line.id}`.replaceAll(' ', '-') }
      return api.call('sendMessage', { body, headers })
    },
    (message) => (sent.value = message),
  )
  return (
    <>
      <p>
        A practice text: this simulated line writes to <span class="figures">{echo}</span>, a
        simulated person, who replies with the same words.
      </p>
      <div class="actions">
        <Button variant="main" isBusy={isBusy} isDisabled={!isReady(line)} onClick={start}>
          Send a practice text
        </Button>
        <span class="small quiet">
          {!isReady(line) && 'The line must be online, with sending turned on.'}
          {isReady(line) && sent.value && (whyNot(sent.value) ?? 'Waiting for the reply…')}
        </span>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

type ArrivedProps = { readonly message: Message; readonly onAgain: () => void }

function Arrived({ message, onAgain }: ArrivedProps) {
  const again = (
    <>
      <LinkButton href={href('conversations', [message.conversation_id])}>Answer it</LinkButton>
      <Button icon="again" onClick={onAgain}>
        Test again
      </Button>
    </>
  )
  return (
    <Callout tone="ok" role="status" title="Message received" actions={again}>
      From <PersonText>{message.handle}</PersonText>, <Ago time={message.created_at} />. This line
      receives messages.
    </Callout>
  )
}

/** Six digits: short enough to type. */
function newCode(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  return String(100_000 + (number % 900_000))
}

/** Builds the body of an event. `targetGuid` is the latest message with the person, if any. */
type Scene = (from: string, text: string, targetGuid: string | null) => object

const file =
  (kind: string): Scene =>
  (from, text) => ({ type: 'message', from, text, attachments: [{ kind }] })

const SCENES: Readonly<Record<string, Scene>> = {
  'Text message': (from, text) => ({ type: 'message', from, text }),
  SMS: (from, text) => ({ type: 'message', from, text, service: 'SMS' }),
  Picture: file('jpeg'),
  'Picture in HEIC': file('heic'),
  PDF: file('pdf'),
  'File that arrives after 15 seconds': file('slow'),
  'File that never arrives': file('never'),
  'Message in a group': (from, text) => {
    const group = { identifier: 'weekend', name: 'Weekend', participants: [from] }
    return { type: 'message', from, text, group }
  },
  'Reply to the latest message': (from, text, guid) => {
    return { type: 'message', from, text, ...(guid !== null && { reply_to_guid: guid }) }
  },
  'Reaction to the latest message': (from, _text, target_guid) => {
    return { type: 'reaction', from, target_guid, reaction: 'love' }
  },
  'Edit of the latest message': (_from, text, target_guid) => {
    return { type: 'edit', target_guid, text }
  },
  'Unsend of the latest message': (_from, _text, target_guid) => ({ type: 'unsend', target_guid }),
}

const OPTIONS = Object.keys(SCENES).map((name) => ({ value: name, text: name }))

export function Simulation({ line }: { readonly line: PhoneLine }) {
  const { api, notices } = useDashboard()
  const from = useSignal('+12025550140')
  const text = useSignal('Is my table ready?')
  const chosen = useSignal('Picture')
  const action = useAction(
    () => simulate(api, line, { scene: SCENES[chosen.value], from: from.value, text: text.value }),
    () => notices.done('Simulated. What this line relays is in Conversations.'),
  )
  return (
    <Card title="Simulate">
      <ActionForm action={action} submit="Simulate">
        <SelectField label="Event" bind={chosen} options={OPTIONS} />
        <TextField label="From" type="tel" bind={from} />
        <TextField label="Text" bind={text} />
      </ActionForm>
    </Card>
  )
}

type Wanted = { readonly scene: Scene | undefined; readonly from: string; readonly text: string }

async function simulate(
  api: Api,
  line: PhoneLine,
  { scene, from, text }: Wanted,
): Promise<Answer<unknown>> {
  const handle = typedHandle(from, [line])
  const query = { phone_line_id: line.id, handle, limit: 1 }
  const latest = await api.call('listMessages', { query })
  if (!latest.ok) return latest
  const guid = latest.value.data[0]?.platform_guid ?? null
  return api.actOnLine(line, 'events', scene?.(handle, text, guid))
}
