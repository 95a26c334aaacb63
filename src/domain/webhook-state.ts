import { countWords } from './number-words.ts'

/** The state of a webhook in one word: what lists, Home and commands show of it. */
export type WebhookState = 'stopped' | 'paused' | 'failing' | 'active'

/** As the API has them. */
type Fields = {
  readonly disabled_reason: string | null
  readonly is_active: boolean
  readonly is_failing?: boolean | undefined
}

export function webhookStateOf({ disabled_reason, is_active, is_failing }: Fields): WebhookState {
  if (disabled_reason !== null) return 'stopped'
  if (!is_active) return 'paused'
  return is_failing === true ? 'failing' : 'active'
}

/** How many events that came during a pause are counted: as many as one replay sends. */
export const MISSED_MAX = 100_000

export function missedWords(count: number): string {
  const words = countWords(count, 'event')
  return `${count < MISSED_MAX ? words : `At least ${words}`} came while it was paused`
}
