import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

import { useDashboard } from '../dashboard.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { Form } from './form.tsx'

type DialogProps = {
  readonly title: ComponentChildren
  /** A button that closes the dialog if left out. */
  readonly actions?: ComponentChildren
  readonly onClose: () => void
  /** For a form; needs a `type="submit"` button among the actions. */
  readonly onSubmit?: (() => unknown) | undefined
  /** False if only a button of the dialog may close it. */
  readonly canClose?: boolean | undefined
  /** As wide as the window. */
  readonly isWide?: boolean | undefined
  /** At the side, as high as the window: for content that may grow. */
  readonly isSide?: boolean | undefined
  readonly children: ComponentChildren
}

const FIRST_FIELD = '.dialog-body :is(input:not([hidden]), select, textarea)'

/** A modal dialog, open while it is rendered. Its first field has the focus. */
export function Dialog(props: DialogProps) {
  const { title, onClose, onSubmit = () => {}, canClose = true, isWide, isSide = false } = props
  const { actions = <Button onClick={onClose}>{COMMON.done}</Button> } = props
  const dialog = useModal(canClose ? onClose : () => {}, isSide)
  const id = useId()
  return (
    <dialog
      ref={dialog}
      class={`dialog ${isWide ? 'dialog-wide' : ''} ${isSide ? 'dialog-side' : ''}`}
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
            <Button variant="quiet" icon="cross" isIconOnly onClick={onClose}>
              {COMMON.close}
            </Button>
          )}
        </div>
        <div class="dialog-body">{props.children}</div>
        <div class="dialog-foot actions">{actions}</div>
      </Form>
    </dialog>
  )
}

/**
 * Keeps a dialog open while it is rendered. The Back button calls `onBack`, unless the dialog has its own address:
 * then Back leads to the previous address.
 */
export function useModal(
  onBack: () => void,
  hasAddress = false,
): RefObject<HTMLDialogElement | null> {
  const { router } = useDashboard()
  const dialog = useRef<HTMLDialogElement>(null)
  const latest = useRef(onBack)
  latest.current = onBack
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    const wanted = element?.querySelector<HTMLElement>('[autofocus]')
    const field = wanted ?? element?.querySelector<HTMLElement>(FIRST_FIELD)
    field?.focus()
    const leave = hasAddress ? () => {} : router.addDialog(() => latest.current())
    return () => {
      leave()
      // Closing the dialog before it is removed returns the focus.
      element?.close()
    }
  }, [])
  return dialog
}

type OpenProps = Parameters<typeof Button>[0] & {
  readonly dialog: (onClose: () => void) => ComponentChildren
}

export function DialogButton({ dialog, ...button }: OpenProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button {...button} onClick={() => (isOpen.value = true)} />
      {isOpen.value && dialog(() => (isOpen.value = false))}
    </>
  )
}
