/** Hours of each day in which nothing is sent, from and to a time of day such as `21:00`. */
export type QuietHours = { readonly from: string; readonly to: string }

/** The end of the quiet hours that `ms` lies in, in milliseconds since 1970; null where it lies in none. */
export function quietUntil({ from, to }: QuietHours, ms: number, zone: string): number | null {
  const now = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const time = now.toPlainTime()
  const isFrom = Temporal.PlainTime.compare(time, from) >= 0
  const isBefore = Temporal.PlainTime.compare(time, to) < 0
  const isOverMidnight = from > to
  if (isOverMidnight ? !isFrom && !isBefore : !(isFrom && isBefore)) return null
  const day = now.toPlainDate().add({ days: isBefore ? 0 : 1 })
  return day.toZonedDateTime({ timeZone: zone, plainTime: to }).epochMilliseconds
}
