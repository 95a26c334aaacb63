import type { ComponentChildren, VNode } from 'preact'

import { href } from '../address.ts'
import type { Read } from '../store.ts'
import { LinkButton } from './button.tsx'
import { BackLink, Card, PageHead } from './page.tsx'
import { EmptyState, WhenReady } from './when-ready.tsx'

type DetailProps<T> = {
  /** The list that the entry belongs to; `noun` is the word for one entry. */
  readonly page: 'lines' | 'webhooks'
  readonly noun: string
  readonly id: string
  readonly of: Read<{ readonly data: readonly T[] }>
  /** Keeps the skeleton while other data is loading, which would move the page later. */
  readonly isHeld: boolean
  readonly head: (value: T) => VNode
  readonly whyMissing: string
  readonly children: (value: T) => ComponentChildren
}

/** The view of one list entry: a link back, its head, and the rest once it is loaded. */
export function DetailView<T extends { readonly id: string }>(props: DetailProps<T>) {
  const { page, noun, of, isHeld, whyMissing } = props
  const found = of.value?.data.find(({ id }) => id === props.id)
  const all = <LinkButton href={href(page)}>{`All ${page}`}</LinkButton>
  const missing = (
    <Card>
      <EmptyState icon={page} title={`${noun} not found`} action={all}>
        {whyMissing}
      </EmptyState>
    </Card>
  )
  return (
    <>
      <div>
        <BackLink href={href(page)}>{`${noun}s`}</BackLink>
        {found === undefined ? <PageHead title={noun}>{'\u00A0'}</PageHead> : props.head(found)}
      </div>
      <WhenReady of={isHeld ? { ...of, now: { state: 'loading' } } : of} count={2}>
        {() => (found === undefined ? missing : props.children(found))}
      </WhenReady>
    </>
  )
}
