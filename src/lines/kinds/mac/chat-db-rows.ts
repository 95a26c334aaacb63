// Rows of chat.db as the driver reads them. Everything may be NULL, and a column of SQLite holds whatever
// was put into it, regardless of its type.

import { fromAppleTime } from './apple-time.ts'
import { decodeAttributedBody, type InlineEmoji } from './attributed-body.ts'
import {
  JUNK,
  type RawChat,
  type RawExchanged,
  type RawFile,
  type RawMessage,
  type RawState,
  type SqlValue,
} from './chat-db-queries.ts'

/** A row by its ids: the same ROWID with another guid is another database. */
export type RowId = { readonly rowId: number; readonly guid: string }

export type Chat = {
  readonly rowId: number
  /** Exactly as Messages wrote it; since macOS 26 it names no service. */
  readonly guid: string
  readonly isDirect: boolean
  readonly identifier: string
  /** Stays the same where the guid and the identifier change. */
  readonly groupId: string | null
  readonly name: string | null
}

/** A row of `attachment`: a file of a message, as far as Messages has it. */
export type FileRow = {
  /** Transfer guid, by which the body names it. */
  readonly guid: string
  /** Path as Messages writes it: `~/Library/Messages/Attachments/…`. */
  readonly path: string | null
  readonly mimeType: string | null
  readonly name: string | null
  readonly size: number
  /** 5 is finished; 0 is not loaded, and the others are on the way (beeper). */
  readonly transferState: number
  readonly isOutgoing: boolean
  /** The preview of a link, and other parts of a balloon. */
  readonly isHidden: boolean
}

/** State of a message that we sent, as its flags prove it. Times are milliseconds since 1970. */
export type OwnState = {
  readonly rowId: number
  readonly guid: string
  /** `iMessage`, `SMS` or `RCS` in one spelling, others unchanged. */
  readonly service: string
  /** FZErrorType of IMFoundation; 0 is none. */
  readonly error: number
  readonly isSent: boolean
  /** From the flag or the date: each comes without the other (BlueBubbles). */
  readonly isDelivered: boolean
  readonly isFinished: boolean
  readonly isRead: boolean
  readonly deliveredAt: number | null
  readonly readAt: number | null
  /** Not sent yet on purpose: being prepared, delayed, for a satellite, or scheduled. */
  readonly isWaiting: boolean
  readonly wasDowngraded: boolean
  readonly isInGroup: boolean
}

export type MessageRow = {
  readonly rowId: number
  readonly guid: string
  readonly isFromMe: boolean
  readonly at: number | null
  /** `handle.id` of the sender, or of the recipient. */
  readonly handle: string | null
  /** Lowest of its chats; null while it is joined to none. */
  readonly chat: Chat | null
  /** Identifier of its group, set even before the row is joined to its chat. */
  readonly room: string | null
  /** Contains U+FFFC for each attachment; null while there is none. */
  readonly text: string | null
  readonly inlineEmoji: readonly InlineEmoji[]
  /** Transfer guids of its files, in the order of the text. */
  readonly attachmentGuids: readonly string[]
  readonly files: readonly FileRow[]
  /** Line above the text. */
  readonly subject: string | null
  /** Reason why the body could not be decoded. */
  readonly bodyProblem: string | null
  readonly hasAttachments: boolean
  readonly isEmpty: boolean
  readonly balloon: string | null
  readonly itemType: number
  readonly associatedType: number
  /** From `associated_message_guid`. */
  readonly isAboutOther: boolean
  /** `associated_message_guid`: `p:0/…`, `bp:…` or a guid. */
  readonly about: string | null
  readonly emoji: string | null
  /** Guid of the message that it replies to, and the place of its part: `0:0:5`. */
  readonly replyTo: string | null
  readonly replyToPart: string | null
  readonly groupAction: number
  readonly groupTitle: string | null
  /** `handle.id` of the member that a change of a group is about. */
  readonly otherHandle: string | null
  readonly editedAt: number | null
  /** `message_summary_info` of an edited message. */
  readonly summary: Uint8Array | null
  readonly scheduleType: number
  readonly isSystem: boolean
  /** Marked as junk by Messages, in the column of its version. */
  readonly isSpam: boolean
  readonly isCorrupt: boolean
  /** `destination_caller_id`: our own address that it came to, or went from. */
  readonly ownAlias: string | null
  readonly state: OwnState
}

