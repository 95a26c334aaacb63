// What a row of chat.db is to the relay: nothing, something to wait for, history, or news.

import { deviceHandle, type Handle } from '../../domain/handle.ts'
import { withoutMarks } from './attributed-body.ts'
import type { MessageRow } from './chat-db-rows.ts'

export type Skipped =
  /** Tapbacks, renames, scheduled texts, junk: not a message that somebody wrote now. */
  | 'not_a_message'
  /** Typed on the device, and it failed. */
  | 'not_sent'
  | 'group'
  /** The line writes to itself, or to another alias of its own: most of what iCloud replays. */
  | 'own_alias'
  /** The same message once more, under another guid. */
  | 'twin'

export type Verdict =
  | { readonly verdict: 'skip'; readonly because: Skipped }
  /** Its chat or its body is not there yet. */
  | { readonly verdict: 'hold' }
  | {
      readonly verdict: 'tell'
      readonly handle: Handle
      readonly text: string
      readonly at: number
      readonly isHistory: boolean
    }

/** What a row is judged by. All times are milliseconds since 1970. */
export type Circumstances = {
  readonly now: number
  /** For how long the row is known already. */
  readonly waitedMs: number
  readonly since: number
  /** The line's last good moment: what came while something was down is news, however old it is. */
  readonly good: number
  /** Many old rows come at once: iCloud fills in the past. */
  readonly isBackFill: boolean
  readonly isOwnAlias: (handle: string) => boolean
  readonly isTwin: (row: MessageRow) => boolean
}

/** A row is joined to its chat up to seconds later (imsg retries for as long). */
const CHAT_WAIT_MS = 10_000
/** How long the body of a row may be missing that Messages calls finished. */
const BODY_WAIT_MS = 2_000
/** How long a message that somebody typed may take to leave, and an error in it to clear. */
const SENDING_WAIT_MS = 60_000
const ERROR_WAIT_MS = 10_000
const HISTORY_AGE_MS = 24 * 3_600_000
/** Rows that are older than this when they appear may be a back-fill. */
export const OLD_AGE_MS = 600_000
/** A message that was on its way when the line was set up is no history. */
const FIRST_START_SLACK_MS = 60_000
/** Somebody may well write the same twice within a second; a replay comes later. */
const TWIN_AGE_MS = 60_000

/** How old a row is, counted to the line's last good moment. */
export function ageOf(row: MessageRow, good: number): number {
  return row.at === null ? 0 : good - row.at
}

/** Whether somebody wrote it: no tapback, no rename of a group, no text that is scheduled for later. */
export function isMessage(row: MessageRow): boolean {
  const isOther = row.itemType !== 0 || row.associatedType !== 0 || row.scheduleType !== 0
  return !isOther && !row.isSystem && !row.isSpam && !row.isCorrupt
}

export function judge(row: MessageRow, circumstances: Circumstances): Verdict {
  const { waitedMs } = circumstances
  const because = whySkipped(row, circumstances)
  if (because === 'not_a_message') return { verdict: 'skip', because }
  if (isIncomplete(row, waitedMs) || isOnItsWay(row, waitedMs)) return { verdict: 'hold' }
  if (because !== null) return { verdict: 'skip', because }
  return {
    verdict: 'tell',
    handle: deviceHandle(peerOf(row) ?? ''),
    text: textOf(row),
    at: row.at ?? circumstances.now,
    isHistory: isHistory(row, circumstances),
  }
}

function whySkipped(row: MessageRow, { isOwnAlias, isTwin, good }: Circumstances): Skipped | null {
  if (!isMessage(row) || isTakenBack(row)) return 'not_a_message'
  if (row.isFromMe && row.state.error !== 0) return 'not_sent'
  const peer = peerOf(row)
  // Without a chat and a handle nobody can say whom it is from: what groups leave behind.
  if (row.chat?.isDirect === false || peer === null) return 'group'
  if (isOwnAlias(peer)) return 'own_alias'
  return ageOf(row, good) > TWIN_AGE_MS && isTwin(row) ? 'twin' : null
}

/** The other end of a direct chat, in the words of the row. */
export function peerOf(row: MessageRow): string | null {
  if (!row.isFromMe) return row.handle ?? row.chat?.identifier ?? null
  return row.chat?.identifier ?? row.handle
}

/** What somebody wrote; attachments leave no mark in it. */
function textOf(row: MessageRow): string {
  return withoutMarks(row.text ?? '')
}

/** Taken back by its sender: nothing is left of it. */
function isTakenBack(row: MessageRow): boolean {
  return row.isEdited && isEmpty(row)
}

/** Typed on the device and not sent yet: it may fail, or be tried again. */
function isOnItsWay({ isFromMe, state }: MessageRow, waitedMs: number): boolean {
  const isSent = state.error === 0 && (state.isSent || state.isDelivered)
  return isFromMe && !isSent && waitedMs < (state.error === 0 ? SENDING_WAIT_MS : ERROR_WAIT_MS)
}

/** Whether its chat, or its body, may still come. */
function isIncomplete(row: MessageRow, waitedMs: number): boolean {
  if (row.chat === null && waitedMs < CHAT_WAIT_MS) return true
  const bodyWaitMs = row.state.isFinished ? BODY_WAIT_MS : CHAT_WAIT_MS
  return row.chat?.isDirect !== false && isEmpty(row) && waitedMs < bodyWaitMs
}

function isEmpty(row: MessageRow): boolean {
  return textOf(row) === '' && !row.hasAttachments
}

/**
 * iCloud writes old messages with new ROWIDs at any time. What was there before the line, what is older
 * than a day, and what comes with many old ones is kept and not announced.
 */
function isHistory(row: MessageRow, { since, good, isBackFill }: Circumstances): boolean {
  if (row.at !== null && row.at < since - FIRST_START_SLACK_MS) return true
  const ageMs = ageOf(row, good)
  return ageMs > HISTORY_AGE_MS || (isBackFill && ageMs > OLD_AGE_MS)
}
