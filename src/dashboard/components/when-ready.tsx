import type { ComponentChildren, VNode } from 'preact'

import { href } from '../address.ts'
import type { Read } from '../store.ts'
import { COMMON } from '../words/common.ts'
import { LinkButton } from './button.tsx'
import { FailureNote } from './callout.tsx'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'
import { BackLink, Card, PageHead } from './page.tsx'

/** `line` a line of text, `row` a row of a list, `list` a card with rows. */
type SkeletonKind = 'line' | 'row' | 'list' | 'card'

type SkeletonProps = {
  readonly kind: SkeletonKind
  readonly count?: number | undefined
}

/** Gray shapes in the final size of the content, so that nothing jumps; shown after 200 ms. */
export function Skeleton({ kind, count = 1 }: SkeletonProps) {
  if (kind === 'list') {
    return (
      <Card kind="list">
        <Skeleton kind="row" count={count} />
      </Card>
    )
  }
  return (
    <div class="skeletons" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} class={`skeleton skeleton-${kind}`} />
      ))}
    </div>
  )
}

type ReadyProps<T> = {
  readonly of: Pick<Read<T>, 'now' | 'refresh'>
  /** The skeleton shown meanwhile; any other content is given as `skeleton`. */
  readonly kind?: SkeletonKind | undefined
  readonly count?: number | undefined
  readonly skeleton?: ComponentChildren
  readonly children: (value: T) => ComponentChildren
}

/** The three states of a read. A value that may be out of date stays in view. */
export function WhenReady<T>(props: ReadyProps<T>) {
  const { now, refresh } = props.of
  switch (now.state) {
    case 'loading':
      return <>{props.skeleton ?? <Skeleton kind={props.kind ?? 'card'} count={props.count} />}</>
    case 'failed':
      return <FailureNote failure={now.failure} onRetry={refresh} />
    case 'ready':
      return <>{props.children(now.value)}</>
  }
}

/** The failure of a read without which the rest is drawn. */
export function ReadFailure<T>({ of: { now, refresh } }: Pick<ReadyProps<T>, 'of'>) {
  return <FailureNote failure={now.state === 'failed' ? now.failure : null} onRetry={refresh} />
}

type EmptyProps = {
  readonly icon: IconName
  readonly title: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export function EmptyState({ icon, title, action, children }: EmptyProps) {
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

type DetailProps<T> = {
  /** The list that it belongs to, and the noun for one of its entries. */
  readonly page: 'lines' | 'webhooks'
  readonly noun: string
  readonly id: string
  readonly of: Read<{ readonly data: readonly T[] }>
  /** Keeps the skeleton for other data, which would move the rest later. */
  readonly isHeld: boolean
  readonly head: (value: T) => VNode
  readonly whyMissing: string
  readonly children: (value: T) => ComponentChildren
}

/** The view of one entry of a list: a link back, its head, and the rest once it was read. */
export function DetailView<T extends { readonly id: string }>(props: DetailProps<T>) {
  const { page, noun, of, isHeld, whyMissing } = props
  const found = of.value?.data.find(({ id }) => id === props.id)
  const all = <LinkButton href={href(page)}>{COMMON.all(page)}</LinkButton>
  const missing = (
    <Card>
      <EmptyState icon={page} title={COMMON.notFound(noun)} action={all}>
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
