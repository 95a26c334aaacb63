// Times as Messages writes them: a bubble has a time of the day, a row above it says of which day.

import { MINUTE_MS } from '../../../../domain/time.ts'
import type { UiWords } from './ui-words.ts'

/** A day as a row above the bubbles names it. */
export type DayName =
  | { readonly day: 'ago'; readonly days: number }
  /** 0 is Sunday. */
  | { readonly day: 'weekday'; readonly weekday: number }
  /** `month` is 1 to 12; `year` is null where it is this one or the last. */
  | {
      readonly day: 'date'
      readonly year: number | null
      readonly month: number
      readonly date: number
    }

/** A row with the time from which the bubbles below it are. */
export type DateRow = { readonly name: DayName; readonly minutes: number }

/** iOS puts U+202F between the time and its half of the day, which `\s` takes (seen on macOS 27.2). */
const TIME = String.raw`(\d{1,2})[:.](\d{2})(?:\s*([AaPp])\.?\s?[Mm]\.?)?`
const TIME_SUFFIX = new RegExp(String.raw`,\s*${TIME}\s*$`)
const TIME_AT_END = new RegExp(String.raw`${TIME}\s*$`)
const DATE = /\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:, (\d{4}))?\b/
const DAY_MINUTES = 1_440
/** The clocks of the phone and of this machine may be that far apart. */
const AHEAD_MINUTES = 10
/** Bubbles that come late are sorted in by their date: so far back is no new day. */
const DISORDER_MINUTES = 60

/** The label before its last time, and the time in minutes after midnight; null where none ends it. */
export function splitTime(
  label: string,
): { readonly before: string; readonly minutes: number } | null {
  const match = TIME_SUFFIX.exec(label)
  const minutes = match === null ? null : minutesOf(match)
  return match === null || minutes === null
    ? null
    : { before: label.slice(0, match.index), minutes }
}

/** The time that ends `text`, in minutes after midnight. */
export function timeAtEnd(text: string): number | null {
  const match = TIME_AT_END.exec(text)
  return match === null ? null : minutesOf(match)
}

/** `Today 4:35 PM`, `Mon, Sep 7 at 11:01 AM` (both seen on macOS 27.2); null for anything else. */
export function readDateRow(text: string, words: UiWords): DateRow | null {
  const minutes = timeAtEnd(text)
  const name = minutes === null ? null : readDayName(text, words)
  return minutes === null || name === null ? null : { name, minutes }
}

function readDayName(text: string, words: UiWords): DayName | null {
  if (text.includes(words.today)) return { day: 'ago', days: 0 }
  if (text.includes(words.yesterday)) return { day: 'ago', days: 1 }
  const [, monthName, date, year] = DATE.exec(text) ?? []
  const month = words.months.indexOf(monthName ?? '') + 1
  if (month > 0) {
    return {
      day: 'date',
      year: year === undefined ? null : Number(year),
      month,
      date: Number(date),
    }
  }
  const weekday = words.weekdays.findIndex((name) => new RegExp(`\\b${name}`).test(text))
  return weekday === -1 ? null : { day: 'weekday', weekday }
}

function minutesOf([, hours = '', minutes = '', half]: readonly (string | undefined)[]):
  | number
  | null {
  const hour = Number(hours)
  const minute = Number(minutes)
  if (minute > 59 || hour > 23 || (half !== undefined && (hour < 1 || hour > 12))) return null
  const isAfternoon = half?.toLowerCase() === 'p'
  return (half === undefined ? hour : (hour % 12) + (isAfternoon ? 12 : 0)) * 60 + minute
}

export type TimedBubble = { readonly minutes: number; readonly under: DateRow | null }

/**
 * When each bubble was, in milliseconds since 1970 and to the minute. Bubbles are in order, the row above
 * them says from which day on; where none does, they end no later than now.
 */
export function placeTimes(
  bubbles: readonly TimedBubble[],
  now: number,
  timeZone: string,
): readonly number[] {
  const format = formatOf(timeZone)
  const here = localMinutes(now, format)
  const today = Math.floor(here / DAY_MINUTES)
  let day: number | null = null
  let last = 0
  let under: DateRow | null = null
  const placed = bubbles.map((bubble) => {
    if (bubble.under !== null && bubble.under !== under) {
      under = bubble.under
      day = dayOf(bubble.under.name, today)
      last = bubble.under.minutes
    }
    // Past midnight: no row says so where the talk goes on.
    if (day !== null && bubble.minutes < last - DISORDER_MINUTES) day += 1
    last = bubble.minutes
    return day === null ? null : day * DAY_MINUTES + bubble.minutes
  })
  return backwards(bubbles, placed, here).map((local) => instantOf(local, now, format))
}

/** Fills in the days that no row names, from the last bubble to the first; none is in the future. */
function backwards(
  bubbles: readonly TimedBubble[],
  placed: readonly (number | null)[],
  here: number,
): readonly number[] {
  let latest = here + AHEAD_MINUTES
  return bubbles
    .map((bubble, index) => ({ bubble, local: placed[index] ?? null }))
    .toReversed()
    .map(({ bubble, local }) => {
      const day = Math.floor(latest / DAY_MINUTES)
      let at = local ?? day * DAY_MINUTES + bubble.minutes
      while (at > latest + (local === null ? 0 : DISORDER_MINUTES)) at -= DAY_MINUTES
      latest = Math.min(latest, at)
      return at
    })
    .toReversed()
}

function dayOf(name: DayName, today: number): number {
  if (name.day === 'ago') return today - name.days
  // Day 0 was a Thursday.
  if (name.day === 'weekday') return today - ((((today + 4 - name.weekday) % 7) + 7) % 7)
  const { year } = civil(today)
  const inYear = dayNumber(name.year ?? year, name.month, name.date)
  return name.year === null && inYear > today ? dayNumber(year - 1, name.month, name.date) : inYear
}

/** Minutes of the wall clock in a time zone since 1970-01-01 there. */
function localMinutes(at: number, format: Intl.DateTimeFormat): number {
  const parts = format.formatToParts(at)
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0)
  const day = dayNumber(read('year'), read('month'), read('day'))
  return day * DAY_MINUTES + read('hour') * 60 + read('minute')
}

/** The instant of a wall clock's reading; where a clock was put forward or back, near enough. */
function instantOf(local: number, now: number, format: Intl.DateTimeFormat): number {
  const offsetAt = (at: number) => localMinutes(at, format) - Math.floor(at / MINUTE_MS)
  const guess = (local - offsetAt(now)) * MINUTE_MS
  return (local - offsetAt(guess)) * MINUTE_MS
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const options = {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  } as const
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone })
  } catch {
    // A zone that this machine does not know.
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' })
  }
}

/** Days since 1970-01-01 of a date in the Gregorian calendar, months and days counted on where they overflow. */
function dayNumber(year: number, month: number, date: number): number {
  // Years begin in March here, so that the leap day is the last of its year.
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + date - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
  return era * 146_097 + dayOfEra + dayOfYear - 719_468
}

function civil(day: number): { readonly year: number } {
  const year = 1970 + Math.floor(day / 366)
  let found = year
  while (dayNumber(found + 1, 1, 1) <= day) found += 1
  return { year: found }
}
