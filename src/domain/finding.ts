import { countWords } from './number-words.ts'

/** From good to know to what keeps something from working. */
export const FINDING_SEVERITIES = ['info', 'warning', 'error'] as const

/** Something that is wrong, why, and what its owner can do about it. */
export type Finding = {
  readonly code: string
  readonly severity: (typeof FINDING_SEVERITIES)[number]
  readonly title: string
  readonly why: string
  readonly fix: string
  /** The device it speaks of, or null for the whole driver. */
  readonly key: string | null
  /** The code of a finding that explains this one. */
  readonly depends_on: string | null
}

/** Kinds of things that a finding can be about; `device` is one without a line yet. */
export const SUBJECT_KINDS = ['relay', 'driver', 'device', 'line', 'webhook'] as const

/** The thing that a finding is about. The relay itself needs no id. */
export type FindingSubject = {
  readonly kind: (typeof SUBJECT_KINDS)[number]
  readonly id: string | null
}

/** "1 problem, 6 warnings"; null where there is neither. */
export function findingWords(findings: readonly { readonly severity?: unknown }[]): string | null {
  const count = (wanted: string) => findings.filter(({ severity }) => severity === wanted).length
  const words = [countWords(count('error'), 'problem'), countWords(count('warning'), 'warning')]
  return words.filter((one) => !one.startsWith('0 ')).join(', ') || null
}
