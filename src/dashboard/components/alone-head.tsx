import type { ComponentChildren } from 'preact'

import { Mark } from './mark.tsx'
import { PageHead } from './page-head.tsx'
import { useTitle } from './use-title.ts'

type Props = { readonly title: string; readonly children?: ComponentChildren }

/** The head of a page on which nothing else says whose it is. */
export function AloneHead({ title, children }: Props) {
  useTitle(title)
  return (
    <div class="alone-head">
      <Mark />
      <PageHead title={title}>{children}</PageHead>
    </div>
  )
}
