// What a row of chat.db is to the relay: nothing, something to count, to wait for, history, or news.

import { deviceHandle, type Handle } from '../../../domain/handle.ts'
import type { LeftOut, Withheld } from '../../../domain/not-relayed.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { bodyText, readableText, type EmojiWords } from './readable-text.ts'

export type Verdict =
  /** Nothing that somebody wrote now: reactions, renames, what failed, the line's letters to itself. */
  | { readonly verdict: 'skip' }
  | { readonly verdict: 'leave_out'; readonly kind: LeftOut }
  /** Something of it is not there yet. A patient row delays no other, and is looked at now and then. */
  | { readonly verdict: 'hold'; readonly isPatient: boolean }
  | {
      readonly verdict: 'tell'
      readonly handle: Handle
      readonly text: string
      readonly at: number
      readonly isHistory: boolean
      readonly withheld: Withheld | null
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
  readonly isRecoverable: (rowId: number) => boolean
  readonly hasDirectChat: (handle: string) => boolean
  readonly emojiWords: EmojiWords
}

/** A row is joined to its chat up to seconds later (imsg retries for as long). */
const CHAT_WAIT_MS = 10_000
/** Some are joined later still; codes that services send may never be (beeper). */
const LATE_CHAT_WAIT_MS = 60_000
/** How long the body of a row may be missing that Messages calls finished. */
const BODY_WAIT_MS = 2_000
/** How long a message that somebody typed may take to leave, and an error in it to clear. */
const SENDING_WAIT_MS = 60_000
const ERROR_WAIT_MS = 10_000
/** Messages schedules for two weeks ahead at most. */
const SCHEDULE_WAIT_MS = 20 * 24 * 3_600_000
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

/** Whether somebody wrote it and sent it at once: no tapback, no rename, no text scheduled for later. */
export function isMessage(row: MessageRow): boolean {
  return kindOf(row) === 'message' && row.scheduleType === 0
}

type Kind = 'message' | 'notice' | 'not_understood'

/** `associated_message_type` of what somebody wrote: text, or the balloon of an app (imessage-database). */
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0, 2, 3])
/** Stickers, reactions and their removals, votes. */
const NOTICE_TYPES: ReadonlySet<number> = new Set([
  1000, 4000, 2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007, 3000, 3001, 3002, 3003, 3004, 3005,
  3006, 3007,
])
/** `item_type` of changes of a group, shared locations, kept audio, FaceTime (beeper). */
const NOTICE_ITEMS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6])
const POLLS = /(?:^|[.:])Polls$/

/** Exact sets: a value that is in none of them is no message by guess. */
function kindOf(row: MessageRow): Kind {
  if (row.isSystem || NOTICE_ITEMS.has(row.itemType)) return 'notice'
  if (NOTICE_TYPES.has(row.associatedType)) return 'notice'
  const isKnown = row.itemType === 0 && MESSAGE_TYPES.has(row.associatedType)
  if (!isKnown || row.isCorrupt) return 'not_understood'
  return row.isAboutOther && POLLS.test(row.balloon ?? '') ? 'notice' : 'message'
}

export function judge(row: MessageRow, circumstances: Circumstances): Verdict {
  const kind = kindOf(row)
  if (kind === 'not_understood') return { verdict: 'leave_out', kind }
  if (kind === 'notice' || isTakenBack(row)) return SKIP
  if (row.chat === null && circumstances.isRecoverable(row.rowId)) return SKIP
  const wait = waitOf(row, circumstances.waitedMs)
  if (wait !== null) return { verdict: 'hold', isPatient: wait === 'patient' }
  if (hasNotLeft(row)) return SKIP
  if (isOfGroup(row)) return { verdict: 'leave_out', kind: 'group' }
  return judgeDirect(row, circumstances)
}

