import { countWords } from './number-words.ts'

/** The state of a webhook in one word, for lists, Home and commands. */
export type WebhookState = 'stopped' | 'paused' | 'failing' | 'active'

export function webhookStateOf(webhook: {
  readonly disabled_reason: string | null
  readonly is_active: boolean
  readonly is_failing?: boolean | undefined
}): WebhookState {
  if (webhook.disabled_reason !== null) return 'stopped'
  if (!webhook.is_active) return 'paused'
  return webhook.is_failing === true ? 'failing' : 'active'
}

/** Most events of a pause that are counted: as many as one replay sends. */
export const MISSED_MAX = 100_000

export function missedWords(count: number): string {
  const words = countWords(count, 'event')
  return `${count < MISSED_MAX ? words : `At least ${words}`} came while it was paused`
}
