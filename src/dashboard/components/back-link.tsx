// <BackLink href={href('lines')}>Lines</BackLink>: above the heading of a view that belongs to a list.

import type { ComponentChildren } from 'preact'

import { Icon } from './icon.tsx'

type Props = { readonly href: string; readonly children: ComponentChildren }

export function BackLink({ href, children }: Props) {
  return (
    <a class="back-link" href={href}>
      <Icon name="back" />
      {children}
    </a>
  )
}
