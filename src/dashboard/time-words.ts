// Times in English words, in the format and time zone of the browser's region.

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Creates a value at its first use: a formatter takes longer to create than a page to draw. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** IANA name of the browser's time zone. */
export const browsersZone = once(() => new Intl.DateTimeFormat().resolvedOptions().timeZone)

/** "en-DE" for a German browser: English words, day before month, 24 hours, and "7.180". */
export const regionLocale = once(() => {
  const { locale } = new Intl.DateTimeFormat().resolvedOptions()
  return locale.startsWith('en') ? locale : `en-${new Intl.Locale(locale).maximize().region}`
})

export const formatter = (options: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat(regionLocale(), options))

const LONG_DAY = formatter({ weekday: 'long', day: 'numeric', month: 'long' })
const DAY = formatter({ day: 'numeric', month: 'short' })
const RELATIVE = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' }))

/** "now", "5 min. ago", "in 2 hr.", "3 days ago", then the day. `now` is in milliseconds since 1970. */
export function relativeTime(iso: string, now: number): string {
  const distance = Date.parse(iso) - now
  const size = Math.abs(distance)
  if (size < 45_000) return RELATIVE().format(0, 'second')
  if (size >= 7 * DAY_MS) return shortDay(iso, now)
  if (size < HOUR_MS) {
    return RELATIVE().format(
      Math.sign(distance) * Math.max(Math.round(size / MINUTE_MS), 1),
      'minute',
    )
  }
  if (size < DAY_MS) return RELATIVE().format(Math.round(distance / HOUR_MS), 'hour')
  return RELATIVE().format(Math.round(distance / DAY_MS), 'day')
}

/** "Saturday, November 21, 2026 at 10:00:00 AM". */
export const absoluteTime = wordsOf({ dateStyle: 'full', timeStyle: 'medium' })
/** "Nov 21, 10:00 AM". */
export const momentWords = wordsOf({
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
})
/** "10:00 AM". */
export const clockTime = wordsOf({ timeStyle: 'short' })
/** "Nov 21, 2026". */
export const dateWords = wordsOf({ day: 'numeric', month: 'short', year: 'numeric' })

function wordsOf(options: Intl.DateTimeFormatOptions): (iso: string) => string {
  const format = formatter(options)
  return (iso) => format().format(new Date(iso))
}

/** "10:00 AM" today, else the day: for a narrow column. */
export function shortTime(iso: string, now: number): string {
  return daysSince(iso, now) === 0 ? clockTime(iso) : shortDay(iso, now)
}

/** "Today", "Yesterday", "Monday, November 16", or with the year if it is not this one. */
export function dayWords(iso: string, now: number): string {
  const days = daysSince(iso, now)
  if (days === 0 || days === 1) return capitalized(RELATIVE().format(-days, 'day'))
  const date = new Date(iso)
  return isOfYear(date, now) ? LONG_DAY().format(date) : shortDay(iso, now)
}

/** The API's format. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** The value of a `datetime-local` input: "2026-11-21T10:00" in the browser's time zone. */
export function pickerTime(time: number): string {
  return isoTime(time - zoneMs(time)).slice(0, 'YYYY-MM-DDTHH:mm'.length)
}

/** Parses such a value to milliseconds since 1970; null while it is incomplete. */
export function pickedTime(text: string): number | null {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** The number of midnights since then, in the browser's time zone. */
function daysSince(iso: string, now: number): number {
  return dayNumber(now) - dayNumber(Date.parse(iso))
}

const dayNumber = (time: number) => Math.floor((time - zoneMs(time)) / DAY_MS)

function zoneMs(time: number): number {
  return new Date(time).getTimezoneOffset() * MINUTE_MS
}

function isOfYear(date: Date, now: number): boolean {
  return date.getFullYear() === new Date(now).getFullYear()
}

/** "Nov 21", with the year if it is not this one. */
function shortDay(iso: string, now: number): string {
  const date = new Date(iso)
  return isOfYear(date, now) ? DAY().format(date) : dateWords(iso)
}

function capitalized(words: string): string {
  const [first = '', ...rest] = words
  return first.toLocaleUpperCase() + rest.join('')
}
