// Classifies rows of chat.db: skipped, relayed, left out, a change, or not complete yet.

import type { Handle } from '../../../domain/handle.ts'
import type { LeftOut, Withheld } from '../../../domain/not-relayed.ts'
import { withoutMarks } from './attributed-body.ts'
import { type Chat, peersOf, type MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { isEditCopy, isWhollyRetracted, mayBeEditCopy } from './edits.ts'
import { spelledHandle } from './people.ts'
import { groupChangeOf, reactionOf, type RowChange, wholeChange } from './row-changes.ts'

export type Classification =
  /** A vote, a location, a failed message or a replay. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'leave_out'; readonly leftOut: LeftOut }
  /** A part of the row is still to come. A patient row delays no other row, and is checked from time to time. */
  | { readonly kind: 'incomplete'; readonly isPatient: boolean }
  | (Placed & {
      readonly kind: 'relay'
      readonly handle: Handle
      readonly text: string
      readonly withheld: Withheld | null
    })
  /** `handle` is the sender's; null for the owner. */
  | (Placed & {
      readonly kind: 'change'
      readonly handle: Handle | null
      readonly change: RowChange
    })

type Placed = {
  /** Null in a direct conversation. */
  readonly group: Chat | null
  readonly at: number
  readonly isHistory: boolean
}

/** The facts beside the row that its classification depends on. Times are milliseconds since 1970. */
export type Context = {
  readonly now: number
  readonly waitedMs: number
  readonly since: number
  /** Last healthy time of the line: a row written in a later outage is new, however old it is. */
  readonly healthyAt: number
  /** True if many old rows come at once, because iCloud restores the past. */
  readonly isBackFill: boolean
  /** True if the row has no date and came alone, among new rows. */
  readonly isAlone: boolean
  readonly isOwnAlias: (handle: string) => boolean
  /** True if iCloud rewrote a message that was seen long before. */
  readonly isReplay: (row: MessageRow) => boolean
  readonly db: Pick<
    ChatDb,
    'isRecoverable' | 'groupChat' | 'emojiWords' | 'rowsSince' | 'rowsAt' | 'editedSince'
  >
}

/** Longest wait for a row to be joined to its chat (imsg retries for as long). */
const CHAT_WAIT_MS = 10_000
/** Some rows are joined later still; those of services' codes may never be (beeper). */
const LATE_CHAT_WAIT_MS = 60_000
/** Longest waits for the other half of a changed number, and for the edit that a copy quotes. */
const PAIR_WAIT_MS = 2_000
const COPY_WAIT_MS = 10_000
/** Longest wait for the body of a row that Messages calls finished. */
const BODY_WAIT_MS = 2_000
/** Longest waits for a message typed on the device to be sent, and for its error to clear. */
const SENDING_WAIT_MS = 60_000
const ERROR_WAIT_MS = 10_000
/** Messages schedules at most two weeks ahead. */
const SCHEDULE_WAIT_MS = 20 * 24 * 3_600_000
const HISTORY_AGE_MS = 24 * 3_600_000
/** Rows older than this may belong to an iCloud restore. */
export const OLD_AGE_MS = 600_000
/** A message that was in transit when the line was set up is not history. */
const FIRST_START_SLACK_MS = 60_000

/** Clocks may be wrong, and a scheduled message that is sent early keeps its date; a later date counts as none. */
const AHEAD_MS_MAX = 30 * 24 * 3_600_000

/** The date of a row, but not after `now`; null if it has none or an impossible one. */
export function dateOf({ at }: Pick<MessageRow, 'at'>, now: number): number | null {
  return at === null || at > now + AHEAD_MS_MAX ? null : Math.min(at, now)
}

/** Age of a row at the line's last healthy time; infinite without a date. */
export function ageOf(row: MessageRow, healthyAt: number): number {
  return row.at === null ? Infinity : healthyAt - row.at
}

/** True for a written message that was sent at once: not a tapback, a rename or a scheduled text. */
export function isMessage(row: MessageRow): boolean {
  return nature(row) === 'message' && row.scheduleType === 0
}

/** `associated_message_type` of written messages: text, or an app balloon (imessage-database). */
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0, 2, 3])
const VOTE = 4000
/** `item_type` of group changes, shared locations, kept audio, FaceTime (beeper). */
const NOTICE_ITEMS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6])
const POLLS = /(?:^|[.:])Polls$/

