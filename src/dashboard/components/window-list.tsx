import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

type WindowListProps<T> = {
  readonly label: string
  /** In pixels, for text of the usual size. */
  readonly rowHeight: number
  readonly rows: readonly T[]
  /** The number of all rows; -1 while it is unknown. */
  readonly count: number
  /** Called whenever the view changes near the end. */
  readonly onNearEnd: () => void
  /** The id of the row that is scrolled to once it is there, and that Tab first stops at. */
  readonly selected: string | null
  /** `tabIndex` is for the link of the row. */
  readonly render: (row: T, tabIndex: number) => VNode
}

/** Extra rows on either side of the view, so that scrolling never shows a gap. */
const SPARE = 12
/** Rows before the end at which more are read. */
const NEAR_END = 25

/**
 * Rows of equal height, of which only those near the view are drawn: 20,000 cost as much as thirty. Arrow keys move
 * between rows, which are links; Tab stops at one row and then leaves the list.
 */
export function WindowList<T extends { readonly id: string }>(props: WindowListProps<T>) {
  const { label, rowHeight, rows, count, onNearEnd, selected, render } = props
  const scroller = useRef<HTMLDivElement>(null)
  const space = useRef<HTMLUListElement>(null)
  const height = rowHeight * textScale()
  const first = useSignal(0)
  const size = useSignal(40)
  const focused = useSignal<string | null>(null)

  function measure() {
    const box = scroller.current
    if (box === null) return
    const top = Math.floor(box.scrollTop / height) - SPARE
    // In steps, so that the list is not drawn again for every pixel.
    first.value = Math.max(0, top - (top % 4))
    size.value = Math.ceil(box.clientHeight / height) + 2 * SPARE + 4
  }
  useEffect(() => {
    const box = scroller.current
    if (box === null) return
    const watch = new ResizeObserver(measure)
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  // The list may have become shorter than the scroll position.
  const from = Math.min(first.value, Math.max(0, rows.length - size.value))
  const last = from + size.value
  const near = rows.slice(from, last)
  const isNear = (wanted: string | null) => near.some(({ id }) => id === wanted)
  const place = rows.findIndex(({ id }) => id === selected)
  const stop = [focused.value, selected].find(isNear) ?? near[0]?.id
  useEffect(() => {
    if (last + NEAR_END > rows.length) onNearEnd()
  }, [last, rows.length])
  // Set by script, because the page's Content Security Policy forbids style attributes.
  useLayoutEffect(() => {
    if (space.current === null) return
    space.current.style.height = `${rows.length * height}px`
    space.current.style.paddingTop = `${from * height}px`
  })
  // Not again when the row moves, because the reader may be elsewhere by then.
  useLayoutEffect(() => scrollTo(scroller.current, place, height), [selected, place < 0])
  return (
    <div class="window-list" ref={scroller} onScroll={measure}>
      <ul aria-label={label} ref={space} onKeyDown={moveFocus}>
        {near.map((row, index) => (
          <li
            key={row.id}
            aria-setsize={count}
            aria-posinset={from + index + 1}
            onFocusIn={() => (focused.value = row.id)}
          >
            {render(row, row.id === stop ? 0 : -1)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Returns the size of text relative to the usual one. */
function textScale(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
}

/** Scrolls a row that is out of view to the middle. */
function scrollTo(box: HTMLElement | null, place: number, rowHeight: number): void {
  if (box === null || place < 0) return
  const above = place * rowHeight - box.scrollTop
  const free = box.clientHeight - rowHeight
  if (above < 0 || above > free) box.scrollTop += above - free / 2
}

function moveFocus(event: KeyboardEvent): void {
  const row = event.target instanceof Element ? event.target.closest('li') : null
  const sibling = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const link = sibling[event.key]?.querySelector('a')
  if (link === null || link === undefined) return
  event.preventDefault()
  link.focus()
}
