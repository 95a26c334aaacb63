import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { SETUP_STEPS, stepNamed } from './setup-step-names.ts'

/** That the set-up is not finished, as long as that is so. */
export function SetupCallout() {
  const { session, notices } = useDashboard()
  const { isBusy, start } = useAction(
    () => session.setStep(null),
    () => {},
    ({ message }) => notices.failed(message),
  )
  const name = session.now.value?.setup_step ?? null
  if (name === null) return null
  const step = stepNamed(name)
  return (
    <Callout
      tone="wait"
      title="The set-up is not finished"
      actions={
        <>
          <Button look="quiet" isBusy={isBusy} onClick={start}>
            Leave it
          </Button>
          <LinkButton href={href('setup')}>Continue the set-up</LinkButton>
        </>
      }
    >
      Step {SETUP_STEPS.indexOf(step) + 1} of {SETUP_STEPS.length} comes next: {step.title}.
    </Callout>
  )
}
