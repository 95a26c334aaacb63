// What Messages' own history says of a recipient and of the line: there is no other way to learn who is
// on iMessage, and no place of ours to remember it in.

import { HOUR_MS } from '../../../domain/time.ts'
import type { ChatDb } from './chat-db.ts'

/** The recipient does not exist, or cannot be routed to: not on iMessage (FZErrorType 22). */
const NOT_ON_IMESSAGE = new Set([21, 22, 23])
const REMEMBERED_MS = 7 * 86_400_000
const HISTORY_MAX = 20
const PAUSED_BY = 5

/**
 * Whether the last thing that we know of `handle` is that it is not on iMessage, within 7 days. A
 * message from it by iMessage since, or one of ours that went through, says otherwise.
 */
export function isKnownAbsent(db: ChatDb, handle: string, now: number): boolean {
  for (const row of db.lastWith(handle, HISTORY_MAX)) {
    if (row.at === null || row.at < now - REMEMBERED_MS) return false
    if (row.isFromMe && NOT_ON_IMESSAGE.has(row.error)) return true
    const isProof = row.service === 'iMessage' && row.error === 0
    if (isProof && (!row.isFromMe || row.isSent)) return false
  }
  return false
}

/**
 * For how long the line should write to nobody new, in milliseconds; 0 for at once. Five recipients in
 * an hour that are not on iMessage look like a list that somebody bought.
 */
export function pauseMs(db: ChatDb, now: number): number {
  const failures = db
    .ownErrorsSince(now - HOUR_MS)
    .filter(({ error }) => NOT_ON_IMESSAGE.has(error))
    .map(({ at }) => at)
    .sort((a, b) => b - a)
  const fifth = failures[PAUSED_BY - 1]
  return fifth === undefined ? 0 : Math.max(0, fifth + HOUR_MS - now)
}
