import { invalidRequest } from '../domain/errors.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
}
/** Longer jumps take minutes, and nothing waits longer. */
export const DURATION_MS_MAX = 400 * DAY_MS

export function durationIn(path: string, text: string): number {
  const [, sign = '', count = '', unit = 's'] = /^(-?)([0-9]{1,9})(ms|s|m|h|d)?$/.exec(text) ?? []
  const ms = Number(count) * (UNITS_MS[unit] ?? 0)
  if (count !== '' && ms <= DURATION_MS_MAX) return sign === '-' ? -ms : ms
  throw invalidRequest({
    path,
    message: 'must be a duration such as 90s, 15m, 73h or 7d, of 400d at most',
  })
}
