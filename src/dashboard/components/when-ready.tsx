import type { ComponentChildren } from 'preact'

import type { Read } from '../store.ts'
import { FailureNote } from './callout.tsx'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'
import { Card } from './page.tsx'

/** `line`: a line of text; `row`: a row of a list; `list`: a card with rows. */
type SkeletonKind = 'line' | 'row' | 'list' | 'card'

type SkeletonProps = { readonly kind: SkeletonKind; readonly count?: number | undefined }

/** Gray shapes as large as the content, so that nothing jumps. CSS shows them after 200 ms. */
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
  /** The kind of skeleton; `skeleton` replaces it by other content. */
  readonly kind?: SkeletonKind | undefined
  readonly count?: number | undefined
  readonly skeleton?: ComponentChildren
  readonly children: (value: T) => ComponentChildren
}

/** Shows the skeleton, the failure, or the value, even if the value may be out of date. */
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

/** Shows only the failure of a read; the page is drawn without its value. */
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
