import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { SelectField } from '../components/field.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { isReady } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useLines } from '../sources.ts'
import { newCode, TestRun } from './lines-test.tsx'
import { StepFrame } from './setup-frame.tsx'
import type { Steps } from './setup-step-names.ts'

/** A first text to a line: the proof that all before it is right. */
export function MessageStep({ steps }: { readonly steps: Steps }) {
  const lines = useLines()
  const hasArrived = useSignal(false)
  return (
    <StepFrame
      name="message"
      steps={steps}
      title="A first text"
      lead="A text to your line shows that it receives."
      isDone={hasArrived.value}
    >
      <Card>
        <WhenReady of={lines}>
          {({ data }) => <FirstText lines={data} onArrived={() => (hasArrived.value = true)} />}
        </WhenReady>
      </Card>
    </StepFrame>
  )
}

type Props = { readonly lines: readonly PhoneLine[]; readonly onArrived: () => void }

function FirstText({ lines, onArrived }: Props) {
  const chosen = useSignal<string | null>(null)
  const code = useSignal(newCode())
  const usable = lines.filter(isReady)
  const line =
    usable.find(({ id }) => id === chosen.value) ??
    usable.find(({ driver }) => driver !== 'simulated') ??
    usable[0]
  if (line === undefined) return <NoLineReady />
  return (
    <>
      {usable.length > 1 && (
        <SelectField
          label="Line"
          value={line.id}
          options={usable.map((one) => ({ value: one.id, text: told(one) }))}
          onChange={(id) => (chosen.value = id)}
        />
      )}
      <TestRun
        key={`${line.id} ${code.value}`}
        line={line}
        code={code.value}
        onAgain={() => (code.value = newCode())}
        onArrived={onArrived}
      />
    </>
  )
}

function told(line: PhoneLine): string {
  return line.label === null ? line.phone_number : `${line.label}, ${line.phone_number}`
}

function NoLineReady() {
  return (
    <EmptyState
      icon="lines"
      title="No line is ready"
      action={<LinkButton href={href('lines')}>See what is missing</LinkButton>}
    >
      As soon as one is, it can be tried here.
    </EmptyState>
  )
}