/** How something that is still to come of the row is waited for; null where nothing is, any more. */
function waitOf(row: MessageRow, waitedMs: number): 'urgent' | 'patient' | null {
  if (isScheduled(row) && waitedMs < SCHEDULE_WAIT_MS) return 'patient'
  if (isIncomplete(row, waitedMs) || isOnItsWay(row, waitedMs)) return 'urgent'
  const isLate = row.chat === null && !isOfGroup(row) && waitedMs < LATE_CHAT_WAIT_MS
  return isLate ? 'patient' : null
}

/** What is complete and of no group, as far as anybody can say. */
function judgeDirect(row: MessageRow, circumstances: Circumstances): Verdict {
  const { isOwnAlias, isTwin, good, now, emojiWords } = circumstances
  const peer = peerOf(row)
  const saysNothing = row.chat === null && isEmpty(row)
  // macOS 26 writes ghosts of what we send: no chat, no text (imsg).
  if (saysNothing && row.isFromMe) return SKIP
  if (saysNothing || peer === null) return { verdict: 'leave_out', kind: 'unplaced' }
  if (isOwnAlias(peer)) return SKIP
  if (ageOf(row, good) > TWIN_AGE_MS && isTwin(row)) return SKIP
  return {
    verdict: 'tell',
    handle: deviceHandle(peer.replace(SMS_SUFFIX, '')),
    text: readableText(row, emojiWords),
    at: row.at ?? now,
    isHistory: isHistory(row, circumstances),
    withheld: whyWithheld(row, peer, circumstances),
  }
}

const SKIP: Verdict = { verdict: 'skip' }
/** Messages adds it to the names of some senders of SMS: `22395(smsft)`, `AXISBK-S(smsft_fi)` (beeper). */
const SMS_SUFFIX = /(?<=.)\(sms[a-z_]*\)$/

/** A row without a chat may belong to a group: it is direct only where its sender has a direct chat. */
function whyWithheld(
  row: MessageRow,
  peer: string,
  { hasDirectChat }: Circumstances,
): Withheld | null {
  if (row.isSpam && !row.isFromMe) return 'spam'
  return row.chat === null && !hasDirectChat(peer) ? 'unplaced' : null
}

function isOfGroup({ chat, hasRoom }: MessageRow): boolean {
  return chat === null ? hasRoom : !chat.isDirect
}

/** The other end of a direct chat, in the words of the row. */
export function peerOf(row: MessageRow): string | null {
  if (!row.isFromMe) return row.handle ?? row.chat?.identifier ?? null
  return row.chat?.identifier ?? row.handle
}

/** Taken back by its sender: nothing is left of it. */
function isTakenBack(row: MessageRow): boolean {
  return row.isEdited && isEmpty(row)
}

/** Typed on the device for a time to come ("Send Later"): its row stays the same when it goes out. */
function isScheduled({ isFromMe, scheduleType, state }: MessageRow): boolean {
  const isOpen = !state.isSent && !state.isDelivered && state.error === 0
  return isFromMe && scheduleType !== 0 && isOpen
}

function hasNotLeft(row: MessageRow): boolean {
  return row.isFromMe && (row.state.error !== 0 || isScheduled(row))
}

/** Typed on the device and not sent yet: it may fail, or be tried again. */
function isOnItsWay({ isFromMe, state }: MessageRow, waitedMs: number): boolean {
  const isSent = state.error === 0 && (state.isSent || state.isDelivered)
  return isFromMe && !isSent && waitedMs < (state.error === 0 ? SENDING_WAIT_MS : ERROR_WAIT_MS)
}

/** Whether its chat, or its body, may still come. */
function isIncomplete(row: MessageRow, waitedMs: number): boolean {
  if (row.chat === null && !row.hasRoom && waitedMs < CHAT_WAIT_MS) return true
  const bodyWaitMs = row.state.isFinished ? BODY_WAIT_MS : CHAT_WAIT_MS
  return !isOfGroup(row) && isEmpty(row) && waitedMs < bodyWaitMs
}

const NO_WORDS: EmojiWords = () => new Map()

function isEmpty(row: MessageRow): boolean {
  return bodyText(row, NO_WORDS) === '' && !row.hasAttachments
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
