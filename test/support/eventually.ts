/** A minute: a busy machine takes its time, and a test that waits in vain fails anyway. */
const WAIT_MS_MAX = 60_000
const LOOK_EVERY_MS = 20

/** Asks again and again until the answer is not null; throws after a minute. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null> | T | null,
  timeoutMs = WAIT_MS_MAX,
): Promise<T> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const found = await ask()
    if (found !== null) return found
    if (performance.now() > until) throw new Error(`It did not happen in time: ${what}`)
    await Bun.sleep(LOOK_EVERY_MS)
  }
}