type Nature = 'message' | RowChange | 'notice' | 'not_understood'

/** The sets are exact: a value in none of them never counts as a message. */
function nature(row: MessageRow): Nature {
  if (row.isSystem || row.associatedType === VOTE) return 'notice'
  const reaction = row.itemType === 0 ? reactionOf(row) : null
  if (reaction !== null) return reaction
  if (NOTICE_ITEMS.has(row.itemType)) return groupChangeOf(row) ?? 'notice'
  const isKnown = row.itemType === 0 && MESSAGE_TYPES.has(row.associatedType)
  if (!isKnown || row.isCorrupt) return 'not_understood'
  return isOption(row) ? 'notice' : 'message'
}

function isOption({ about, guid, balloon }: MessageRow): boolean {
  return about !== null && about !== guid && POLLS.test(balloon ?? '')
}

const SKIP: Classification = { kind: 'skip' }
/** A row without a known conversation may belong to a group. */
const UNPLACED: Classification = { kind: 'leave_out', leftOut: 'unplaced' }
const OWN: Classification = { kind: 'leave_out', leftOut: 'own' }

export function classify(row: MessageRow, context: Context): Classification {
  const rowNature = nature(row)
  if (rowNature === 'not_understood') return { kind: 'leave_out', leftOut: rowNature }
  if (rowNature === 'notice' || isGone(row, context)) return SKIP
  const wait = waitOf(row, rowNature, context)
  if (wait !== null) return { kind: 'incomplete', isPatient: wait === 'patient' }
  if (row.isFromMe && (row.state.error !== 0 || isScheduled(row))) return SKIP
  return classifyComplete(row, rowNature, context)
}

/** True if it was unsent, or deleted in Messages, before it was read. The body of an edited row may still come. */
function isGone(row: MessageRow, { db, waitedMs }: Context): boolean {
  const isRetracted = isUnsent(row) && (hasRetractedAll(row) || !isBodyLate(row, waitedMs))
  return isRetracted || (row.chat === null && db.isRecoverable(row.rowId))
}

function classifyComplete(
  row: MessageRow,
  rowNature: 'message' | RowChange,
  context: Context,
): Classification {
  const chat = row.chat ?? (row.room === null ? null : context.db.groupChat(row.room))
  if (rowNature !== 'message') {
    return chat === null ? UNPLACED : classifyChange(row, chat, rowNature, context)
  }
  if (chat !== null && !chat.isDirect) return classifyInGroup(row, chat, context)
  // The group is unknown, so a reply has no address.
  return row.room === null ? classifyDirect(row, context) : UNPLACED
}

function classifyInGroup(row: MessageRow, group: Chat, context: Context): Classification {
  // The owner's own messages get the group's identifier as their handle.
  if (row.isFromMe) return relayed(row, groupIdentifier(group), group, context)
  if (row.handle === null) return UNPLACED
  const isEcho = context.isOwnAlias(row.handle)
  return isEcho ? ownOf(row, context) : relayed(row, row.handle, group, context)
}

/** The owner's own message that came back, or a note to oneself: counted, unless it is old. */
function ownOf(row: MessageRow, context: Context): Classification {
  return isHistory(row, context) ? SKIP : OWN
}

/** True if the message was unsent. A message with words was not, whatever its summary says. */
export function isUnsent(row: MessageRow): boolean {
  if (row.editedAt === null || bodyText(row, WORDLESS) !== '') return false
  return hasRetractedAll(row) || (!row.hasAttachments && row.subject === null)
}

function hasRetractedAll({ summary }: MessageRow): boolean {
  return summary !== null && isWhollyRetracted(summary)
}

