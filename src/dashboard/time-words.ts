// Times in words, in the browser's time zone and in English like the page. A formatter of the browser
// would take longer to create than the page to draw.

/** IANA name of the browser's time zone. */
export const BROWSERS_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

const MONTHS =
  'January February March April May June July August September October November December'.split(' ')
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** "now", "5 min ago", "in 2 h", "3 days ago", then the day. `now` is in milliseconds since 1970. */
export function relativeTime(iso: string, now: number): string {
  const time = Date.parse(iso)
  const distance = Math.abs(now - time)
  if (distance < 45_000) return 'now'
  if (distance >= 7 * DAY_MS) return shortDay(iso, now)
  const words = amountOf(distance)
  return time > now ? `in ${words}` : `${words} ago`
}

/** "Saturday 21 November 2026 at 10:00:00". */
export function absoluteTime(iso: string): string {
  const date = new Date(iso)
  const seconds = twoDigits(date.getSeconds())
  return `${longDay(date)} ${date.getFullYear()} at ${clockTime(iso)}:${seconds}`
}

/** "10:00". */
export function clockTime(iso: string): string {
  const date = new Date(iso)
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`
}

/** "10:00" today, else the day: for a narrow column. */
export function shortTime(iso: string, now: number): string {
  return daysSince(iso, now) === 0 ? clockTime(iso) : shortDay(iso, now)
}

/** "Today", "Yesterday", "Monday 16 November", or with the year where it is not this one. */
export function dayWords(iso: string, now: number): string {
  const days = daysSince(iso, now)
  if (days === 0) return 'Today'
  if (days === 1) return 'Yesterday'
  const date = new Date(iso)
  return isOfYear(date, now) ? longDay(date) : shortDay(iso, now)
}

/** The form of a time in the API. */
export function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** The value of a `datetime-local` input: "2026-11-21T10:00" in the browser's time zone. */
export function pickerTime(time: number): string {
  return isoTime(time - zoneMs(time)).slice(0, 'YYYY-MM-DDTHH:mm'.length)
}

/** The time in such an input, in milliseconds since 1970; null while it is incomplete. */
export function pickedTime(text: string): number | null {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** Number of midnights since then, in the browser's time zone. */
function daysSince(iso: string, now: number): number {
  return dayNumber(now) - dayNumber(Date.parse(iso))
}

function dayNumber(time: number): number {
  return Math.floor((time - zoneMs(time)) / DAY_MS)
}

function zoneMs(time: number): number {
  return new Date(time).getTimezoneOffset() * MINUTE_MS
}

function isOfYear(date: Date, now: number): boolean {
  return date.getFullYear() === new Date(now).getFullYear()
}

/** "Saturday 21 November". */
function longDay(date: Date): string {
  return `${WEEKDAYS[date.getDay()]} ${date.getDate()} ${MONTHS[date.getMonth()]}`
}

/** "21 Nov", with the year where it is not this one. */
function shortDay(iso: string, now: number): string {
  const date = new Date(iso)
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]?.slice(0, 3)}`
  return isOfYear(date, now) ? day : `${day} ${date.getFullYear()}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function amountOf(distance: number): string {
  if (distance < HOUR_MS) return `${Math.max(Math.round(distance / MINUTE_MS), 1)} min`
  if (distance < DAY_MS) return `${Math.round(distance / HOUR_MS)} h`
  const days = Math.round(distance / DAY_MS)
  return days === 1 ? '1 day' : `${days} days`
}
