// Times as Messages shows them: a bubble has the time of day, and a row above it the day.

import { ENGLISH } from './ui-words.ts'

/** The day named by a row above the bubbles. */
export type DayName =
  | { readonly day: 'ago'; readonly days: number }
  /** 0 is Sunday. */
  | { readonly day: 'weekday'; readonly weekday: number }
  /** `month` is 1 to 12; `year` is null if the row names none: it is this year or the last. */
  | {
      readonly day: 'date'
      readonly year: number | null
      readonly month: number
      readonly date: number
    }

/** A row with a day, and the time of the first bubble below it. */
export type DateRow = { readonly name: DayName; readonly minutes: number }

/** iOS puts U+202F, which `\s` matches, between the time and AM or PM (seen on macOS 27.2). */
const TIME = String.raw`(\d{1,2})[:.](\d{2})(?:\s*([AaPp])\.?\s?[Mm]\.?)?`
const TIME_SUFFIX = new RegExp(String.raw`,\s*${TIME}\s*$`)
const TIME_AT_END = new RegExp(String.raw`${TIME}\s*$`)
const DATE = /\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:, (\d{4}))?\b/
const SLASHED = /^(\d{1,2})\/(\d{1,2})\/(?:20)?(\d{2})$/
const DAY_MINUTES = 1_440
const EPOCH = Temporal.PlainDate.from('1970-01-01')
/** Most that the phone's clock may be ahead of this machine's. */
const AHEAD_MINUTES = 10
/** Late bubbles are sorted in by their date, so a step back of up to this long is not a new day. */
const DISORDER_MINUTES = 60

/** The label without the time at its end, and the time in minutes after midnight; null if it has no time there. */
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
export function readDateRow(text: string): DateRow | null {
  const minutes = timeAtEnd(text)
  const name = minutes === null ? null : readDayName(text)
  return minutes === null || name === null ? null : { name, minutes }
}

function readDayName(text: string): DayName | null {
  if (text.includes(ENGLISH.today)) return { day: 'ago', days: 0 }
  if (text.includes(ENGLISH.yesterday)) return { day: 'ago', days: 1 }
  const [, monthName, date, year] = DATE.exec(text) ?? []
  const month = ENGLISH.months.indexOf(monthName ?? '') + 1
  if (month > 0) {
    return {
      day: 'date',
      year: year === undefined ? null : Number(year),
      month,
      date: Number(date),
    }
  }
  const weekday = ENGLISH.weekdays.findIndex((name) => new RegExp(`\\b${name}`).test(text))
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

type TimedBubble = { readonly minutes: number; readonly under: DateRow | null }

/**
 * The time of each bubble, in milliseconds since 1970, to the minute. Bubbles are in order, and the row above them
 * names the day of the first one; without a row, the last bubble is no later than now.
 */
export function placeTimes(
  bubbles: readonly TimedBubble[],
  now: number,
  timeZone: string,
): readonly number[] {
  const { date: today, minutes: nowLocal, zone } = localTime(now, timeZone)
  let day: number | null = null
  let last = 0
  let under: DateRow | null = null
  const placed = bubbles.map((bubble) => {
    if (bubble.under !== null && bubble.under !== under) {
      under = bubble.under
      day = dayNumber(dateOf(bubble.under.name, today))
      last = bubble.under.minutes
    }
    // The conversation went on past midnight, for which there is no row.
    if (day !== null && bubble.minutes < last - DISORDER_MINUTES) day += 1
    last = bubble.minutes
    return day === null ? null : day * DAY_MINUTES + bubble.minutes
  })
  return backwards(bubbles, placed, nowLocal).map((local) => instantOf(local, zone))
}

/** Fills in the days of bubbles without a row, from the last bubble to the first; none is in the future. */
function backwards(
  bubbles: readonly TimedBubble[],
  placed: readonly (number | null)[],
  nowLocal: number,
): readonly number[] {
  let latest = nowLocal + AHEAD_MINUTES
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

/** The date that a row names; a row without a year means this year or the last. */
function dateOf(name: DayName, today: Temporal.PlainDate): Temporal.PlainDate {
  if (name.day === 'ago') return today.subtract({ days: name.days })
  if (name.day === 'weekday') {
    return today.subtract({ days: (today.dayOfWeek - name.weekday + 7) % 7 })
  }
  const { month, year } = name
  const inYear = Temporal.PlainDate.from({
    year: year ?? today.year,
    month,
    // A stranger's text may look like such a row, with any date.
    day: Math.max(1, name.date),
  })
  const isLastYears = year === null && Temporal.PlainDate.compare(inYear, today) > 0
  return isLastYears ? inYear.subtract({ years: 1 }) : inYear
}

function dayNumber(date: Temporal.PlainDate): number {
  return EPOCH.until(date).days
}

/** The phone's date, as ISO 8601 has it. */
export function localDay(at: number, timeZone: string): string {
  return localTime(at, timeZone).date.toString()
}

/** The phone's time of day, in minutes after midnight. */
export function localMinute(at: number, timeZone: string): number {
  return localTime(at, timeZone).minutes % DAY_MINUTES
}

/** The days that the time or date in a row of the list may mean, in ISO 8601; `today` is the phone's date. */
export function daysNamed(text: string, today: string): readonly string[] {
  const date = Temporal.PlainDate.from(today)
  if (timeAtEnd(text) !== null) return [today]
  const name = readDayName(text)
  // A row names a weekday only once that day is over.
  const until = name?.day === 'weekday' ? date.subtract({ days: 1 }) : date
  if (name !== null) return [dateOf(name, until).toString()]
  const [, first = '', second = '', year = ''] = SLASHED.exec(text) ?? []
  const [a, b] = [first.padStart(2, '0'), second.padStart(2, '0')]
  const days = year === '' ? [] : [`20${year}-${a}-${b}`, `20${year}-${b}-${a}`]
  // Which number is the month depends on the phone's region.
  return days.filter((day) => day.slice(5, 7) <= '12')
}

/** The wall clock in a time zone, in minutes since 1970-01-01 there; UTC if the zone is unknown. */
function localTime(
  at: number,
  timeZone: string,
): { readonly date: Temporal.PlainDate; readonly minutes: number; readonly zone: string } {
  const instant = Temporal.Instant.fromEpochMilliseconds(at)
  try {
    const local = instant.toZonedDateTimeISO(timeZone)
    const date = local.toPlainDate()
    const minutes = dayNumber(date) * DAY_MINUTES + local.hour * 60 + local.minute
    return { date, minutes, zone: timeZone }
  } catch {
    return localTime(at, 'UTC')
  }
}

/** The instant at which a wall clock shows this time; the first of two if the clock was put back. */
function instantOf(local: number, timeZone: string): number {
  const minutes = local % DAY_MINUTES
  return EPOCH.add({ days: Math.floor(local / DAY_MINUTES) }).toZonedDateTime({
    timeZone,
    plainTime: { hour: Math.floor(minutes / 60), minute: minutes % 60 },
  }).epochMilliseconds
}
