import type { ComponentChildren } from 'preact'

import { PageHead } from '../components/page-head.tsx'
import { Mark } from '../shell.tsx'

type Props = { readonly title: string; readonly children?: ComponentChildren }

/** The head of a page on which nothing else says whose it is. */
export function AloneHead({ title, children }: Props) {
  return (
    <div class="alone-head">
      <Mark />
      <PageHead title={title}>{children}</PageHead>
    </div>
  )
}
