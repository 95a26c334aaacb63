// <Callout tone="warn" title="…">…</Callout>: something that the reader must know before going on; with
// `role` it is read aloud when it appears.
// <FailureNote failure={…} onRetry={…} />: why a call brought nothing, and the way to try again; nothing
// where nothing failed. `but` names what a field beside it tells by itself, as for `fieldError`.

import type { ComponentChildren } from 'preact'

import { fieldError } from '../field-error.ts'
import type { Failure } from '../request.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type { Tone } from './tone.ts'

type Props = {
  readonly tone: Tone
  readonly title?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly role?: 'alert' | 'status' | undefined
  readonly children: ComponentChildren
}

const ICONS = {
  plain: 'info',
  ok: 'check',
  wait: 'clock',
  warn: 'warning',
  bad: 'warning',
} as const

export function Callout({ tone, title, actions, role, children }: Props) {
  return (
    <div class={`callout tone-${tone}`} role={role}>
      <Icon name={ICONS[tone]} />
      <div class="callout-words">
        {title && <p class="callout-title">{title}</p>}
        <p>{children}</p>
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  )
}

type FailureProps = {
  readonly failure: Failure | null
  readonly but?: readonly string[] | undefined
  readonly onRetry?: (() => void) | undefined
}

export function FailureNote({ failure, but = [], onRetry }: FailureProps) {
  if (failure === null || fieldError(failure, ...but) !== null) return null
  const again = onRetry && (
    <Button icon="again" onClick={onRetry}>
      Try again
    </Button>
  )
  return (
    <Callout tone="bad" role="alert" actions={again}>
      {failure.message}
    </Callout>
  )
}
