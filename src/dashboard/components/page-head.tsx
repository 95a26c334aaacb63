// <PageHead title="Keys" actions={<Button>New key</Button>}>One sentence.</PageHead>: the only heading
// of the first level. It takes the focus when the page changes.

import type { ComponentChildren } from 'preact'

type Props = {
  readonly title: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children?: ComponentChildren
}

export function PageHead({ title, actions, children }: Props) {
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1 tabIndex={-1}>{title}</h1>
        {children !== undefined && <p class="page-lead">{children}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </header>
  )
}
