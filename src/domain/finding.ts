import type { FindingCode } from './finding-codes.ts'
import type { BoxId } from './ids.ts'
import { countWords } from './number-words.ts'

/** From good to know to what keeps something from working. */
export const FINDING_SEVERITIES = ['info', 'warning', 'error'] as const

export type Severity = (typeof FINDING_SEVERITIES)[number]

/** Something that is wrong, why, and what its owner can do about it. */
export type Finding = {
  readonly code: FindingCode
  readonly severity: Severity
  readonly title: string
  readonly why: string
  readonly fix: string
  /** The device it speaks of, or null for the whole driver. */
  readonly key: string | null
  /** The box that it was found on; left out for this machine. */
  readonly box?: BoxId | undefined
  /** The code of a finding that explains this one. */
  readonly depends_on: string | null
}

/** Kinds of things that a finding can be about; `device` is one without a line yet. */
export const SUBJECT_KINDS = ['relay', 'driver', 'device', 'line', 'webhook', 'box'] as const

/** The thing that a finding is about. The relay itself needs no id. */
export type FindingSubject = {
  readonly kind: (typeof SUBJECT_KINDS)[number]
  readonly id: string | null
}

/** Days for which a finding can be snoozed at most: an error may hide lost messages. */
export const SNOOZE_DAYS_MAX: Readonly<Record<Severity, number>> = {
  info: 365,
  warning: 365,
  error: 30,
}

/** True where `severity` is no worse than what was snoozed. */
export function isCovered(severity: Severity, snoozed: Severity): boolean {
  return FINDING_SEVERITIES.indexOf(severity) <= FINDING_SEVERITIES.indexOf(snoozed)
}

/** "1 problem, 6 warnings"; null where there is neither. Snoozed findings do not count. */
export function findingWords(
  findings: readonly { readonly severity?: unknown; readonly snoozed_until?: unknown }[],
): string | null {
  const shown = findings.filter(({ snoozed_until }) => snoozed_until === undefined)
  const count = (wanted: string) => shown.filter(({ severity }) => severity === wanted).length
  const words = [countWords(count('error'), 'problem'), countWords(count('warning'), 'warning')]
  return words.filter((one) => !one.startsWith('0 ')).join(', ') || null
}
