import type { Timestamp } from '../domain/ids.ts'

/** ISO 8601, UTC, milliseconds: `2026-11-21T10:00:00.000Z`. */
export function isoTime(at: Timestamp): string {
  return new Date(at).toISOString()
}

export function isoTimeOrNull(at: Timestamp | null): string | null {
  return at === null ? null : isoTime(at)
}

/** Milliseconds since 1970 of a date as HTTP writes it, or null where it is none. */
export function parseHttpDate(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
