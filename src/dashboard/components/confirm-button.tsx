// A button that asks before it has the relay do something.
//
//   <ConfirmButton icon="trash" text="Delete the line…" title="Delete this line?" confirm="Delete"
//     look="danger" call={() => api.remove(…)} onDone={() => …}>What follows from it.</ConfirmButton>

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { Answer } from '../request.ts'
import { ActionDialog } from './action-dialog.tsx'
import { Button } from './button.tsx'
import type { IconName } from './drawings.ts'
import { useAction } from './use-action.ts'

type Props<T> = {
  readonly text: string
  readonly icon?: IconName | undefined
  /** The question, and the word on the button that says yes. */
  readonly title: string
  readonly confirm: string
  readonly look: 'main' | 'danger'
  readonly call: () => Promise<Answer<T>>
  readonly onDone: (value: T) => void
  /** What one should know before. */
  readonly children: ComponentChildren
}

export function ConfirmButton<T>(props: Props<T>) {
  const isAsking = useSignal(false)
  const close = () => (isAsking.value = false)
  const action = useAction(props.call, (value) => {
    close()
    props.onDone(value)
  })
  return (
    <>
      <Button icon={props.icon} onClick={() => (isAsking.value = true)}>
        {props.text}
      </Button>
      {isAsking.value && (
        <ActionDialog {...props} action={action} onClose={close}>
          <p>{props.children}</p>
        </ActionDialog>
      )}
    </>
  )
}
