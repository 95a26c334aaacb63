import { Badge } from '../components/badge.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { driverWords, isReady, lineName, lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useLines } from '../sources.ts'
import { StepFrame } from './setup-frame.tsx'
import type { Steps } from './setup-step-names.ts'

/** Whether there is something to send and receive with. */
export function LineStep({ steps }: { readonly steps: Steps }) {
  const lines = useLines()
  return (
    <StepFrame
      name="line"
      steps={steps}
      title="A line"
      lead="A line is what the relay sends and receives with."
      isDone={lines.value?.data.some(isReady) === true}
    >
      <Card kind="list" title="Lines that were found">
        <WhenReady of={lines} kind="row" count={2}>
          {({ data }) => <LineList lines={data} />}
        </WhenReady>
      </Card>
      <Card title="Kinds of line">
        <p>
          <strong>Messages on a Mac</strong> sends real iMessages from its number or Apple account.
          The relay runs on that Mac, and finds the line by itself.
        </p>
        <p>
          <strong>An iPhone</strong> is a line by its cable, or by shortcuts of its own: the README
          says how.
        </p>
        <p>
          <strong>A simulated line</strong> writes to people who do not exist, and nothing leaves
          this machine: it is there to build and try against. Start the relay with
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
          <Badge of={lineState(line)} />
        </li>
      ))}
    </ul>
  )
}
