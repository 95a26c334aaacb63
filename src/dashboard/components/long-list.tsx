import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import type { Feed } from '../feed.ts'
import { FailureNote } from './callout.tsx'
import { Skeleton } from './when-ready.tsx'

type FeedListProps<T extends { readonly id: string }> = {
  readonly feed: Feed<T>
  readonly label: string
  readonly class?: string | undefined
  /** The number of skeleton rows while the first page is loading. */
  readonly waiting?: number | undefined
  /** Hides entries that no longer match since they were read. */
  readonly isShown?: ((entry: T) => boolean) | undefined
  /** Most rows to show now. Near the end of the rows, `onMore` is called with the number of rows that are shown. */
  readonly max?: number | undefined
  readonly onMore?: ((count: number) => void) | undefined
  readonly empty: ComponentChildren
  readonly row: (entry: T) => VNode
}

/** With fewer rows left to show, more are read. */
const ROWS_AHEAD = 30

/** A feed inside a card: loading, failed, empty, or its rows. Reads more near the end. */
export function FeedList<T extends { readonly id: string }>(props: FeedListProps<T>) {
  const { feed, waiting = 6, isShown = () => true, max = Infinity, empty, row } = props
  const now = feed.now.value
  if (now.state === 'loading') return <Skeleton kind="row" count={waiting} />
  if (now.state === 'failed') {
    return <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
  }
  const known = now.entries.filter(isShown)
  const isWhole = now.nextCursor === null
  if (known.length === 0 && isWhole) return <>{empty}</>
  const rows = known.slice(0, max)
  const readMore = () => {
    props.onMore?.(rows.length)
    if (rows.length + ROWS_AHEAD > known.length) void feed.readMore()
  }
  return (
    <>
      <ul class={props.class} aria-label={props.label}>
        {rows.map(row)}
      </ul>
      {(!isWhole || rows.length < known.length) && (
        <NearView again={rows.length < known.length ? rows.length : now} onSeen={readMore}>
          <Skeleton kind="row" count={2} />
        </NearView>
      )}
    </>
  )
}

type NearViewProps = {
  readonly onSeen: () => void
  /** A new value checks again: an end that stays in view fires no second event. */
  readonly again: unknown
  /** Selector of the scrolling element; the window if left out. */
  readonly within?: string | undefined
  readonly children?: ComponentChildren
}

/** The end of a list: calls `onSeen` 800 px before it comes into view, so that nobody waits. */
export function NearView({ onSeen, again, within, children }: NearViewProps) {
  const mark = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = mark.current
    if (element === null) return
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) onSeen()
      },
      { root: within === undefined ? null : element.closest(within), rootMargin: '800px 0px' },
    )
    watch.observe(element)
    return () => watch.disconnect()
  }, [again])
  return <div ref={mark}>{children}</div>
}
