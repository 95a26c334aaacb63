// <Skeleton kind="row" count={5} />: grey shapes in the final size of what comes, so that nothing jumps.
// They show after 200 ms only. Kinds: `line` a line of text, `row` a row of a list, `list` a card with
// rows, `card` a card.

import { Card } from './card.tsx'

export type SkeletonKind = 'line' | 'row' | 'list' | 'card'

type Props = {
  readonly kind: SkeletonKind
  readonly count?: number | undefined
}

export function Skeleton({ kind, count = 1 }: Props) {
  if (kind === 'list') {
    return (
      <Card kind="list">
        <Skeleton kind="row" count={count} />
      </Card>
    )
  }
  return (
    <div class="skeletons" aria-hidden="true">
      {Array.from({ length: count }, (_, place) => (
        <span key={place} class={`skeleton skeleton-${kind}`} />
      ))}
    </div>
  )
}
