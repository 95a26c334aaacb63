// Stages of our own rows, as their flags prove them, and the reasons of those that failed.

import type { OwnState } from './chat-db-rows.ts'

/** Progress of a message; `failed` can still turn into `sent`. */
export type Stage = 'held' | 'failed' | 'sent' | 'delivered' | 'read'

/**
 * Stage that the flags of a row prove (the enumeration is Barcelona's): delivered and read for our own
 * messages only; `error` for a row with an error, and for one that is finished and not sent.
 */
export function stageOf(state: OwnState): Stage | 'error' {
  if (state.error !== 0) return 'error'
  // One of many has it, or has read it: that is no receipt of a group (mautrix).
  if (state.isInGroup && (state.isRead || state.isDelivered)) return 'sent'
  if (state.isRead) return 'read'
  if (state.isDelivered) return 'delivered'
  if (state.isSent) return 'sent'
  return state.isFinished && !state.isWaiting ? 'error' : 'held'
}

/** A row without a service is of the line's own. */
export function serviceOf({ service }: OwnState): string {
  return service === '' ? 'iMessage' : service
}

/** The codes of FZErrorType, as Barcelona's headers of IMFoundation name them, in the API's words. */
const REASONS: readonly (readonly [first: number, last: number, reason: string])[] = [
  [3, 3, 'send_timed_out'],
  [4, 4, 'send_failed'],
  [6, 11, 'network_unavailable'],
  [12, 20, 'imessage_server_error'],
  [21, 23, 'not_on_imessage'],
  [24, 24, 'recipient_rejected'],
  [25, 25, 'attachment_failed'],
  [26, 29, 'encryption_failed'],
  [30, 33, 'imessage_account_problem'],
  [34, 36, 'attachment_failed'],
  [38, 38, 'system_update_needed'],
  [40, 40, 'imessage_account_problem'],
]

export function reasonOf(error: number): string {
  const known = REASONS.find(([first, last]) => error >= first && error <= last)
  return known?.[2] ?? 'send_failed'
}
