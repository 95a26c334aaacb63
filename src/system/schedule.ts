import { Cron } from 'croner'

/** Next time of a cron pattern in the local time zone, in milliseconds since 1970. */
export function nextRunAfter(pattern: string, ms: number): number {
  const next = new Cron(pattern, { paused: true }).nextRun(new Date(ms))
  if (next === null) throw new Error(`The pattern ${pattern} never occurs again.`)
  return next.getTime()
}
