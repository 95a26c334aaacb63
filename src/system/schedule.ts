import { Cron } from 'croner'

/**
 * The next moment, in milliseconds since 1970, that fits a cron pattern in the local time zone. It
 * only computes: whoever asks sleeps on the Clock.
 */
export function nextRunAfter(pattern: string, ms: number): number {
  const next = new Cron(pattern, { paused: true }).nextRun(new Date(ms))
  if (next === null) throw new Error(`The pattern ${pattern} never fits again.`)
  return next.getTime()
}
