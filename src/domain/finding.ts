/** Kinds of things that a finding can be about; `device` is one without a line yet. */
export const SUBJECT_KINDS = ['relay', 'driver', 'device', 'line', 'webhook'] as const

/** The thing that a finding is about. The relay itself needs no id. */
export type FindingSubject = {
  readonly kind: (typeof SUBJECT_KINDS)[number]
  readonly id: string | null
}
