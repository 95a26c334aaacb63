import { useEffect } from 'preact/hooks'

/** The title of a view that stands alone; the pages with the navigation get theirs from the shell. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Hookline`
  }, [title])
}
