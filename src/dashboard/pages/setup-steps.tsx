// The steps behind the password. Each can be skipped, and the relay remembers which one comes next, so
// that it can be gone on with on another day and in another browser.

import { useEffect, useRef } from 'preact/hooks'

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
  const place = useNewStep(name)
  return (
    <div class="stack setup" ref={place}>
      {name === null ? <SetupDone /> : <Step step={stepNamed(name)} />}
    </div>
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

/** A new step begins at its heading, for the eye and for a screen reader. */
function useNewStep(name: string | null) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    window.scrollTo(0, 0)
    place.current?.querySelector('h1')?.focus({ preventScroll: true })
  }, [name])
  return place
}
