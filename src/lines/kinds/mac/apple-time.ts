/** 2001-01-01T00:00:00Z in milliseconds since 1970. */
const APPLE_EPOCH_MS = 978_307_200_000
const MS_PER_SECOND = 1_000
const NS_PER_MS = 1_000_000n

/**
 * From this value on, a date is in nanoseconds; below it, in seconds. macOS counted seconds before 10.13,
 * and such rows survive in migrated databases. As seconds this value is the year 5169, as nanoseconds the
 * second minute of 2001.
 */
const NANOSECONDS_MIN = 100_000_000_000
/** 2100-01-01. Messages itself writes dates near 2^63 into `date_read` (platform-imessage). */
const APPLE_TIME_MS_MAX = 4_102_444_800_000

/**
 * Converts a date of chat.db, in seconds or nanoseconds since 2001, to milliseconds since 1970. Returns
 * null for no date (NULL, 0) and an impossible one.
 */
export function fromAppleTime(value: bigint | number | null): number | null {
  if (value === null || value <= 0 || !Number.isFinite(Number(value))) return null
  const ms = APPLE_EPOCH_MS + sinceEpochMs(value)
  return ms < APPLE_TIME_MS_MAX ? ms : null
}

/** Nanoseconds since 2001, the form since macOS 10.13. */
export function toAppleNanoseconds(ms: number): bigint {
  return BigInt(Math.floor(ms) - APPLE_EPOCH_MS) * NS_PER_MS
}

/** Seconds since 2001, the form before macOS 10.13. */
export function toAppleSeconds(ms: number): bigint {
  return BigInt(Math.floor((ms - APPLE_EPOCH_MS) / MS_PER_SECOND))
}

/** Ranges of the dates from `fromMs` to `untilMs` (since 1970), inclusive: in seconds, then in nanoseconds. */
export function appleRanges(fromMs: number, untilMs = APPLE_TIME_MS_MAX - 1) {
  const lastMs = Math.min(untilMs, APPLE_TIME_MS_MAX - 1)
  const seconds = {
    from: atLeast(toAppleSeconds(fromMs + MS_PER_SECOND - 1), 1n),
    until: toAppleSeconds(lastMs),
  }
  const nanoseconds = {
    from: atLeast(toAppleNanoseconds(Math.ceil(fromMs)), BigInt(NANOSECONDS_MIN)),
    until: toAppleNanoseconds(lastMs) + NS_PER_MS - 1n,
  }
  return [seconds, nanoseconds]
}

function sinceEpochMs(value: bigint | number): number {
  if (value < NANOSECONDS_MIN) return Math.floor(Number(value) * MS_PER_SECOND)
  // Nanoseconds of today exceed a number's exact range, so they are divided as a bigint.
  return Number(BigInt(typeof value === 'bigint' ? value : Math.floor(value)) / NS_PER_MS)
}

function atLeast(value: bigint, least: bigint): bigint {
  return value > least ? value : least
}
