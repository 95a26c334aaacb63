// Calendar days of a time zone, with daylight saving time.

import type { LineId } from './ids.ts'
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

/** Days of a line, in the time zone of its site. */
export type Days = {
  of(ms: number, lineId: LineId): Day
  /** Milliseconds since 1970 at which the day of `ms` ends. */
  endOf(ms: number, lineId: LineId): number
  /** For sentences: "midnight UTC". */
  midnight(lineId: LineId): string
  zone(lineId: LineId): string
}

/** A line's time zone. After a change of it, the day `held.day` goes on until `held.until`. */
export type LineZone = {
  readonly zone: string
  readonly held: { readonly day: Day; readonly until: number } | null
}

export function daysIn(zoneOf: (lineId: LineId) => LineZone): Days {
  return {
    of: (ms, lineId) => dayIn(zoneOf(lineId), ms),
    endOf: (ms, lineId) => endOfDayIn(zoneOf(lineId), ms),
    midnight: (lineId) => midnightIn(zoneOf(lineId).zone),
    zone: (lineId) => zoneOf(lineId).zone,
  }
}

export function dayIn({ zone, held }: LineZone, ms: number): Day {
  return held !== null && ms < held.until ? held.day : dayOf(ms, zone)
}

function endOfDayIn({ zone, held }: LineZone, ms: number): number {
  return held !== null && ms < held.until ? held.until : startOfDay(dayOf(ms, zone) + 1, zone)
}

/**
 * The day to hold if a line's time zone becomes `zone` at `ms`; null if the zones have the same midnight. The day goes
 * on until the first midnight of the new zone after it would have ended. So no day of a line is shorter than a day,
 * and a change of its zone never brings a second budget for one.
 */
export function heldAfter(before: LineZone, zone: string, ms: number): LineZone['held'] {
  const end = endOfDayIn(before, ms)
  const day = dayOf(end, zone)
  const midnight = startOfDay(day, zone)
  const until = midnight === end ? end : startOfDay(day + 1, zone)
  if (until === startOfDay(dayOf(ms, zone) + 1, zone) && dayOf(ms, zone) === dayIn(before, ms)) {
    return null
  }
  return { day: dayIn(before, ms), until }
}

export function midnightIn(zone: string): string {
  return zone === UTC ? 'midnight UTC' : `midnight in ${zone}`
}

const EPOCH = Temporal.PlainDate.from('1970-01-01')

function dateOf(day: Day): Temporal.PlainDate {
  return EPOCH.add({ days: day })
}
