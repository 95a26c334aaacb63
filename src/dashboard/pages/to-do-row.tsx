import type { ComponentChildren } from 'preact'

import type { IconName, Tone } from '../components/drawings.ts'
import { Icon } from '../components/icon.tsx'

type Props = {
  readonly tone: Tone
  readonly icon: IconName
  readonly title: ComponentChildren
  readonly actions: ComponentChildren
  readonly children: ComponentChildren
}

export function ToDoRow({ tone, icon, title, actions, children }: Props) {
  return (
    <li class={`to-do-row tone-${tone}`}>
      <span class="to-do-mark">
        <Icon name={icon} />
      </span>
      <div>
        <h3>{title}</h3>
        <div class="small quiet">{children}</div>
      </div>
      <div class="actions">{actions}</div>
    </li>
  )
}
