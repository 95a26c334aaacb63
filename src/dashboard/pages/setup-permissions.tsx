import { Callout } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { healthSource } from '../sources.ts'
import { macChecklist } from './lines-checklist.ts'
import { CheckAgain, CheckItem } from './lines-checks.tsx'
import { aboutSource } from './settings-sources.ts'
import { StepFrame } from './setup-frame.tsx'

/** What macOS has to allow, where the relay runs on a Mac. */
export function PermissionsStep() {
  const { api } = useDashboard()
  const about = useLive(aboutSource())
  const health = useLive(healthSource(api))
  const isMac = about.now.state === 'ready' && about.now.value.drivers.includes('mac')
  const checks = health.now.state === 'ready' ? macChecklist(health.now.value.data) : null
  const isAllowed = checks !== null && checks.every(({ state }) => state === 'ok')
  return (
    <StepFrame
      name="permissions"
      title="Permissions"
      lead="What the relay must be allowed before it can read and send."
      isDone={about.now.state === 'ready' && (isAllowed || !isMac)}
    >
      <WhenReady loaded={about.now} skeleton={<Skeleton kind="card" />} onRetry={about.refresh}>
        {() => (isMac ? <MacChecks /> : <NotOnMac />)}
      </WhenReady>
    </StepFrame>
  )
}

function MacChecks() {
  const { api } = useDashboard()
  const health = useLive(healthSource(api))
  return (
    <Card title="This Mac" actions={<CheckAgain />}>
      <WhenReady
        loaded={health.now}
        skeleton={<Skeleton kind="row" count={4} />}
        onRetry={health.refresh}
      >
        {({ data }) => (
          <ol class="checks">
            {macChecklist(data).map((check, place) => (
              <CheckItem key={place} {...check} />
            ))}
          </ol>
        )}
      </WhenReady>
    </Card>
  )
}

function NotOnMac() {
  return (
    <Callout tone="ok" title="There is nothing to allow here">
      <p>
        This relay does not send by Messages on a Mac. Simulated lines need no permission; for real
        messages the relay runs on a Mac on which Messages is signed in.
      </p>
    </Callout>
  )
}
