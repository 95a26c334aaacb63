import { useEffect } from 'preact/hooks'

import { href } from '../address.ts'
import type { List } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useRead } from '../dashboard.ts'
import { isReady } from '../line-words.ts'
import { hasLeft } from '../message-words.ts'
import type { Message, PhoneLine } from '../resources.ts'
import { useAbout } from './settings-sources.ts'
import { stepNamed, stepsFor } from './setup-step-names.ts'

type Props = { readonly lines: readonly PhoneLine[]; readonly recent: readonly Message[] }

/** The rest of the set-up, until it is finished, dismissed, or proven needless. */
export function SetupCallout({ lines, recent }: Props) {
  const step = useDashboard().session.now.value?.setup_step ?? null
  return step === null ? null : <Unfinished step={step} lines={lines} recent={recent} />
}

function Unfinished({ step, lines, recent }: Props & { readonly step: string }) {
  const { session, notices } = useDashboard()
  const sent = useRead<List<Message>>('messages?direction=outbound&limit=20', 'message')
  const hasSent = [...recent, ...(sent.value?.data ?? [])].some(hasLeft)
  const isProven = hasSent && lines.some(isReady)
  const { isBusy, start } = useAction(
    () => session.setStep(null),
    () => {},
    ({ message }) => notices.failed(message),
  )
  // Otherwise the card would come back as soon as a line is offline.
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
  const steps = stepsFor(about.drivers)
  const step = stepNamed(name, steps)
  return (
    <>
      Next: {step.title}, step {steps.indexOf(step) + 1} of {steps.length}.
    </>
  )
}
