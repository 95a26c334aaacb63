// <WhenReady loaded={keys.now} skeleton={<Skeleton kind="row" count={3} />} onRetry={keys.refresh}>
//   {(value) => …}
// </WhenReady>: the three states of something that is read. A value that may be old stays in view.

import type { ComponentChildren } from 'preact'

import type { Loaded } from '../store.ts'
import { FailureNote } from './callout.tsx'

type Props<T> = {
  readonly loaded: Loaded<T>
  readonly skeleton: ComponentChildren
  readonly onRetry: () => void
  readonly children: (value: T) => ComponentChildren
}

export function WhenReady<T>({ loaded, skeleton, onRetry, children }: Props<T>) {
  switch (loaded.state) {
    case 'loading':
      return <>{skeleton}</>
    case 'failed':
      return <FailureNote failure={loaded.failure} onRetry={onRetry} />
    case 'ready':
      return <>{children(loaded.value)}</>
  }
}