/** A message to or from a handle, with the fields that show how the handle is reached. */
export type Exchanged = {
  readonly isFromMe: boolean
  readonly service: string
  readonly error: number
  readonly isSent: boolean
  readonly isDelivered: boolean
  readonly at: number | null
}

/** The style of a chat with one person; a group's is 43. */
const DIRECT_STYLE = 45
/** "Send Later". */
const SCHEDULED = 2
const SERVICES = ['iMessage', 'SMS', 'RCS']

export function messageRowOf(raw: RawMessage): MessageRow {
  const { text, inlineEmoji, attachmentGuids, problem } = bodyOf(raw)
  const about = nameOf(raw.associated_message_guid)
  return {
    rowId: rowIdOf(raw.id),
    guid: String(raw.guid),
    isFromMe: flagOf(raw.is_from_me),
    at: timeOf(raw.date),
    handle: nameOf(raw.handle),
    chat: raw.chat_id === null ? null : chatOf(raw),
    room: nameOf(raw.cache_roomnames),
    text,
    inlineEmoji,
    attachmentGuids,
    files: [],
    subject: nameOf(raw.subject),
    bodyProblem: problem,
    hasAttachments: flagOf(raw.cache_has_attachments),
    isEmpty: flagOf(raw.is_empty),
    balloon: nameOf(raw.balloon_bundle_id),
    itemType: integerOf(raw.item_type),
    associatedType: integerOf(raw.associated_message_type),
    isAboutOther: about !== null && about !== raw.guid,
    about,
    emoji: nameOf(raw.associated_message_emoji),
    replyTo: nameOf(raw.thread_originator_guid),
    replyToPart: nameOf(raw.thread_originator_part),
    groupAction: integerOf(raw.group_action_type),
    groupTitle: nameOf(raw.group_title),
    otherHandle: nameOf(raw.other),
    editedAt: timeOf(raw.date_edited),
    summary: raw.summary instanceof Uint8Array ? raw.summary : null,
    scheduleType: integerOf(raw.schedule_type),
    isSystem: flagOf(raw.is_system_message) || flagOf(raw.is_service_message),
    isSpam: isJunk(raw),
    isCorrupt: flagOf(raw.is_corrupt),
    ownAlias: nameOf(raw.destination_caller_id),
    state: ownStateOf(raw),
  }
}

export function ownStateOf(raw: RawState): OwnState {
  const deliveredAt = timeOf(raw.date_delivered)
  const readAt = timeOf(raw.date_read)
  const isSent = flagOf(raw.is_sent)
  const isDelivered = flagOf(raw.is_delivered) || deliveredAt !== null
  // A scheduled or prepared message keeps its mark after it was sent.
  const isWaiting = !isSent && !isDelivered && isHeldBack(raw)
  return {
    rowId: rowIdOf(raw.id),
    guid: String(raw.guid),
    service: serviceOf(raw.service),
    error: integerOf(raw.error),
    isSent,
    isDelivered,
    isFinished: flagOf(raw.is_finished),
    isRead: readAt !== null,
    deliveredAt,
    readAt,
    isWaiting,
    wasDowngraded: flagOf(raw.was_downgraded),
    isInGroup: flagOf(raw.is_in_group),
  }
}

