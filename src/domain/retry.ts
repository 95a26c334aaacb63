import { HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts'

/**
 * Delays in milliseconds between the attempts of a delivery: 12 attempts over about 73 hours, five of
 * them in the first 13 minutes, because messages are urgent.
 */
export const DEFAULT_RETRY_SCHEDULE_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  45 * MINUTE_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
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

const ASKED_MS_MAX = 24 * HOUR_MS

/** Milliseconds that a receiver asks to be left alone, by `Retry-After` on 429 or 503; null for none. */
export function askedDelay(statusCode: number, retryAfterSeconds: number | null): number | null {
  if (retryAfterSeconds === null || (statusCode !== 429 && statusCode !== 503)) return null
  return Math.min(retryAfterSeconds * SECOND_MS, ASKED_MS_MAX)
}
