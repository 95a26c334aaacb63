// A button that asks before it has the relay do something.
//
//   <ConfirmButton icon="trash" text="Delete the line…" title="Delete this line?" confirm="Delete"
//     look="danger" call={() => api.remove(…)} onDone={() => …}>What follows from it.</ConfirmButton>

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { Answer } from '../request.ts'
import { Button } from './button.tsx'
import { FailureNote } from './callout.tsx'
import { Dialog } from './dialog.tsx'
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
  const { text, icon, title, confirm, look, call, onDone, children } = props
  const isAsking = useSignal(false)
  const close = () => (isAsking.value = false)
  const { isBusy, failure, start } = useAction(call, (value) => {
    close()
    onDone(value)
  })
  return (
    <>
      <Button icon={icon} onClick={() => (isAsking.value = true)}>
        {text}
      </Button>
      {isAsking.value && (
        <Dialog
          title={title}
          onClose={close}
          onSubmit={start}
          actions={
            <>
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" look={look} isBusy={isBusy}>
                {confirm}
              </Button>
            </>
          }
        >
          {children}
          {failure !== null && <FailureNote failure={failure} />}
        </Dialog>
      )}
    </>
  )
}
