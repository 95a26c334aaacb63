import { href } from '../address.ts'
import { AloneHead } from '../components/alone-head.tsx'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'

/** What comes after the last step. */
export function SetupDone() {
  return (
    <>
      <AloneHead title="Hookline is set up">
        Everything that you skipped can be done later, on the page that it belongs to.
      </AloneHead>
      <Card title="What comes next">
        <ul class="stack-tight">
          <li>
            <a href={href('webhooks')}>Add a webhook</a>, so that your program hears of answers.
          </li>
          <li>
            <a href={href('conversations')}>Write to somebody</a> by hand, and read what comes back.
          </li>
          <li>
            <a href="/swagger">Read the API documentation</a>, with a form to try each call.
          </li>
        </ul>
        <div class="actions">
          <LinkButton look="main" href={href('home')}>
            Open the dashboard
          </LinkButton>
        </div>
      </Card>
    </>
  )
}
