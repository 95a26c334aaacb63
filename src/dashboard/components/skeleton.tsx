// <Skeleton kind="row" count={5} />: grey shapes in the final size of what comes, so that nothing jumps.
// They show after 200 ms only. Kinds: `line` a line of text, `row` a row of a list, `card` a card.

type Props = {
  readonly kind: 'line' | 'row' | 'card'
  readonly count?: number | undefined
}

export function Skeleton({ kind, count = 1 }: Props) {
  return (
    <div class="skeletons" aria-hidden="true">
      {Array.from({ length: count }, (_, place) => (
        <span key={place} class={`skeleton skeleton-${kind}`} />
      ))}
    </div>
  )
}
