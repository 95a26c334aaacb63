// A question over the page whose answer the relay carries out; why it did not stands below the rest.
//
//   <ActionDialog title="New key" confirm="Make the key" action={useAction(…)} onClose={…}>
//     <TextField … />
//   </ActionDialog>
//
// `but` names what the fields tell by themselves; `isReady={false}` as long as something is missing. Where more than the action is to be done, `onSubmit` begins it.

import type { ComponentChildren } from 'preact'

import { Button } from './button.tsx'
import { FailureNote } from './callout.tsx'
import { Dialog } from './dialog.tsx'
import type { Action } from './use-action.ts'

type Props = {
  readonly title: string
  /** The word on the button that does it. */
  readonly confirm: string
  readonly look?: 'main' | 'danger' | undefined
  readonly action: Action<[]>
  readonly but?: readonly string[] | undefined
  readonly isReady?: boolean | undefined
  readonly onClose: () => void
  readonly onSubmit?: (() => unknown) | undefined
  readonly children: ComponentChildren
}

export function ActionDialog(props: Props) {
  const { confirm, look = 'main', action, isReady = true, onClose, onSubmit = action.start } = props
  return (
    <Dialog
      title={props.title}
      onClose={onClose}
      onSubmit={() => isReady && onSubmit()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} isBusy={action.isBusy} isDisabled={!isReady}>
            {confirm}
          </Button>
        </>
      }
    >
      {props.children}
      <FailureNote failure={action.failure} but={props.but} />
    </Dialog>
  )
}
