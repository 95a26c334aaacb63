// Rows of chat.db that change something else: reactions to a message, and changes of a group. The numbers
// are from imessage-database (`variants.rs`, `group_action.rs`).

import type { GroupChange } from '../../../domain/conversation.ts'
import { REACTION_TYPES, type ReactionType } from '../../../domain/message-extras.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

export type RowChange = RowReaction | RowGroupChange

type RowReaction = {
  readonly kind: 'reaction'
  readonly targetGuid: string
  readonly action: 'added' | 'removed'
  readonly type: ReactionType
  readonly emoji: string | null
  /** Index of the message part that it is about, from 0. */
  readonly part: number
}

const ADDED = 2_000
const REMOVED = 3_000
/** A sticker put onto a message, in versions before reactions with stickers. */
const STICKER = 1_000
export function reactionOf(row: MessageRow): RowReaction | null {
  const { associatedType: number } = row
  const target = targetOf(row.about)
  if (target === null) return null
  const kind = 'reaction'
  if (number === STICKER) return { kind, ...target, action: 'added', type: 'sticker', emoji: null }
  const action = number < REMOVED ? 'added' : 'removed'
  // The API's words are in Apple's order: the last digit of `associated_message_type`.
  const type = REACTION_TYPES[number - (action === 'added' ? ADDED : REMOVED)]
  if (type === undefined) return null
  return { kind, ...target, action, type, emoji: type === 'emoji' ? row.emoji : null }
}

/** `p:2/GUID` means part 2 of a message, `bp:GUID` a balloon, and a bare guid a whole message. */
function targetOf(about: string | null): Pick<RowReaction, 'targetGuid' | 'part'> | null {
  const [, part = '0', targetGuid] = /^(?:p:(\d{1,4})\/|bp:)?([^/]+)$/.exec(about ?? '') ?? []
  return targetGuid === undefined ? null : { targetGuid, part: Number(part) }
}

/** The message and part that a row replies to. In `0:0:5` the part comes first, then its range in the text. */
export function replyOf({
  replyTo,
  replyToPart,
}: MessageRow): { readonly guid: string; readonly part: number } | undefined {
  if (replyTo === null) return undefined
  const [part = ''] = /^\d{1,4}(?=:|$)/.exec(replyToPart ?? '') ?? []
  return { guid: replyTo, part: Number(part) }
}

type RowGroupChange = {
  readonly kind: 'group'
  readonly change: GroupChange
  /** `handle.id` of the member that it is about. */
  readonly target: string | null
  /** The new name; null if the name was removed, or for another kind of change. */
  readonly name: string | null
  /** `handle.id` that the member had before a change of number. */
  readonly replaced?: string | null | undefined
}

const MEMBERS = 1
const NAME = 2
const LEFT_OR_ICON = 3

/** Returns null for any other row, and for backgrounds, which no caller asks for. */
export function groupChangeOf(row: MessageRow): RowGroupChange | null {
  const { itemType, groupAction: action, otherHandle: target } = row
  const changeOf = (change: GroupChange, name: string | null = null) =>
    ({ kind: 'group', change, target, name }) as const
  switch (itemType) {
    case MEMBERS:
      if (action === 0) return changeOf('participant_added')
      return action === 1 ? changeOf('participant_removed') : null
    case NAME:
      return changeOf('renamed', row.groupTitle)
    case LEFT_OR_ICON:
      if (action === 0) return { ...changeOf('left'), target: row.isFromMe ? null : row.handle }
      return action === 1 || action === 2 ? { ...changeOf('icon_changed'), target: null } : null
    default:
      return null
  }
}

/** Rows of one second that are searched for the other half of a pair. */
const PAIR_ROWS_MAX = 50

/**
 * The change joined with its other half. A changed number is two rows of one date: the old number left, and the new
 * one joined; Messages shows them as one line (imessage-exporter). Null for the row of the old number, because the
 * other row says everything.
 */
export function wholeChange(
  row: MessageRow,
  change: RowChange,
  db: Pick<ChatDb, 'rowsSince'>,
): RowChange | null {
  const { at, itemType, groupAction } = row
  if (change.kind !== 'group' || itemType !== MEMBERS || at === null) return change
  const other = db.rowsSince(secondOf(at), PAIR_ROWS_MAX).find((each) => isOtherHalf(row, each))
  if (other === undefined) return change
  return groupAction === 1 ? null : { ...change, replaced: other.otherHandle }
}

function isOtherHalf(row: MessageRow, other: MessageRow): boolean {
  const isHere = other.chat !== null && other.chat.rowId === row.chat?.rowId
  const isInSecond = row.at !== null && other.at !== null && secondOf(other.at) === secondOf(row.at)
  const isOfMembers = other.itemType === MEMBERS && other.groupAction === 1 - row.groupAction
  return isHere && isInSecond && isOfMembers && other.otherHandle !== row.otherHandle
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000
}
