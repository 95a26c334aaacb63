import { CheckCard, useChecks } from './lines-checks.tsx'
import { StepFrame } from './setup-frame.tsx'
import type { Steps } from './setup-step-names.ts'

/** What macOS has to allow. */
export function PermissionsStep({ steps }: { readonly steps: Steps }) {
  const checks = useChecks().value?.data.find(({ line_id }) => line_id === null)?.checks
  return (
    <StepFrame
      name="permissions"
      steps={steps}
      title="Permissions"
      lead="What the relay must be allowed before it can read and send."
      isDone={checks?.every(({ state }) => state === 'ok') === true}
    >
      <CheckCard title="This Mac" lineId={null} />
    </StepFrame>
  )
}
