import type { FindingCode } from './finding-codes.ts'
import type { BoxId } from './ids.ts'
import { countWords } from './number-words.ts'

/** From "good to know" to "something doesn't work". */
export const FINDING_SEVERITIES = ['info', 'warning', 'error'] as const

export type Severity = (typeof FINDING_SEVERITIES)[number]

/** A problem, its cause, and what the owner can do about it, as a module or a driver reports it. */
export type Finding = {
  readonly code: FindingCode
  readonly severity: Severity
  readonly title: string
  readonly why: string
  readonly fix: string
  /** The device or the id of the webhook that it is about; null for the whole driver or the relay. */
  readonly key: string | null
  /** The box where it was found; undefined for this machine. */
  readonly box?: BoxId | undefined
  /** The code of a finding that explains this one. */
  readonly depends_on: string | null
}

/** Kinds of things that a finding can be about; a `device` has no line yet. */
export const SUBJECT_KINDS = ['relay', 'driver', 'device', 'line', 'webhook', 'box'] as const

/** The thing that a finding is about. The relay itself needs no id. */
export type FindingSubject = {
  readonly kind: (typeof SUBJECT_KINDS)[number]
  readonly id: string | null
}

/** The subject of a finding, by the relay's own ids, and the boxes where it was found. */
export type FindingScope = {
  readonly about: FindingSubject
  readonly lineId: string | null
  /** The boxes where it was found; undefined for this machine. */
  readonly boxes?: readonly BoxId[] | undefined
}

export type ScopedFinding = Omit<Finding, 'key' | 'box'> & { readonly scope: FindingScope }

/** The scope of a finding about a line. */
export function lineScope(lineId: string, box: BoxId | null = null): FindingScope {
  return { about: { kind: 'line', id: lineId }, lineId, ...(box !== null && { boxes: [box] }) }
}

/** Replaces a finding's key with its scope. */
export function scoped(
  { key: _key, box, ...finding }: Finding,
  scope: FindingScope,
): ScopedFinding {
  return { ...finding, scope: box === undefined ? scope : { ...scope, boxes: [box] } }
}

/** Most days for which a finding can be snoozed; fewer for an error, which may hide lost messages. */
export const SNOOZE_DAYS_MAX: Readonly<Record<Severity, number>> = {
  info: 365,
  warning: 365,
  error: 30,
}

/** True if `severity` is no worse than what was snoozed. */
export function isCovered(severity: Severity, snoozed: Severity): boolean {
  return FINDING_SEVERITIES.indexOf(severity) <= FINDING_SEVERITIES.indexOf(snoozed)
}

/** "1 problem, 6 warnings", without snoozed findings; null if there are none. */
export function findingWords(
  findings: readonly { readonly severity?: unknown; readonly snoozed_until?: unknown }[],
): string | null {
  const shown = findings.filter(({ snoozed_until }) => snoozed_until === undefined)
  const count = (wanted: string) => shown.filter(({ severity }) => severity === wanted).length
  const words = [countWords(count('error'), 'problem'), countWords(count('warning'), 'warning')]
  return words.filter((one) => !one.startsWith('0 ')).join(', ') || null
}