function classifyChange(
  row: MessageRow,
  chat: Chat,
  change: RowChange,
  context: Context,
): Classification {
  if (chat.isDirect && change.kind === 'group') return SKIP
  const sender = row.handle ?? chat.identifier
  const isOwn = (end: string) => context.isOwnAlias(end)
  const isEcho = row.isFromMe ? chat.isDirect && peersOf(row).every(isOwn) : isOwn(sender)
  if (isEcho && change.kind === 'reaction') return ownOf(row, context)
  const whole = wholeChange(row, change, context.db)
  if (whole === null) return SKIP
  const handle = row.isFromMe || isEcho ? null : spelledHandle(sender)
  const group = chat.isDirect ? null : chat
  return { kind: 'change', change: whole, handle, ...placed(row, group, context) }
}

function placed(row: MessageRow, group: Chat | null, context: Context): Placed {
  const at = dateOf(row, context.now) ?? context.now
  return { group, at, isHistory: isHistory(row, context) }
}

/** A row without a chat may belong to a group, so it is stored but not announced. */
function relayed(
  row: MessageRow,
  sender: string,
  group: Chat | null,
  context: Context,
): Classification {
  if (context.isReplay(row)) return SKIP
  if (isEditCopy(row, context.db)) return { kind: 'leave_out', leftOut: 'edit_copy' }
  const unplaced = group === null && row.chat === null ? 'unplaced' : null
  return {
    kind: 'relay',
    handle: spelledHandle(sender),
    text: readableText(row, context.db),
    withheld: row.isSpam && !row.isFromMe ? 'spam' : unplaced,
    ...placed(row, group, context),
  }
}

/** The group's identifier, which stays the same if a version of macOS spells guid and identifier differently. */
export function groupIdentifier({ groupId, identifier }: Chat): string {
  return groupId ?? identifier
}

/** Kind of wait for the missing parts of a row; null if the wait is over. */
function waitOf(
  row: MessageRow,
  rowNature: Nature,
  { waitedMs, db }: Context,
): 'urgent' | 'patient' | null {
  if (isScheduled(row) && waitedMs < SCHEDULE_WAIT_MS) return 'patient'
  if (row.chat === null && waitedMs < CHAT_WAIT_MS) return 'urgent'
  if (rowNature === 'message' && isBodyLate(row, waitedMs)) return 'urgent'
  if (isOnItsWay(row, waitedMs)) return 'urgent'
  return mayBeCompleted(row, rowNature, { waitedMs, db }) ? 'patient' : null
}

/** True if its chat, the other half of a changed number, or the edit that it quotes may still come. */
function mayBeCompleted(
  row: MessageRow,
  rowNature: Nature,
  { waitedMs, db }: Pick<Context, 'waitedMs' | 'db'>,
): boolean {
  if (row.chat === null && row.room === null && waitedMs < LATE_CHAT_WAIT_MS) return true
  if (typeof rowNature === 'object') return rowNature.kind === 'group' && waitedMs < PAIR_WAIT_MS
  return waitedMs < COPY_WAIT_MS && mayBeEditCopy(row) && !isEditCopy(row, db)
}

function classifyDirect(row: MessageRow, context: Context): Classification {
  const ends = peersOf(row)
  const peer = ends.find((end) => !context.isOwnAlias(end))
  const isBlank = row.chat === null && isEmpty(row)
  // macOS 26 writes ghosts of messages that we send: no chat, no text (imsg).
  if (isBlank && row.isFromMe) return SKIP
  if (isBlank || ends.length === 0) return UNPLACED
  return peer === undefined ? ownOf(row, context) : relayed(row, peer, null, context)
}

/** True for "Send Later": the row stays the same when the message is sent. */
function isScheduled({ isFromMe, scheduleType, state }: MessageRow): boolean {
  const isOpen = !state.isSent && !state.isDelivered && state.error === 0
  return isFromMe && scheduleType !== 0 && isOpen
}

/** True if it was typed on the device and isn't sent yet: it may fail, or be tried again. */
function isOnItsWay({ isFromMe, state }: MessageRow, waitedMs: number): boolean {
  const isSent = state.error === 0 && (state.isSent || state.isDelivered)
  return isFromMe && !isSent && waitedMs < (state.error === 0 ? SENDING_WAIT_MS : ERROR_WAIT_MS)
}

