import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Takes the focus where `change` took away what had it: on a phone one pane hides the other. */
export function useFocusRescue(place: RefObject<HTMLElement | null>, change: unknown): void {
  const before = useRef(change)
  useLayoutEffect(() => {
    const { activeElement, body } = document
    const isLost = activeElement === body || activeElement?.checkVisibility() !== true
    if (before.current !== change && isLost) place.current?.focus({ preventScroll: true })
    before.current = change
  }, [change])
}
