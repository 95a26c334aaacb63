const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Delays in milliseconds between the attempts of a delivery: 12 attempts over about 73 hours, five of
 * them in the first 13 minutes, because messages are urgent.
 */
export const DEFAULT_RETRY_SCHEDULE_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  45 * MINUTE,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
]

const JITTER_MAX = 0.2

/**
 * Milliseconds to wait after the attempt with this number (1 is the first), 0 to 20 % longer than the
 * schedule says; null when there is no further attempt. `chance` is in [0, 1).
 */
export function delayAfterAttempt(
  number: number,
  scheduleMs: readonly number[],
  chance: number,
): number | null {
  const delayMs = scheduleMs[number - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + JITTER_MAX * chance))
}

const ASKED_MS_MAX = 24 * HOUR

/** Milliseconds that a receiver asks to be left alone, by `Retry-After` on 429 or 503; null for none. */
export function askedDelay(statusCode: number, retryAfterSeconds: number | null): number | null {
  if (retryAfterSeconds === null || (statusCode !== 429 && statusCode !== 503)) return null
  return Math.min(retryAfterSeconds * SECOND, ASKED_MS_MAX)
}
