// Forms and dialogs with an action, and buttons that open them. Lazy pages import this file, so the first script stays
// small.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { href } from '../address.ts'
import { fieldError, type Answer } from '../api.ts'
import { useAction, useDashboard, type Action } from '../dashboard.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { FailureNote } from './callout.tsx'
import type { IconName } from './drawings.ts'
import { Form, TextField } from './form.tsx'
import { Dialog } from './modal.tsx'
import { Card } from './page.tsx'

export { Dialog, DialogButton } from './modal.tsx'

type ActionProps = {
  readonly title: string
  readonly confirm: string
  readonly variant?: 'main' | 'danger' | undefined
  readonly action: Action<[]>
  /** The text of the Cancel button. */
  readonly cancel?: string | undefined
  /** Fields and error codes whose errors are shown beside their field instead. */
  readonly but?: readonly string[] | undefined
  readonly isReady?: boolean | undefined
  readonly onClose: () => void
  /** Replaces `action.start` if something must be checked first. */
  readonly onSubmit?: (() => unknown) | undefined
  readonly children: ComponentChildren
}

/** A dialog for an action of the relay, with its failure at the end. */
export function ActionDialog(props: ActionProps) {
  const {
    confirm,
    variant = 'main',
    action,
    isReady = true,
    onClose,
    onSubmit = action.start,
  } = props
  return (
    <Dialog
      title={props.title}
      onClose={onClose}
      onSubmit={() => isReady && onSubmit()}
      actions={
        <>
          <Button onClick={onClose}>{props.cancel ?? COMMON.cancel}</Button>
          <Button type="submit" variant={variant} isBusy={action.isBusy} isDisabled={!isReady}>
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

type NameProps = Pick<ActionProps, 'title' | 'confirm' | 'action' | 'onClose'> & {
  readonly name: { value: string }
  readonly hint: string
  readonly maxLength: number
  readonly children?: ComponentChildren
}

export function NameDialog({ name, hint, maxLength, children, ...dialog }: NameProps) {
  const error = fieldError(dialog.action.failure, 'name', 'name_taken')
  return (
    <ActionDialog but={['name', 'name_taken']} isReady={name.value.trim() !== ''} {...dialog}>
      <TextField label="Name" isFirst bind={name} {...{ hint, maxLength, error }} />
      {children}
    </ActionDialog>
  )
}

type FormProps = Pick<ActionProps, 'action' | 'but' | 'onSubmit' | 'children'> & {
  /** The text of the button. */
  readonly submit: string
  readonly variant?: 'main' | undefined
  readonly isReady?: boolean | undefined
  readonly beside?: ComponentChildren
}

/** A form for an action of the relay, with its failure above the button. */
export function ActionForm({ action, but, submit, variant, isReady = true, ...props }: FormProps) {
  const { onSubmit = action.start } = props
  return (
    <Form onSubmit={() => isReady && onSubmit()}>
      {props.children}
      <FailureNote failure={action.failure} but={but} />
      <div class="actions">
        <Button type="submit" variant={variant} isBusy={action.isBusy} isDisabled={!isReady}>
          {submit}
        </Button>
        {props.beside}
      </div>
    </Form>
  )
}

type ConfirmProps<T> = {
  readonly text: string
  readonly icon?: IconName | undefined
  readonly title: string
  readonly confirm: string
  readonly variant?: 'main' | undefined
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
        <ActionDialog variant="danger" {...props} action={action} onClose={close}>
          <p>{props.children}</p>
        </ActionDialog>
      )}
    </>
  )
}

type DeleteProps = {
  readonly page: 'lines' | 'webhooks'
  readonly noun: string
  readonly id: string
  readonly consequence: string
  readonly children: ComponentChildren
}

export function DeleteCard({ page, noun, id, consequence, children }: DeleteProps) {
  const { api, notices, router } = useDashboard()
  const operation = page === 'lines' ? 'deletePhoneLine' : 'deleteWebhook'
  return (
    <Card title={COMMON.delete}>
      <p class="small quiet">{children}</p>
      <div class="actions">
        <ConfirmButton
          icon="trash"
          text={`Delete ${noun}…`}
          title={`Delete this ${noun}?`}
          confirm={COMMON.delete}
          call={() => api.call(operation, { params: { id } })}
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

/** Shows a secret until its button is pressed. The caller then drops the secret, which is never shown again. */
export function ShownOnce({ title, onDone, children }: OnceProps) {
  return (
    <Dialog
      title={title}
      canClose={false}
      onClose={onDone}
      actions={
        <Button variant="main" onClick={onDone}>
          {COMMON.done}
        </Button>
      }
    >
      {children}
    </Dialog>
  )
}
