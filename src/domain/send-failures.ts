/** Number of a line's finished sends that are looked at, and their greatest age. */
export const SENDS_JUDGED_MAX = 10
export const SENDS_JUDGED_MS = 3_600_000

const FAILING_FROM = 3
const FAILING_UNTIL = 2

/**
 * Decides by its last finished sends whether a line fails to send. One failure is an accident and two may be one
 * outage, so it takes three; a line that failed before is well again when at most one is left among them.
 */
export function isFailing(failedCount: number, wasFailing: boolean): boolean {
  return failedCount >= (wasFailing ? FAILING_UNTIL : FAILING_FROM)
}

/** Codes of failures that say nothing of the line: the recipient, the text or the owner is the reason. */
const NOT_OF_THE_LINE: ReadonlySet<string> = new Set([
  'not_on_imessage',
  'recipient_rejected',
  'unsupported_characters',
  'not_carried',
  'line_removed',
  'resolved_by_hand',
])

/** True if a failure with this code speaks against the line. */
export function isOfLine(code: string | null): boolean {
  return code === null || !NOT_OF_THE_LINE.has(code)
}