function isBodyLate(row: MessageRow, waitedMs: number): boolean {
  if (isOfUnknownFiles(row)) return waitedMs < CHAT_WAIT_MS
  const bodyWaitMs = row.state.isFinished ? BODY_WAIT_MS : CHAT_WAIT_MS
  return isEmpty(row) && waitedMs < bodyWaitMs
}

/** True without words, a file or an app balloon: a body or a file is still to come. */
export function isOfUnknownContent(row: MessageRow): boolean {
  return row.balloon === null && (isOfUnknownFiles(row) || (isEmpty(row) && row.files.length === 0))
}

/** True if only marks or a flag show that it has files, but not which ones. */
function isOfUnknownFiles(row: MessageRow): boolean {
  const { text, balloon, attachmentGuids, files, hasAttachments } = row
  const isToHaveFiles = hasAttachments || text?.includes(MARK) === true
  if (!isToHaveFiles || balloon !== null || attachmentGuids.length + files.length > 0) return false
  return bodyText(row, WORDLESS) === ''
}

const WORDLESS: EmojiWords = { emojiWords: () => new Map() }

function isEmpty(row: MessageRow): boolean {
  return bodyText(row, WORDLESS) === '' && !row.hasAttachments
}

/**
 * True for messages that are stored but not announced, because iCloud writes old messages with new ROWIDs at any
 * time: those from before the line, older than a day, or that come with many old ones, and those without a date that
 * come with others or among no new ones.
 */
function isHistory(row: MessageRow, context: Context): boolean {
  const { now, since, healthyAt, isBackFill, isAlone } = context
  const at = dateOf(row, now)
  if (at === null) return !isAlone || !row.state.isFinished
  if (at < since - FIRST_START_SLACK_MS) return true
  const ageMs = ageOf(row, healthyAt)
  return ageMs > HISTORY_AGE_MS || (isBackFill && ageMs > OLD_AGE_MS)
}

type EmojiWords = Pick<ChatDb, 'emojiWords'>

const MARK = '\uFFFC'
/** Placeholder character for an app balloon (imessage-database). */
const APP_MARK = '\uFFFD'
/** The only balloon whose text was typed: a link, with the text around it. */
const LINK_BALLOON = /(?:^|[.:])URLBalloonProvider$/

/**
 * The subject on its own line, then the text. Messages shows the text before and after a picture as
 * separate bubbles (imessage-database splits them too): here they are lines.
 */
export function readableText(row: MessageRow, db: EmojiWords): string {
  const body = bodyText(row, db)
  return [row.subject ?? '', body].filter((part) => part !== '').join('\n')
}

/** The text without its subject; empty if it consists only of pictures and apps. */
function bodyText(row: MessageRow, db: EmojiWords): string {
  const text = withEmojiWords(withoutAppMarks(row), row, db)
  if (!text.includes(MARK)) return text
  const bubbles = text.split(MARK).filter((bubble) => bubble.trim() !== '')
  return bubbles
    .map((bubble, index) => {
      const end = index === bubbles.length - 1 ? bubble : bubble.trimEnd()
      return index === 0 ? end : end.trimStart()
    })
    .join('\n')
}

/** U+FFFD stands for the app in an app's balloon; anywhere else it was typed. */
function withoutAppMarks({ text, balloon }: MessageRow): string {
  if (text === null || balloon === null || LINK_BALLOON.test(balloon)) return text ?? ''
  return text.replaceAll(APP_MARK, MARK)
}

/** Replaces each inline picture with its name, or with nothing if it has none. */
function withEmojiWords(text: string, { inlineEmoji }: MessageRow, db: EmojiWords): string {
  if (inlineEmoji.length === 0) return text
  const words = db.emojiWords(inlineEmoji.map(({ guid }) => guid))
  return inlineEmoji.toReversed().reduce((rest, { at, guid }) => {
    const name = words.get(guid)
    const shown = name === undefined ? '' : `(${withoutMarks(name)})`
    return rest.slice(0, at) + shown + rest.slice(at + 1)
  }, text)
}
