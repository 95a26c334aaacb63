// "Is it working?" in one word and one sentence, as the relay tells it.

import { grouped } from '../domain/number-words.ts'
import type { DayStats, HealthFinding } from './resources.ts'

/** A finding that follows from no other, and what follows from it. */
export type FindingBranch = {
  readonly cause: HealthFinding
  readonly consequences: readonly HealthFinding[]
  /** Where in the dashboard something can be done about it. */
  readonly place: { readonly name: string; readonly href: string }
}

export type RelayState = {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  /** The beginning of a sentence, and its end. */
  readonly lines: string
  readonly webhooks: string
  readonly findings: readonly FindingBranch[]
}

/** `today` is null while it is not known. */
export function stateSentence({ lines, webhooks }: RelayState, today: DayStats | null): string {
  return `${[lines, ...(today === null ? [] : [messageWords(today)]), webhooks].join(', ')}.`
}

function messageWords({ sent, received, uncertain }: DayStats): string {
  const count = sent + received + uncertain
  if (count === 0) return 'no messages today'
  return `${grouped(count)} ${count === 1 ? 'message' : 'messages'} today`
}
