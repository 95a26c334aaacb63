// Moves the focus to a neighbor if its element is removed.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

const STOPS =
  'a[href], button, input:not([hidden]), select, textarea, summary, h1, :is(article, div)[tabindex]'

export function keepFocus(page: Document): void {
  let last: HTMLElement | null = null
  page.addEventListener('focusin', ({ target }) => {
    last = target instanceof HTMLElement ? target : null
  })
  // A click on empty space drops the focus on purpose.
  page.addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && last?.contains(target) !== true) last = null
  })
  const watch = new MutationObserver((records) => {
    if (last === null || page.activeElement !== page.body) return
    const removal = records.find(({ removedNodes }) =>
      [...removedNodes].some((node) => node.contains(last)),
    )
    if (removal === undefined) return
    // Moving a row removes it for a moment.
    const next = last.isConnected ? last : neighborOf(removal)
    // If the row was scrolled out of view, the list must not jump back.
    next?.focus({ preventScroll: true })
  })
  watch.observe(page.body, { childList: true, subtree: true })
}

function neighborOf({ nextSibling, previousSibling, target }: MutationRecord): HTMLElement | null {
  const area = target instanceof Element ? target.closest('dialog, main') : null
  const places: (Node | null)[] = [nextSibling, previousSibling]
  for (let at: Node | null = target; at !== null && area?.contains(at); at = at.parentNode) {
    places.push(at)
  }
  for (const place of places) {
    const stop = place instanceof Element && place.isConnected ? firstStop(place) : undefined
    if (stop !== undefined) return stop
  }
  return document.querySelector<HTMLElement>('main h1')
}

function firstStop(place: Element): HTMLElement | undefined {
  const stops = [...place.querySelectorAll<HTMLElement>(STOPS)]
  if (place instanceof HTMLElement && place.matches(STOPS)) stops.unshift(place)
  return stops.find((each) => each.checkVisibility())
}

/** Moves a lost focus to `target` after `change`: on a phone, one pane hides the other. */
export function useFocusRescue(target: RefObject<HTMLElement | null>, change: unknown): void {
  const before = useRef(change)
  useLayoutEffect(() => {
    const { activeElement, body } = document
    const isLost = activeElement === body || activeElement?.checkVisibility() !== true
    if (before.current !== change && isLost) target.current?.focus({ preventScroll: true })
    before.current = change
  }, [change])
}
