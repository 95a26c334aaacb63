// Days, durations and percentages in words. Each formatter is created once, which is slow.

import { formatter, once, regionLocale } from './time-words.ts'

const days = formatter({ day: 'numeric', month: 'short', timeZone: 'UTC' })
const hours = formatter({ hour: '2-digit', minute: '2-digit' })
const shares = once(() => new Intl.NumberFormat(regionLocale(), { style: 'percent', ...ONE_DIGIT }))
const units = once(() => new Map(UNITS.map(([unit]) => [unit, unitFormat(unit)])))

const ONE_DIGIT = { maximumFractionDigits: 1 } as const
/** Unit, its milliseconds, and the duration from which the next unit is used. */
const UNITS = [
  ['millisecond', 1, 1_000],
  ['second', 1_000, 60_000],
  ['minute', 60_000, 3_600_000],
  ['hour', 3_600_000, 48 * 3_600_000],
  ['day', 86_400_000, Infinity],
] as const

/** "21 Nov" for "2026-11-21". */
export const dayName = (day: string) => days().format(Date.parse(day))
/** "10:00". */
export const hourWords = (iso: string) => hours().format(Date.parse(iso))

/** "99.8%", rounded down so that "100%" means all. */
export function shareWords(share: number): string {
  return shares().format(Math.floor(share * 1_000) / 1_000)
}

/** "450 ms", "1.2 sec", "3 hr". */
export function durationWords(ms: number): string {
  const [unit, size] = UNITS.find(([, , max]) => ms < max) ?? UNITS[4]
  return (
    units()
      .get(unit)
      ?.format(ms / size) ?? ''
  )
}

function unitFormat(unit: string): Intl.NumberFormat {
  return new Intl.NumberFormat(regionLocale(), {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    ...ONE_DIGIT,
  })
}

/** The day of a time zone at `time`, as "2026-11-21". */
export function dayAt(time: number, timeZone: string): string {
  return new Date(time + offsetMs(time, timeZone)).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/** Midnight in a time zone, in milliseconds since 1970. */
export function startOfDay(day: string, timeZone: string): number {
  const midnight = Date.parse(`${day}T00:00Z`)
  const guess = midnight - offsetMs(midnight, timeZone)
  // If daylight saving time changes at midnight, one of the two is in the day before.
  return Math.max(guess, midnight - offsetMs(guess, timeZone))
}

/** 23, 24 or 25 hours after `startOfDay`. */
export function endOfDay(day: string, timeZone: string): number {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString()
  return startOfDay(next.slice(0, day.length), timeZone)
}

function offsetMs(time: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return Date.parse(`${format.format(time).replace(', ', 'T')}Z`) - time
}
