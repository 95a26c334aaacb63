// <WhenReady of={keys} kind="list" count={3}>{(value) => …}</WhenReady>: the three states of something
// that is read. `kind` and `count` say what stands there meanwhile, as for a `Skeleton`; anything else is
// given as `skeleton`. A value that may be old stays in view.
//
// <ReadFailure of={traffic} />: why something could not be read, where the rest is drawn without it.

import type { ComponentChildren } from 'preact'

import type { Read } from '../store.ts'
import { FailureNote } from './callout.tsx'
import { Skeleton, type SkeletonKind } from './skeleton.tsx'

type Props<T> = {
  readonly of: Pick<Read<T>, 'now' | 'refresh'>
  readonly kind?: SkeletonKind | undefined
  readonly count?: number | undefined
  readonly skeleton?: ComponentChildren
  readonly children: (value: T) => ComponentChildren
}

export function WhenReady<T>({ of: { now, refresh }, kind = 'card', count, ...rest }: Props<T>) {
  switch (now.state) {
    case 'loading':
      return <>{rest.skeleton ?? <Skeleton kind={kind} count={count} />}</>
    case 'failed':
      return <FailureNote failure={now.failure} onRetry={refresh} />
    case 'ready':
      return <>{rest.children(now.value)}</>
  }
}

export function ReadFailure<T>({ of: { now, refresh } }: Pick<Props<T>, 'of'>) {
  return <FailureNote failure={now.state === 'failed' ? now.failure : null} onRetry={refresh} />
}
