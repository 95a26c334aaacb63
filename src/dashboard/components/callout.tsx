import type { ComponentChildren } from 'preact'

import { fieldError, type Failure } from '../api.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import type { Tone } from './drawings.ts'
import { Icon } from './icon.tsx'

type Props = {
  readonly tone: Tone
  readonly title?: ComponentChildren
  readonly actions?: ComponentChildren
  /** Makes screen readers read it when it appears. */
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
  /** Fields and error codes whose errors are shown beside their field instead. */
  readonly but?: readonly string[] | undefined
  readonly onRetry?: (() => void) | undefined
}

export function FailureNote({ failure, but = [], onRetry }: FailureProps) {
  if (failure === null || fieldError(failure, ...but) !== null) return null
  const again = onRetry && (
    <Button icon="again" onClick={onRetry}>
      {COMMON.tryAgain}
    </Button>
  )
  return (
    <Callout tone="bad" role="alert" actions={again}>
      {failure.message}
    </Callout>
  )
}
