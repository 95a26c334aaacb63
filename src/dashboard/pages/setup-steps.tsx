// The steps behind the password. Each can be skipped, and the relay remembers which one comes next, so
// that it can be gone on with on another day and in another browser.

import { useNewView } from '../components/use-new-view.ts'
import { useDashboard } from '../dashboard.ts'
import { SetupDone } from './setup-done.tsx'
import { KeyStep } from './setup-key.tsx'
import { LineStep } from './setup-line.tsx'
import { MessageStep } from './setup-message.tsx'
import { PermissionsStep } from './setup-permissions.tsx'
import { stepNamed, type SetupStep } from './setup-step-names.ts'

export function SetupSteps() {
  const { session } = useDashboard()
  const name = session.now.value?.setup_step ?? null
  // Also the first one follows something else: the password, or Home.
  useNewView(`step ${name}`, '')
  return (
    <div class="stack setup">{name === null ? <SetupDone /> : <Step step={stepNamed(name)} />}</div>
  )
}

function Step({ step }: { readonly step: SetupStep }) {
  switch (step.name) {
    case 'permissions':
      return <PermissionsStep />
    case 'line':
      return <LineStep />
    case 'message':
      return <MessageStep />
    case 'key':
      return <KeyStep />
  }
}
