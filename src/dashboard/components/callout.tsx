// <Callout tone="warn" title="…">…</Callout>: something that the reader must know before going on.
// <FailureNote failure={…} onRetry={…} />: why a call brought nothing, and the way to try again.

import type { ComponentChildren } from 'preact'

import type { Failure } from '../request.ts'
import { Button } from './button.tsx'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'
import type { Tone } from './tone.ts'

type Props = {
  readonly tone: Tone
  readonly title?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

const ICONS: Readonly<Record<Tone, IconName>> = {
  plain: 'info',
  ok: 'check',
  wait: 'clock',
  warn: 'warning',
  bad: 'warning',
}

export function Callout({ tone, title, actions, children }: Props) {
  return (
    <div class={`callout tone-${tone}`}>
      <Icon name={ICONS[tone]} />
      <div class="callout-words">
        {title !== undefined && <p class="callout-title">{title}</p>}
        {children}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  )
}

type FailureProps = {
  readonly failure: Failure
  readonly onRetry?: (() => void) | undefined
}

export function FailureNote({ failure, onRetry }: FailureProps) {
  const again = onRetry !== undefined && (
    <Button icon="again" onClick={onRetry}>
      Try again
    </Button>
  )
  return (
    <div role="alert">
      <Callout tone="bad" actions={again === false ? undefined : again}>
        <p>{failure.message}</p>
      </Callout>
    </div>
  )
}
