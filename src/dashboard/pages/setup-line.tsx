import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/copy-button.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { lineName } from '../line-words.ts'
import { isReady } from '../relay-state.ts'
import type { PhoneLine } from '../resources.ts'
import { linesSource } from '../sources.ts'
import { LineBadge } from './lines-badge.tsx'
import { driverWords } from './lines-words.ts'
import { StepFrame } from './setup-frame.tsx'

/** Whether there is something to send and receive with. */
export function LineStep() {
  const { api } = useDashboard()
  const lines = useLive(linesSource(api))
  return (
    <StepFrame
      name="line"
      title="A line"
      lead="A line is what the relay sends and receives with."
      isDone={lines.now.state === 'ready' && lines.now.value.data.some(isReady)}
    >
      <Card kind="list" title="Lines that were found">
        <WhenReady
          loaded={lines.now}
          skeleton={<Skeleton kind="row" count={2} />}
          onRetry={lines.refresh}
        >
          {({ data }) => <LineList lines={data} />}
        </WhenReady>
      </Card>
      <Card title="Two kinds of line">
        <p>
          <strong>Messages on a Mac</strong> sends real iMessages from its number or Apple account.
          The relay runs on that Mac, and finds the line once its permissions are there.
        </p>
        <p>
          <strong>A simulated line</strong> has a number nobody else has and writes to people who do
          not exist. Nothing leaves this machine: it is there to build and try against. Start the
          relay with
        </p>
        <CodeBlock what="Command" text="hookline serve --simulated-lines 2" />
      </Card>
    </StepFrame>
  )
}

function LineList({ lines }: { readonly lines: readonly PhoneLine[] }) {
  if (lines.length === 0) {
    return <p class="setup-nothing quiet">None yet. One that appears is shown here by itself.</p>
  }
  return (
    <ul class="setup-lines">
      {lines.map((line) => (
        <li key={line.id}>
          <span class="grow">
            <strong>
              <PersonText>{lineName(line)}</PersonText>
            </strong>
            <span class="small quiet one-line">{line.status_hint ?? driverWords(line)}</span>
          </span>
          <LineBadge line={line} />
        </li>
      ))}
    </ul>
  )
}
