/** A retry takes 36 seconds at most and a slow device half a minute: ten minutes have another reason. */
const TOO_LONG_MS = 10 * 60_000
/** A backlog that was shown is over when nothing in it has waited for longer than this. */
const OVER_MS = 5 * 60_000
/** After an outage everything in a queue is old; so long it may take to work it off. */
const GRACE_MS = 5 * 60_000

/** Since when a queue has been too slow on a clock that never steps back; null while it is not. */
export type SlowSince = number | null

/** The state after a look at a queue whose oldest entry has waited for `waitedMs`. */
export function nextSlowSince(before: SlowSince, waitedMs: number, now: number): SlowSince {
  const tooLongMs = isBacklog(before, now) ? OVER_MS : TOO_LONG_MS
  return waitedMs < tooLongMs ? null : (before ?? now)
}

/** True once a queue has been too slow for so long that the owner should know. */
export function isBacklog(since: SlowSince, now: number): boolean {
  return since !== null && now - since >= GRACE_MS
}
