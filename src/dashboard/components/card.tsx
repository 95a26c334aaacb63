// <Card title="Deliveries" actions={<Button>…</Button>}>…</Card>: a white sheet with a heading of the
// second level. Without `title` it is a plain sheet.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

type Props = {
  readonly title?: ComponentChildren
  readonly actions?: ComponentChildren
  /** `sheet` (default) has padding; `list` lets its rows reach the edges. */
  readonly kind?: 'sheet' | 'list' | undefined
  readonly children: ComponentChildren
}

export function Card({ title, actions, kind = 'sheet', children }: Props) {
  const id = useId()
  if (title === undefined) return <div class={`card card-${kind}`}>{children}</div>
  return (
    <section class={`card card-${kind}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
