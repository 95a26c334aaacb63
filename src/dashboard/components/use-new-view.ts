import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Begins a new view at its top, with the focus on its heading, as a browser would. `view` names what is
 * shown, and `before` what was shown just before: nothing else where left out, as on a page that was
 * just loaded, which begins at the top by itself.
 */
export function useNewView(view: string, before = view): void {
  const shown = useRef(before)
  // Before anything is drawn: a key that is pressed at the sight of the new view goes to it.
  useLayoutEffect(() => {
    if (shown.current === view) return
    shown.current = view
    window.scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [view])
}
