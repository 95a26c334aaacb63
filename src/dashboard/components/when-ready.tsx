import type { ComponentChildren } from 'preact'

import type { Read } from '../store.ts'
import { FailureNote } from './callout.tsx'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'
import { Card } from './page.tsx'

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
