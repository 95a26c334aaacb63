// <StepFrame name="line" steps={steps} title="A line" lead="…" isDone={…}>…</StepFrame>: what stands
// around each step: how far one is, and the way on, back, and out.

import type { ComponentChildren } from 'preact'

import { href } from '../address.ts'
import { AloneHead } from '../components/alone-head.tsx'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { stepBeside, type StepName, type Steps } from './setup-step-names.ts'

type Props = {
  readonly name: StepName
  /** All of them, this one included. */
  readonly steps: Steps
  readonly title: string
  readonly lead: string
  /** Whether there is nothing left to do here. */
  readonly isDone: boolean
  readonly children: ComponentChildren
}

export function StepFrame({ name, steps, title, lead, isDone, children }: Props) {
  return (
    <>
      <AloneHead title={title}>{lead}</AloneHead>
      <Progress name={name} steps={steps} />
      {children}
      <StepFoot name={name} steps={steps} isDone={isDone} />
    </>
  )
}

function Progress({ name, steps }: Pick<Props, 'name' | 'steps'>) {
  const current = steps.findIndex((step) => step.name === name)
  return (
    <ol class="setup-progress" aria-label="Steps of the set-up">
      {steps.map((step, place) => (
        <li
          key={step.name}
          class={place < current ? 'is-past' : undefined}
          aria-current={place === current ? 'step' : undefined}
        >
          <span class="setup-progress-sign">{place + 1}</span>
          <span class="setup-progress-name">{step.title}</span>
        </li>
      ))}
    </ol>
  )
}

type FootProps = Pick<Props, 'name' | 'steps' | 'isDone'>

function StepFoot({ name, steps, isDone }: FootProps) {
  const { session } = useDashboard()
  const before = stepBeside(name, -1, steps)
  const next = stepBeside(name, 1, steps)
  const { isBusy, failure, start } = useAction((step: StepName | null) => session.setStep(step))
  return (
    <>
      <FailureNote failure={failure} />
      <div class="setup-foot">
        {before !== null && (
          <Button look="quiet" icon="back" onClick={() => start(before)}>
            Back
          </Button>
        )}
        <a class="setup-later" href={href('home')}>
          Go on later
        </a>
        <Button look={isDone ? 'main' : 'plain'} isBusy={isBusy} onClick={() => start(next)}>
          {isDone ? 'Continue' : 'Skip this step'}
        </Button>
      </div>
    </>
  )
}
