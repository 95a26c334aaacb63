import { invalidRequest } from '../domain/errors.ts'
import { DAY_MS } from '../domain/time.ts'
import { parseDuration } from '../domain/value-kind.ts'

/** Longer jumps take minutes, and nothing waits longer. */
export const DURATION_MS_MAX = 400 * DAY_MS

/** Milliseconds, below zero with a minus. A number alone is of seconds. */
export function durationIn(path: string, text: string): number {
  const plain = text.replace(/^-/, '')
  const ms = parseDuration(plain) ?? parseDuration(`${plain}s`) ?? Infinity
  if (ms <= DURATION_MS_MAX) return plain === text ? ms : -ms
  const message = 'must be a duration such as 90s, 15m, 73h or 7d, of 400d at most'
  throw invalidRequest({ path, message })
}
