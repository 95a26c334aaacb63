/** 2001-01-01T00:00:00Z in milliseconds since 1970. */
const APPLE_EPOCH_MS = 978_307_200_000
const MS_PER_SECOND = 1_000
const NS_PER_MS = 1_000_000n

/**
 * Lowest value in nanoseconds; below it, values are seconds: macOS counted seconds before 10.13, and rows
 * of that time survive in databases that moved along. As seconds it is the year 5169, as nanoseconds the
 * second minute of 2001.
 */
const NANOSECONDS_MIN = 100_000_000_000
/** 2100-01-01. Messages itself writes dates near 2^63 into `date_read` (seen by platform-imessage). */
const APPLE_TIME_MS_MAX = 4_102_444_800_000

/**
 * Date of Messages' database, in nanoseconds or seconds since 2001, as milliseconds since 1970; null for
 * none (NULL, 0) and for an impossible one.
 */
export function fromAppleTime(value: bigint | number | null): number | null {
  if (value === null || value <= 0 || !isFiniteValue(value)) return null
  const ms = APPLE_EPOCH_MS + sinceEpochMs(value)
  return ms < APPLE_TIME_MS_MAX ? ms : null
}

/** Date in the form of Messages since macOS 10.13. */
export function toAppleNanoseconds(ms: number): bigint {
  return BigInt(Math.floor(ms) - APPLE_EPOCH_MS) * NS_PER_MS
}

/** Date in the form of Messages before macOS 10.13. */
export function toAppleSeconds(ms: number): bigint {
  return BigInt(Math.floor((ms - APPLE_EPOCH_MS) / MS_PER_SECOND))
}

export type AppleRange = { readonly from: bigint; readonly until: bigint }

/** Values of the dates from `fromMs` to `untilMs` (since 1970), inclusive: in seconds, then in nanoseconds. */
export function appleRanges(
  fromMs: number,
  untilMs = APPLE_TIME_MS_MAX - 1,
): readonly AppleRange[] {
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
  // A present date in nanoseconds exceeds the exact range of a number: it is divided as a bigint.
  return Number(BigInt(typeof value === 'bigint' ? value : Math.floor(value)) / NS_PER_MS)
}

function isFiniteValue(value: bigint | number): boolean {
  return typeof value === 'bigint' || Number.isFinite(value)
}

function atLeast(value: bigint, least: bigint): bigint {
  return value > least ? value : least
}
