import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'

import { keepsAnything } from '../browser-storage.ts'
import { Callout } from './callout.tsx'
import { Mark } from './mark.tsx'
import { PageHead } from './page-head.tsx'
import { useTitle } from './use-title.ts'

type Props = { readonly title: string; readonly children?: ComponentChildren }

/** Said before the password is typed, for it explains why it will be asked for again. */
function StorageNote() {
  const keeps = useMemo(keepsAnything, [])
  if (keeps) return null
  return (
    <Callout tone="warn" role="status" title="This browser keeps nothing for this page">
      It is a private window, or a setting blocks storage. You can sign in, but only in this tab,
      and once more whenever it is loaded anew.
    </Callout>
  )
}

/** The head of a page on which nothing else says whose it is. */
export function AloneHead({ title, children }: Props) {
  useTitle(title)
  return (
    <>
      <div class="alone-head">
        <Mark />
        <PageHead title={title}>{children}</PageHead>
      </div>
      <StorageNote />
    </>
  )
}
