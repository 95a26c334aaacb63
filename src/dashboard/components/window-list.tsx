// A list of rows of one height, of which only those near the view are in the page: 20,000 of them cost
// as much as thirty. `onNearEnd` is called as long as the end is close. The arrow keys move between rows
// that are links.
//
//   <WindowList label="Conversations" rowHeight={72} rows={rows} onNearEnd={…} render={(row) => <a …>} />

import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

type Props<T> = {
  readonly label: string
  /** In CSS pixels. */
  readonly rowHeight: number
  readonly rows: readonly T[]
  /** How many there are in all; -1 while nobody knows. */
  readonly count: number
  readonly onNearEnd: () => void
  readonly render: (row: T) => VNode
  /** What stands behind the last row. */
  readonly end?: VNode | undefined
}

/** Rows beyond the view on either side, so that scrolling never meets a gap. */
const SPARE = 12
/** How close to the end the next rows are wanted. */
const NEAR_END = 25

export function WindowList<T extends { readonly id: string }>(props: Props<T>) {
  const { label, rowHeight, rows, count, onNearEnd, render, end } = props
  const scroller = useRef<HTMLDivElement>(null)
  const space = useRef<HTMLUListElement>(null)
  const first = useSignal(0)
  const size = useSignal(40)

  function look() {
    const box = scroller.current
    if (box === null) return
    const top = Math.floor(box.scrollTop / rowHeight) - SPARE
    // In steps, so that not every pixel draws the list again.
    first.value = Math.max(0, top - (top % 4))
    size.value = Math.ceil(box.clientHeight / rowHeight) + 2 * SPARE + 4
  }
  useEffect(() => {
    const box = scroller.current
    if (box === null) return
    const watch = new ResizeObserver(look)
    watch.observe(box)
    return () => watch.disconnect()
  }, [])
  // A list that became shorter has nothing where the view was.
  const from = Math.min(first.value, Math.max(0, rows.length - size.value))
  const last = from + size.value
  useEffect(() => {
    if (last + NEAR_END > rows.length) onNearEnd()
  }, [last, rows.length])
  // Set on the element, because the page's policy forbids style attributes.
  useLayoutEffect(() => {
    if (space.current === null) return
    space.current.style.height = `${rows.length * rowHeight}px`
    space.current.style.paddingTop = `${from * rowHeight}px`
  })
  return (
    <div class="window-list" ref={scroller} onScroll={look}>
      <ul aria-label={label} ref={space} onKeyDown={moveFocus}>
        {rows.slice(from, last).map((row, place) => (
          <li key={row.id} aria-setsize={count} aria-posinset={from + place + 1}>
            {render(row)}
          </li>
        ))}
      </ul>
      {end}
    </div>
  )
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
