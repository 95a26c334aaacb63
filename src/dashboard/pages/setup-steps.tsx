// The steps behind the password. Each can be skipped, and the relay remembers which one comes next, so
// that it can be gone on with on another day and in another browser.

import { useNewView } from '../components/use-new-view.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { useAbout } from './settings-sources.ts'
import { SetupDone } from './setup-done.tsx'
import { KeyStep } from './setup-key.tsx'
import { LineStep } from './setup-line.tsx'
import { MessageStep } from './setup-message.tsx'
import { PermissionsStep } from './setup-permissions.tsx'
import { stepNamed, stepsFor, type Steps } from './setup-step-names.ts'

export function SetupSteps() {
  const { session } = useDashboard()
  const about = useAbout()
  const name = session.now.value?.setup_step ?? null
  // Also the first one follows something else: the password, or Home.
  useNewView(`step ${name}`, '')
  return (
    <div class="stack setup">
      {name === null ? (
        <SetupDone />
      ) : (
        <WhenReady of={about}>
          {({ drivers }) => <Step name={name} steps={stepsFor(drivers)} />}
        </WhenReady>
      )}
    </div>
  )
}

type StepProps = { readonly name: string; readonly steps: Steps }

function Step({ name, steps }: StepProps) {
  const step = stepNamed(name, steps)
  switch (step.name) {
    case 'permissions':
      return <PermissionsStep steps={steps} />
    case 'line':
      return <LineStep steps={steps} />
    case 'message':
      return <MessageStep steps={steps} />
    case 'key':
      return <KeyStep steps={steps} />
  }
}
