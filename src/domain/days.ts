// Calendar days of a time zone, with daylight saving time.

import { DAY_MS } from './time.ts'

/** Whole days since 1970-01-01. */
export type Day = number

export const UTC = 'UTC'

/** The day at `ms` since 1970. */
export function dayOf(ms: number, zone: string): Day {
  if (zone === UTC) return Math.floor(ms / DAY_MS)
  const { year, month, day } = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  return EPOCH.until({ year, month, day }).days
}

/** Milliseconds since 1970; if daylight saving time skips midnight, the day begins at the next moment. */
export function startOfDay(day: Day, zone: string): number {
  return dateOf(day).toZonedDateTime(zone).epochMilliseconds
}

/** The day as `2026-11-21`. */
export function dayName(day: Day): string {
  return dateOf(day).toString()
}

/** The canonical name of a time zone, or null if there is no such zone. */
export function timeZoneNamed(text: string): string | null {
  // Temporal also accepts offsets, which aren't names.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,59}$/.test(text)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId
  } catch {
    return null
  }
}

/** Days of a time zone that may change. */
export type Days = {
  of(ms: number): Day
  /** Milliseconds since 1970 at which the day of `ms` ends. */
  endOf(ms: number): number
  /** For sentences: "midnight UTC". */
  midnight(): string
  zone(): string
}

export function daysIn(zone: () => string): Days {
  return {
    of: (ms) => dayOf(ms, zone()),
    endOf: (ms) => startOfDay(dayOf(ms, zone()) + 1, zone()),
    midnight: () => midnightIn(zone()),
    zone,
  }
}

export function midnightIn(zone: string): string {
  return zone === UTC ? 'midnight UTC' : `midnight in ${zone}`
}

const EPOCH = Temporal.PlainDate.from('1970-01-01')

function dateOf(day: Day): Temporal.PlainDate {
  return EPOCH.add({ days: day })
}
