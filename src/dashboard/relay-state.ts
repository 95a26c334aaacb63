// "Is it working?" in one word and one sentence, as the relay tells it.

import type { RelayState } from '../api/dashboard.ts'
import { grouped } from '../domain/number-words.ts'
import type { DayStats } from './resources.ts'

/** `today` is null while it is not known. */
export function stateSentence({ lines, webhooks }: RelayState, today: DayStats | null): string {
  return `${[lines, ...(today === null ? [] : [messageWords(today)]), webhooks].join(', ')}.`
}

function messageWords({ sent, received, uncertain }: DayStats): string {
  const count = sent + received + uncertain
  if (count === 0) return 'no messages today'
  return `${grouped(count)} ${count === 1 ? 'message' : 'messages'} today`
}
