/** Hours of each day in which nothing is sent, between times such as `21:00`. */
export type QuietHours = { readonly from: string; readonly to: string }

/**
 * The end of the quiet hours that `ms` is in, in milliseconds since 1970 and always after `ms`; null if `ms` isn't
 * in quiet hours.
 */
export function quietUntil({ from, to }: QuietHours, ms: number, zone: string): number | null {
  const now = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const time = now.toPlainTime()
  const isFrom = Temporal.PlainTime.compare(time, from) >= 0
  const isBefore = Temporal.PlainTime.compare(time, to) < 0
  const isOverMidnight = from > to
  if (isOverMidnight ? !isFrom && !isBefore : !(isFrom && isBefore)) return null
  const end = now
    .toPlainDate()
    .add({ days: isBefore ? 0 : 1 })
    .toPlainDateTime(to)
  const first = end.toZonedDateTime(zone).epochMilliseconds
  // In the hour that autumn repeats, the first of the two ends may have passed already.
  if (first > ms) return first
  return end.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds
}
