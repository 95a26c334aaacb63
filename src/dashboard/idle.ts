/** How long a browser that is never idle is waited for. */
const IDLE_MS = 2_000

/** Resolves when the browser has nothing else to do, or as soon as `end` aborts. */
export function whenIdle(end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // Safari has it behind a switch of its developers only.
    if (end.aborted || !('requestIdleCallback' in window)) return resolve()
    end.addEventListener('abort', () => resolve(), { once: true })
    requestIdleCallback(() => resolve(), { timeout: IDLE_MS })
  })
}
