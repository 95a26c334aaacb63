// <EmptyState icon="keys" title="No keys yet" action={<Button …>}>What one does next.</EmptyState>:
// what stands in the place of a list that is empty. It always names the next act.

import type { ComponentChildren } from 'preact'

import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

type Props = {
  readonly icon: IconName
  readonly title: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export function EmptyState({ icon, title, action, children }: Props) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <p class="empty-title">{title}</p>
      <p class="empty-words">{children}</p>
      {action}
    </div>
  )
}
