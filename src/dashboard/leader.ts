// Uses the browser's Web Locks to choose one page that leads. Pages opened over plain HTTP from another machine have
// no locks: they never lead, and rest while they are hidden.

const LEADER = 'hookline-leader'
const VISIBLE = 'hookline-visible'

function hold(name: string, mode: LockMode, end: AbortSignal, onHeld: () => void = () => {}): void {
  if (!('locks' in navigator)) return
  const untilEnd = () => {
    onHeld()
    return new Promise<void>((resolve) => {
      if (end.aborted) resolve()
      end.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  // Rejects if `end` aborts before the lock is free.
  navigator.locks.request(name, { mode, signal: end }, untilEnd).catch(() => {})
}

/** Calls `onLead` once no other page leads. This page then leads until `end`. */
export function lead(end: AbortSignal, onLead: () => void): void {
  hold(LEADER, 'exclusive', end, onLead)
}

/** Lets other pages see whether this one is visible, until `end`. */
export function showPresence(end: AbortSignal): void {
  let hidden = new AbortController()
  const update = () => {
    hidden.abort()
    hidden = new AbortController()
    if (!document.hidden) hold(VISIBLE, 'shared', AbortSignal.any([end, hidden.signal]))
  }
  document.addEventListener('visibilitychange', update, { signal: end })
  update()
}

export async function isAnyVisible(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query()
  return held.some(({ name }) => name === VISIBLE)
}
