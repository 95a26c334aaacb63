import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

import { href } from '../address.ts'
import type { Answer } from '../api.ts'
import { useDashboard } from '../dashboard.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { FailureNote } from './callout.tsx'
import type { IconName } from './drawings.ts'
import { Form } from './form.tsx'
import { Card } from './page.tsx'
import { useAction, type Action } from './use-action.ts'

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

type ActionProps = {
  readonly title: string
  readonly confirm: string
  readonly look?: 'main' | 'danger' | undefined
  readonly action: Action<[]>
  /** The fields and error codes whose errors are shown beside their field. */
  readonly but?: readonly string[] | undefined
  readonly isReady?: boolean | undefined
  readonly onClose: () => void
  /** Starts the action, where more is to be done first. */
  readonly onSubmit?: (() => unknown) | undefined
  readonly children: ComponentChildren
}

/** A dialog whose action the relay carries out; a failure is shown below the rest. */
export function ActionDialog(props: ActionProps) {
  const { confirm, look = 'main', action, isReady = true, onClose, onSubmit = action.start } = props
  return (
    <Dialog
      title={props.title}
      onClose={onClose}
      onSubmit={() => isReady && onSubmit()}
      actions={
        <>
          <Button onClick={onClose}>{COMMON.cancel}</Button>
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

type ConfirmProps<T> = {
  readonly text: string
  readonly icon?: IconName | undefined
  readonly title: string
  readonly confirm: string
  readonly look: 'main' | 'danger'
  readonly call: () => Promise<Answer<T>>
  readonly onDone: (value: T) => void
  readonly children: ComponentChildren
}

export function ConfirmButton<T>(props: ConfirmProps<T>) {
  const isOpen = useSignal(false)
  const close = () => (isOpen.value = false)
  const action = useAction(props.call, (value) => {
    close()
    props.onDone(value)
  })
  return (
    <>
      <Button icon={props.icon} onClick={() => (isOpen.value = true)}>
        {props.text}
      </Button>
      {isOpen.value && (
        <ActionDialog {...props} action={action} onClose={close}>
          <p>{props.children}</p>
        </ActionDialog>
      )}
    </>
  )
}

type DeleteProps = {
  readonly page: 'lines' | 'webhooks'
  readonly noun: string
  readonly path: string
  readonly consequence: string
  readonly children: ComponentChildren
}

/** Deletes an entry of a list, and returns to the list. */
export function DeleteCard({ page, noun, path, consequence, children }: DeleteProps) {
  const { api, notices, router } = useDashboard()
  return (
    <Card title={COMMON.delete}>
      <p class="small quiet">{children}</p>
      <div class="actions">
        <ConfirmButton
          icon="trash"
          text={COMMON.deleteThing(noun)}
          title={COMMON.deleteThis(noun)}
          confirm={COMMON.delete}
          look="danger"
          call={() => api.remove(path)}
          onDone={() => {
            notices.done(COMMON.deleted)
            router.replace(href(page))
          }}
        >
          {consequence}
        </ConfirmButton>
      </div>
    </Card>
  )
}

type OnceProps = {
  readonly title: string
  readonly onDone: () => void
  readonly children: ComponentChildren
}

/** A secret that is never shown again, until its button is pressed. The caller then drops the secret. */
export function ShownOnce({ title, onDone, children }: OnceProps) {
  return (
    <Dialog
      title={title}
      canClose={false}
      onClose={onDone}
      actions={
        <Button look="main" onClick={onDone}>
          {COMMON.done}
        </Button>
      }
    >
      {children}
    </Dialog>
  )
}
