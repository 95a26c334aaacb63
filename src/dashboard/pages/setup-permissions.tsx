import { Callout } from '../components/callout.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { CheckCard, useChecks } from './lines-checks.tsx'
import { useAbout } from './settings-sources.ts'
import { StepFrame } from './setup-frame.tsx'

/** What macOS has to allow, where the relay runs on a Mac. */
export function PermissionsStep() {
  const about = useAbout()
  const checks = useChecks().value?.data.find(({ line_id }) => line_id === null)?.checks
  const isMac = about.value?.drivers.includes('mac')
  const isAllowed = checks?.every(({ state }) => state === 'ok') === true
  return (
    <StepFrame
      name="permissions"
      title="Permissions"
      lead="What the relay must be allowed before it can read and send."
      isDone={about.value !== null && (isAllowed || !isMac)}
    >
      <WhenReady of={about}>
        {() => (isMac ? <CheckCard title="This Mac" lineId={null} /> : <NotOnMac />)}
      </WhenReady>
    </StepFrame>
  )
}

function NotOnMac() {
  return (
    <Callout tone="ok" title="There is nothing to allow here">
      This relay does not send by Messages on a Mac, and simulated lines need no permission.
    </Callout>
  )
}
