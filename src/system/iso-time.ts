import { Cron } from 'croner'

import { timestamp, type Timestamp } from '../domain/ids.ts'
import { once } from './memoize.ts'

const ISO_TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** ISO 8601 in UTC with milliseconds: `2026-11-21T10:00:00.000Z`. */
export function isoTime(at: Timestamp): string {
  return new Date(at).toISOString()
}

export function isoTimeOrNull(at: Timestamp | null): string | null {
  return at === null ? null : isoTime(at)
}

/** Parses a full ISO 8601 date and time with a zone (`Z` or an offset); null for anything else. */
export function parseIsoTime(text: string): Timestamp | null {
  const day = ISO_TIME.exec(text)?.[1]
  const midnight = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  // `Date.parse` turns February 30 into March, so the day must come back as it was written.
  if (day === undefined || Number.isNaN(midnight)) return null
  if (!new Date(midnight).toISOString().startsWith(day)) return null
  return timestamp(Date.parse(text))
}

/** A time as RFC 2822 has it: `Sat, 21 Nov 2026 10:00:00 +0000`. */
export function rfcTime(iso: string): string {
  return new Date(iso).toUTCString().replace('GMT', '+0000')
}

/** Milliseconds since 1970 of an HTTP date, or null if it isn't one. */
export function parseHttpDate(text: string): number | null {
  const at = /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}

/** The time of day in this machine's time zone: `09:41:07`. */
export function localTime(at: number): string {
  return LOCAL_TIME().format(at)
}

/** The date and time in this machine's time zone: `2026-11-21 09:41`. */
export function localMinute(at: Timestamp): string {
  const { year, month, day, hour, minute } = Object.fromEntries(
    LOCAL_MINUTE()
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  return `${year}-${month}-${day} ${hour}:${minute}`
}

const TWO = '2-digit'
const LOCAL_TIME = localFormat({ hour: TWO, minute: TWO, second: TWO })
const LOCAL_MINUTE = localFormat({
  year: 'numeric',
  month: TWO,
  day: TWO,
  hour: TWO,
  minute: TWO,
})

/** Made when it is first used, because that takes ten milliseconds. */
function localFormat(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  return once(() => new Intl.DateTimeFormat('en', { hourCycle: 'h23', ...options }))
}

/** The next time of a cron pattern in the local time zone, in milliseconds since 1970. */
export function nextRunAfter(pattern: string, ms: number): number {
  const next = new Cron(pattern, { paused: true }).nextRun(new Date(ms))
  if (next === null) throw new Error(`The pattern ${pattern} never occurs again.`)
  return next.getTime()
}
