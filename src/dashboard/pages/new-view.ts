import { useEffect, useRef } from 'preact/hooks'

/**
 * Begins a new view of the same page at its top, with the focus on its heading, as the shell does for
 * a new page. `view` names what is shown.
 */
export function useNewView(view: string): void {
  const before = useRef(view)
  useEffect(() => {
    if (before.current === view) return
    before.current = view
    window.scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [view])
}
