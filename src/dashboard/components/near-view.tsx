// <NearView onSeen={() => void feed.readMore()} again={cursor} />: stands at the end of what is loaded, and
// tells when that comes into view. It looks anew whenever `again` is another value: an end that stays
// within view would not come into view again.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type Props = {
  readonly onSeen: () => void
  readonly again: unknown
  /** The class of what scrolls; the window where left out. */
  readonly within?: string | undefined
  readonly children?: ComponentChildren
}

/** How far from the view it is told, so that nobody waits at the end. */
const DISTANCE = '800px 0px'

export function NearView({ onSeen, again, within, children }: Props) {
  const mark = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = mark.current
    if (element === null) return
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) onSeen()
      },
      { root: within === undefined ? null : element.closest(within), rootMargin: DISTANCE },
    )
    watch.observe(element)
    return () => watch.disconnect()
  }, [again])
  return <div ref={mark}>{children}</div>
}
