// <Badge of={lineState(line)} />: a state in a word. Never colour alone: it always has its icon.

import { Icon } from './icon.tsx'
import type { StateWords } from './tone.ts'

export function Badge({ of }: { readonly of: StateWords }) {
  return (
    <span class={`badge tone-${of.tone}`}>
      <Icon name={of.icon} />
      <span>{of.text}</span>
    </span>
  )
}
