// "Scan this and send the text": proves that a line receives. A simulated line, which no phone can
// reach, lets a simulated person write.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { withQuery } from '../address.ts'
import type { List } from '../api.ts'
import { Ago } from '../components/ago.tsx'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { PersonText } from '../components/person-text.tsx'
import { QrCode } from '../components/qr-code.tsx'
import { useAction } from '../components/use-action.ts'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { isReady } from '../line-words.ts'
import type { Message, PhoneLine } from '../resources.ts'
import { testOutcome, type TestOutcome } from './lines-test-outcome.ts'

/** The simulated person who answers with the text that came. */
const ECHO = '+12025550196'
/** A busy line has others among them. */
const LOOKED_AT = 50

export function LineTest({ line }: { readonly line: PhoneLine }) {
  const code = useSignal(newCode())
  return (
    <Card title="Try it">
      <TestRun
        key={code.value}
        line={line}
        code={code.value}
        onAgain={() => (code.value = newCode())}
      />
    </Card>
  )
}

type RunProps = {
  readonly line: PhoneLine
  readonly code: string
  readonly onAgain: () => void
  readonly onArrived?: (() => void) | undefined
}

/** Waits for one text with a code of its own. */
export function TestRun({ line, code, onAgain, onArrived }: RunProps) {
  const path = withQuery('messages', { phone_line_id: line.id, limit: LOOKED_AT })
  const latest = useRead<List<Message>>(path, 'message')
  const arrived = useRef<TestOutcome | null>(null)
  const seen = testOutcome(latest.value?.data ?? [], line, code)
  // A busy line soon has fifty messages that are newer.
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
      {line.driver === 'simulated' ? (
        <SimulatedTest line={line} text={text} />
      ) : (
        <PhoneTest line={line} text={text} />
      )}
      {outcome.outcome === 'own' && <OwnNumber />}
      <ReadFailure of={latest} />
    </>
  )
}

type TestProps = { readonly line: PhoneLine; readonly text: string }

function PhoneTest({ line, text }: TestProps) {
  // iOS takes the body behind `&`, Android behind `?`; this form does for both.
  const link = `sms:${line.phone_number}?&body=${encodeURIComponent(text)}`
  return (
    <div class="line-test">
      <QrCode text={link} label={`Opens a text to ${line.phone_number}`} />
      <div class="stack-tight">
        <p>
          Scan this with a phone that has <strong>another number</strong>, and send the text that
          opens. Or send it by hand:
        </p>
        <p>
          <strong>{text}</strong> to <strong class="figures">{line.phone_number}</strong>
        </p>
        <p class="small quiet">This turns green as soon as the text arrives.</p>
        <div class="actions">
          <LinkButton href={link}>Open it on this device</LinkButton>
        </div>
      </div>
    </div>
  )
}

function SimulatedTest({ line, text }: TestProps) {
  const { api } = useDashboard()
  const isWritten = useSignal(false)
  const { isBusy, failure, start } = useAction(
    () => {
      const message = { to: ECHO, text, phone_line_id: line.id }
      // Pressed twice it is still one message.
      const headers = { 'idempotency-key': `${text} ${line.id}`.replaceAll(' ', '-') }
      return api.post('messages/send', message, { headers })
    },
    () => (isWritten.value = true),
  )
  return (
    <>
      <p>
        No phone can reach a simulated line. Instead it writes to a simulated person,{' '}
        <span class="figures">{ECHO}</span>, who answers with the same text.
      </p>
      <div class="actions">
        <Button isBusy={isBusy} isDisabled={!isReady(line)} onClick={start}>
          Have somebody write
        </Button>
        <span class="small quiet">
          {!isReady(line) && 'The line has to be online and switched on first.'}
          {isReady(line) && isWritten.value && 'Written; the answer comes.'}
        </span>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

function OwnNumber() {
  return (
    <Callout tone="warn" role="alert" title="Reading works, and this came from the line itself">
      The phone that you took has the same number or Apple account. Take somebody else's.
    </Callout>
  )
}

type ArrivedProps = { readonly message: Message; readonly onAgain: () => void }

function Arrived({ message, onAgain }: ArrivedProps) {
  return (
    <Callout
      tone="ok"
      role="status"
      title="It arrived"
      actions={
        <Button icon="again" onClick={onAgain}>
          Try again
        </Button>
      }
    >
      From <PersonText>{message.handle}</PersonText>, <Ago time={message.created_at} />. The line
      receives.
    </Callout>
  )
}

/** Six digits: short enough to be typed. */
export function newCode(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  return String(100_000 + (number % 900_000))
}
