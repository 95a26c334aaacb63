// <Badge tone="ok" icon="check">Online</Badge>: a state in a word. Never colour alone: a badge always
// has its icon.

import type { ComponentChildren } from 'preact'

import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'
import type { Tone } from './tone.ts'

type Props = {
  readonly tone: Tone
  readonly icon: IconName
  readonly children: ComponentChildren
}

export function Badge({ tone, icon, children }: Props) {
  return (
    <span class={`badge tone-${tone}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  )
}
