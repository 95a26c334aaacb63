import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

import { useDashboard } from '../dashboard.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { Form } from './form.tsx'

type DialogProps = {
  readonly title: ComponentChildren
  readonly actions: ComponentChildren
  readonly onClose: () => void
  /** For a form, with a `type="submit"` button among the actions. */
  readonly onSubmit?: (() => unknown) | undefined
  /** False where only its own button may close it. */
  readonly canClose?: boolean | undefined
  /** As wide as the window, for a picture. */
  readonly isWide?: boolean | undefined
  /** As high as the window, at its side: what it shows may grow. */
  readonly isSide?: boolean | undefined
  readonly children: ComponentChildren
}

const FIRST_FIELD = '.dialog-body :is(input:not([hidden]), select, textarea)'

/** A dialog over the page, open while it is drawn. The focus is on its first field. */
export function Dialog(props: DialogProps) {
  const {
    title,
    onClose,
    onSubmit = () => {},
    canClose = true,
    isWide = false,
    isSide = false,
  } = props
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
            <Button look="quiet" icon="cross" isIconOnly onClick={onClose}>
              {COMMON.close}
            </Button>
          )}
        </div>
        <div class="dialog-body">{props.children}</div>
        <div class="dialog-foot actions">{props.actions}</div>
      </Form>
    </dialog>
  )
}

/**
 * Opens a dialog over the page while it is drawn. The back button calls `onBack`; from a dialog that has an
 * address of its own it leads to the address before.
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
    element?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
    const leave = hasAddress ? () => {} : router.addDialog(() => latest.current())
    return () => {
      leave()
      // Closing it before it is removed returns the focus to where it was.
      element?.close()
    }
  }, [])
  return dialog
}
