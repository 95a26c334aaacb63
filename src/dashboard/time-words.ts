// Times in words. They are told in the time zone of the browser, and in English like the page.

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

const DAY_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'full',
  timeStyle: 'medium',
})
const CLOCK_TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const DAY_AND_YEAR = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })

/** "now", "5 min ago", "in 2 h", "3 days ago", then the day. `now` is in milliseconds since 1970. */
export function relativeTime(iso: string, now: number): string {
  const time = Date.parse(iso)
  const distance = Math.abs(now - time)
  if (distance < 45_000) return 'now'
  if (distance >= 7 * DAY_MS) return dayOf(time, now)
  const words = amountOf(distance)
  return time > now ? `in ${words}` : `${words} ago`
}

/** "Saturday, 21 November 2026 at 10:00:00". */
export function absoluteTime(iso: string): string {
  return DAY_AND_TIME.format(Date.parse(iso))
}

/** "10:00". */
export function clockTime(iso: string): string {
  return CLOCK_TIME.format(Date.parse(iso))
}

/** "10:00" today, else the day: for a narrow column. */
export function shortTime(iso: string, now: number): string {
  const time = Date.parse(iso)
  return dayNumber(time) === dayNumber(now) ? CLOCK_TIME.format(time) : dayOf(time, now)
}

/** "Today", "Yesterday", "Monday, 16 November", with the year where it is another one. */
export function dayWords(iso: string, now: number): string {
  const time = Date.parse(iso)
  const days = dayNumber(now) - dayNumber(time)
  if (days === 0) return 'Today'
  if (days === 1) return 'Yesterday'
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear()
  return isThisYear ? WEEKDAY.format(time) : DAY_AND_YEAR.format(time)
}

/** As the API takes a time. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** As an input of the type `datetime-local` shows it: "2026-11-21T10:00" in the browser's time zone. */
export function pickerTime(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * MINUTE_MS
  return isoTime(time - offset).slice(0, 'YYYY-MM-DDTHH:mm'.length)
}

/** What such an input says, in milliseconds since 1970; null while it is not whole. */
export function pickedTime(text: string): number | null {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** The day in the browser's time zone, counted from 1970 on. */
function dayNumber(time: number): number {
  return Math.floor((time - new Date(time).getTimezoneOffset() * MINUTE_MS) / DAY_MS)
}

function dayOf(time: number, now: number): string {
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear()
  return isThisYear ? DAY.format(time) : DAY_AND_YEAR.format(time)
}

function amountOf(distance: number): string {
  if (distance < HOUR_MS) return `${Math.max(Math.round(distance / MINUTE_MS), 1)} min`
  if (distance < DAY_MS) return `${Math.round(distance / HOUR_MS)} h`
  const days = Math.round(distance / DAY_MS)
  return days === 1 ? '1 day' : `${days} days`
}