export function chatOf(raw: RawChat): Chat {
  return {
    rowId: rowIdOf(raw.chat_id),
    guid: String(raw.chat_guid),
    isDirect: integerOf(raw.chat_style) === DIRECT_STYLE,
    identifier: nameOf(raw.chat_identifier) ?? '',
    groupId: nameOf(raw.chat_group_id),
    name: nameOf(raw.chat_name),
  }
}

export function fileOf(raw: RawFile): FileRow {
  const name = nameOf(raw.transfer_name)
  const path = nameOf(raw.filename)
  return {
    guid: nameOf(raw.guid) ?? '',
    path,
    mimeType: nameOf(raw.mime_type),
    name,
    size: integerOf(raw.total_bytes),
    transferState: integerOf(raw.transfer_state),
    isOutgoing: flagOf(raw.is_outgoing),
    isHidden: flagOf(raw.hide_attachment) || HIDDEN.test(path ?? name ?? ''),
  }
}

/** Payload of a balloon: the picture of a link, the state of a game. */
const HIDDEN = /\.pluginPayloadAttachment$/i

export function exchangedOf(raw: RawExchanged): Exchanged {
  return {
    isFromMe: flagOf(raw.is_from_me),
    service: serviceOf(raw.service),
    error: integerOf(raw.error),
    isSent: flagOf(raw.is_sent),
    isDelivered: flagOf(raw.is_delivered) || timeOf(raw.date_delivered) !== null,
    at: timeOf(raw.date),
  }
}

/** Throws a RangeError for a number that JavaScript cannot hold exactly. */
export function rowIdOf(value: SqlValue): number {
  const rowId = Number(value)
  if (!Number.isSafeInteger(rowId)) throw new RangeError('a ROWID is no safe integer')
  return rowId
}

/** 0 for NULL and for anything that is no number. */
export function integerOf(value: SqlValue): number {
  const number = Number(value)
  return Number.isFinite(number) ? number : 0
}

export function timeOf(value: SqlValue): number | null {
  return typeof value === 'bigint' || typeof value === 'number' ? fromAppleTime(value) : null
}

/** Null for NULL and for an empty text. */
export function nameOf(value: SqlValue): string | null {
  return value === null || value === '' ? null : String(value)
}

function flagOf(value: SqlValue): boolean {
  return integerOf(value) !== 0
}

function isHeldBack(raw: RawState): boolean {
  return (
    flagOf(raw.is_prepared) ||
    flagOf(raw.is_delayed) ||
    flagOf(raw.is_pending_satellite_send) ||
    integerOf(raw.schedule_type) === SCHEDULED
  )
}

/** `is_spam` up to macOS 26; since 27 a category of the message, or of its place in a chat. */
function isJunk(raw: RawMessage): boolean {
  const isCategory = integerOf(raw.filter_action) === JUNK || flagOf(raw.is_junk_in_chat)
  return flagOf(raw.is_spam) || isCategory
}

function serviceOf(value: SqlValue): string {
  const service = nameOf(value) ?? ''
  const lower = service.toLowerCase()
  return SERVICES.find((known) => known.toLowerCase() === lower) ?? service
}

/** The body comes first: a message sent by AppleScript leaves the column `text` NULL (imessage-max). */
function bodyOf(raw: RawMessage): {
  readonly text: string | null
  readonly inlineEmoji: readonly InlineEmoji[]
  readonly attachmentGuids: readonly string[]
  readonly problem: string | null
} {
  const column = nameOf(raw.text)
  const ofColumn = { text: column, inlineEmoji: [], attachmentGuids: [], problem: null }
  if (!(raw.body instanceof Uint8Array) || raw.body.length === 0) return ofColumn
  const decoded = decodeAttributedBody(raw.body)
  if (!decoded.ok) return { ...ofColumn, problem: decoded.problem }
  const { text, inlineEmoji = [], attachmentGuids } = decoded
  if (text === '') return { ...ofColumn, text: column ?? '' }
  return { text, inlineEmoji, attachmentGuids, problem: null }
}
