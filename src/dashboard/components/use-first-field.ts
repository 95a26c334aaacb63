import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * Gives the focus to the first field of a form that takes the place of a page. `autofocus` does that
 * only once while a page is loaded.
 */
export function useFirstField(): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  return form
}
