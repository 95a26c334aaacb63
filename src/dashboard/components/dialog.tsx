// A question over the page; it is open as long as it is drawn. Escape and the cross call `onClose`.
//
//   {isAsking && (
//     <Dialog title="Store the secret now" canClose={false} onClose={stored}
//       actions={<Button look="main" onClick={stored}>I stored it</Button>}>…</Dialog>
//   )}
//
// With `onSubmit` it is a form: give it a `type="submit"` button. `canClose={false}` keeps it open until
// a button of its own closes it: for a secret that is shown once.

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

import { Button } from './button.tsx'
import { Form } from './form.tsx'

type Props = {
  readonly title: string
  readonly actions: ComponentChildren
  readonly onClose: () => void
  readonly onSubmit?: (() => unknown) | undefined
  readonly canClose?: boolean | undefined
  readonly children: ComponentChildren
}

export function Dialog(props: Props) {
  const { title, onClose, onSubmit = () => {}, canClose = true } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closed before it goes, which a layout effect is in time for: so the focus returns to where it was.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (canClose) onClose()
      }}
    >
      <Form class="dialog-form" onSubmit={onSubmit}>
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          {canClose && (
            <Button look="quiet" icon="cross" isIconOnly onClick={onClose}>
              Close
            </Button>
          )}
        </div>
        <div class="dialog-body">{props.children}</div>
        <div class="dialog-foot actions">{props.actions}</div>
      </Form>
    </dialog>
  )
}
