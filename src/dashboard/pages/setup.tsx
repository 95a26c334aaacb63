// The first visit: a password by a setup link, and then, step by step, all that it takes to send and
// receive. A setup link also mends a forgotten password.

import { AloneHead } from '../components/alone-head.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { useDashboard } from '../dashboard.ts'
import { SetPassword } from './setup-password.tsx'
import { SetupSteps } from './setup-steps.tsx'

export function SetupPage() {
  const { router, session } = useDashboard()
  const token = router.setupToken.value
  if (token !== null) return <SetPassword token={token} />
  if (session.now.value?.state === 'signed_in') return <SetupSteps />
  return <NoPasswordYet />
}

function NoPasswordYet() {
  return (
    <>
      <AloneHead title="Set up Hookline">
        This relay runs, and nobody has set a password yet.
      </AloneHead>
      <Card>
        <p>A link sets it. On the machine on which the relay runs, type</p>
        <CodeBlock what="Command" text="hookline setup-link" />
        <p>
          and open the link that it prints, on any device that reaches the relay. It is good once,
          for 30 minutes. A relay that was started at a terminal has printed one already.
        </p>
      </Card>
    </>
  )
}
