// Rows of chat.db as the driver reads them. Any column may be NULL, and SQLite stores values of any type in
// it.

import type { Handle } from '../../../domain/handle.ts'
import { fromAppleTime } from './apple-time.ts'
import { decodeAttributedBody, type InlineEmoji } from './attributed-body.ts'

type SqlValue = bigint | number | string | Uint8Array | null
export type Raw = Readonly<Record<string, SqlValue>>

/** Fields of a row, each with its column and the function that reads its value. */
export type Fields = Readonly<
  Record<string, readonly [column: string, read: (value: SqlValue) => unknown]>
>
export type RowOf<F extends Fields> = { readonly [Name in keyof F]: ReturnType<F[Name][1]> }

export function readRow<F extends Fields>(fields: F, raw: Raw): RowOf<F> {
  const row: Record<string, unknown> = {}
  for (const [name, [column, read]] of Object.entries(fields)) {
    const value = raw[column]
    if (value === undefined) throw new Error(`The query has no column ${column}.`)
    row[name] = read(value)
  }
  return row as RowOf<F> // Each field is read by its own reader.
}

/** Ids of a row: the same ROWID with another guid means another database. */
export const IDS = { rowId: ['id', rowIdOf], guid: ['guid', String] } as const satisfies Fields
export type RowId = RowOf<typeof IDS>
/** `editedAt` is null for an impossible date. */
export const EDITED = { ...IDS, editedAt: ['date_edited', timeOf] } as const satisfies Fields
export const OWN_ERROR = { error: ['error', integerOf], at: ['date', timeOf] } as const
export const EMOJI_WORDS = { guid: ['guid', String], words: ['words', nameOf] } as const
export const NUMBER = { value: ['value', numberOf] } as const satisfies Fields
export const DATA_VERSION = { version: ['data_version', numberOf] } as const satisfies Fields
export const TEXT = { value: ['value', nameOf] } as const satisfies Fields
export const NAMED = { rowId: ['id', rowIdOf], ...TEXT } as const satisfies Fields
export const DATED_LIKE = { rowId: ['id', rowIdOf], handle: ['handle', nameOf] } as const

export const CHAT = {
  rowId: ['chat_id', rowIdOf],
  /** Exactly as Messages wrote it; since macOS 26 it names no service. */
  guid: ['chat_guid', String],
  isDirect: ['chat_style', (value) => integerOf(value) === DIRECT_STYLE],
  identifier: ['chat_identifier', (value) => nameOf(value) ?? ''],
  /** Id of the group, which stays the same if the guid and the identifier change. */
  groupId: ['chat_group_id', nameOf],
  name: ['chat_name', nameOf],
} as const satisfies Fields
export type Chat = RowOf<typeof CHAT>

const FILE = {
  /** Transfer guid, by which the body refers to it. */
  guid: ['guid', (value) => nameOf(value) ?? ''],
  /** As Messages writes it: `~/Library/Messages/Attachments/…`. */
  path: ['filename', nameOf],
  mimeType: ['mime_type', nameOf],
  name: ['transfer_name', nameOf],
  size: ['total_bytes', integerOf],
  /** 5 means finished, 0 not loaded; others mean in transit (beeper). */
  transferState: ['transfer_state', integerOf],
  isOutgoing: ['is_outgoing', flagOf],
  isHidden: ['hide_attachment', flagOf],
} as const satisfies Fields
export type FileRow = RowOf<typeof FILE>

const OWN_STATE = {
  ...IDS,
  /** `iMessage`, `SMS` or `RCS` in this spelling; other services are unchanged. */
  service: ['service', serviceOf],
  /** FZErrorType of IMFoundation; 0 means no error. */
  error: ['error', integerOf],
  isSent: ['is_sent', flagOf],
  isFinished: ['is_finished', flagOf],
  deliveredAt: ['date_delivered', timeOf],
  readAt: ['date_read', timeOf],
  isInGroup: ['is_in_group', flagOf],
} as const satisfies Fields

/** State of a message that we sent, from its flags. Times are milliseconds since 1970. */
export type OwnState = RowOf<typeof OWN_STATE> & {
  /** By the flag or the date: either may be missing (BlueBubbles). */
  readonly isDelivered: boolean
  readonly isRead: boolean
  /** True if Messages holds it back on purpose: it is being prepared, delayed, for a satellite, or scheduled. */
  readonly isWaiting: boolean
}

const MESSAGE = {
  ...IDS,
  isFromMe: ['is_from_me', flagOf],
  at: ['date', timeOf],
  /** `handle.id` of the sender, or of the recipient. */
  handle: ['handle', nameOf],
  /** Identifier of the row's group, set even before the row is joined to its chat. */
  room: ['cache_roomnames', nameOf],
  subject: ['subject', nameOf],
  hasAttachments: ['cache_has_attachments', flagOf],
  isEmpty: ['is_empty', flagOf],
  balloon: ['balloon_bundle_id', nameOf],
  itemType: ['item_type', integerOf],
  associatedType: ['associated_message_type', integerOf],
  /** The message that it is about: `p:0/…`, `bp:…` or a guid. */
  about: ['associated_message_guid', nameOf],
  emoji: ['associated_message_emoji', nameOf],
  /** Guid of the message that it replies to, and the part: `0:0:5`. */
  replyTo: ['thread_originator_guid', nameOf],
  replyToPart: ['thread_originator_part', nameOf],
  groupAction: ['group_action_type', integerOf],
  groupTitle: ['group_title', nameOf],
  /** `handle.id` of the group member who changed. */
  otherHandle: ['other', nameOf],
  editedAt: ['date_edited', timeOf],
  /** `message_summary_info` of an edited message. */
  summary: ['summary', (value) => (value instanceof Uint8Array ? value : null)],
  scheduleType: ['schedule_type', integerOf],
  isCorrupt: ['is_corrupt', flagOf],
} as const satisfies Fields

export type MessageRow = RowOf<typeof MESSAGE> &
  Body & {
    /** The chat with the lowest ROWID; null while the row is joined to none. */
    readonly chat: Chat | null
    /** All chats of the row: one of several may be named by another address of the same contact. */
    readonly chats: readonly ChatName[]
    /** The sender, or everyone who may be the recipient; empty for our own message in a group. */
    readonly people: readonly Handle[]
    readonly files: readonly FileRow[]
    readonly isSystem: boolean
    /** True if Messages marked it as junk, in whichever column its version uses. */
    readonly isSpam: boolean
    readonly state: OwnState
  }

type ChatName = Pick<Chat, 'guid' | 'isDirect' | 'identifier'>

type Body = {
  /** Contains U+FFFC for each attachment; null if the row has no text. */
  readonly text: string | null
  readonly inlineEmoji: readonly InlineEmoji[]
  /** Transfer guids, in the order of the text. */
  readonly attachmentGuids: readonly string[]
  readonly bodyProblem: string | null
}

const BODY = {
  text: ['text', nameOf],
  body: ['body', (value) => (value instanceof Uint8Array ? value : null)],
} as const satisfies Fields

export const EXCHANGED = {
  isFromMe: ['is_from_me', flagOf],
  service: ['service', serviceOf],
  error: ['error', integerOf],
  isSent: ['is_sent', flagOf],
  at: ['date', timeOf],
  /** Null if only the chat names the other person. */
  handle: ['handle', nameOf],
} as const satisfies Fields
export type Exchanged = RowOf<typeof EXCHANGED>

/** `style` of a chat with one person; a group's is 43. */
const DIRECT_STYLE = 45
/** Most chats of a message, and members of a group, that are read. */
const LIST_MAX = 500
/** `schedule_type` of "Send Later". */
const SCHEDULED = 2
/** `filter_action` of junk, for a message and for its row in the chat (imessage-database). */
export const JUNK = 2

const OWN_USE = {
  isFromMe: ['is_from_me', flagOf],
  at: ['date', timeOf],
  handle: ['handle', nameOf],
  chats: ['chats', chatsOf],
  members: ['members', listOf],
  address: ['address', nameOf],
  account: ['account', nameOf],
} as const satisfies Fields

export type OwnUse = Pick<RowOf<typeof OWN_USE>, 'isFromMe' | 'at' | 'address' | 'account'> & {
  /** Everyone else in the message, as Messages spells them. */
  readonly peers: readonly string[]
}

export function ownUseOf(raw: Raw): OwnUse {
  const { handle, chats, members, ...use } = readRow(OWN_USE, raw)
  const direct = chats.flatMap(({ isDirect, identifier }) => (isDirect ? [identifier] : []))
  return {
    ...use,
    peers: [...(handle === null ? [] : [handle]), ...direct, ...members.map(String)],
  }
}

/** `personOf` reads a spelling by the rules of the line's country. */
export function messageRowOf(raw: Raw, personOf: (spelling: string) => Handle): MessageRow {
  const row = readRow(MESSAGE, raw)
  const chat = raw['chat_id'] === null ? null : readRow(CHAT, raw)
  const chats = chatsOf(raw['chats'])
  return {
    ...row,
    ...bodyOf(raw),
    chat,
    chats,
    people: peersOf({ ...row, chat, chats }).map(personOf),
    files: [],
    isSystem: isAny(raw, 'is_system_message', 'is_service_message'),
    // Up to macOS 26 the column is `is_spam`; since 27 it is a category of the message, or of its row in the chat.
    isSpam: isAny(raw, 'is_spam', 'is_junk_in_chat') || integerOf(raw['filter_action']) === JUNK,
    state: ownStateOf(raw),
  }
}

/** The other people of a row as Messages spells them, the row's handle first. */
export function peersOf(
  row: Pick<MessageRow, 'isFromMe' | 'handle' | 'room' | 'chat' | 'chats'>,
): readonly string[] {
  const { isFromMe, handle, room, chat, chats } = row
  if (!isFromMe) return [handle ?? chat?.identifier ?? ''].filter((end) => end !== '')
  if (room !== null || chats.some(({ isDirect }) => !isDirect)) return []
  return [handle ?? '', ...chats.map(({ identifier }) => identifier)].filter((end) => end !== '')
}

export function ownStateOf(raw: Raw): OwnState {
  const state = readRow(OWN_STATE, raw)
  const isDelivered = isAny(raw, 'is_delivered') || state.deliveredAt !== null
  const isHeldBack =
    isAny(raw, 'is_prepared', 'is_delayed', 'is_pending_satellite_send') ||
    integerOf(raw['schedule_type']) === SCHEDULED
  // A scheduled or prepared message keeps its mark after it was sent.
  const isWaiting = !state.isSent && !isDelivered && isHeldBack
  return { ...state, isDelivered, isRead: state.readAt !== null, isWaiting }
}

export function fileOf(raw: Raw): FileRow {
  const file = readRow(FILE, raw)
  return { ...file, isHidden: file.isHidden || HIDDEN.test(file.path ?? file.name ?? '') }
}

/** Files that Messages adds to a balloon, such as a link's picture or a game's state. */
const HIDDEN = /\.pluginPayloadAttachment$/i

/** Throws a RangeError if a number cannot hold the value exactly. */
function rowIdOf(value: SqlValue): number {
  const rowId = Number(value)
  if (!Number.isSafeInteger(rowId)) throw new RangeError('a ROWID is no safe integer')
  return rowId
}

function numberOf(value: SqlValue): number | null {
  return value === null ? null : rowIdOf(value)
}

/** Returns 0 for NULL and anything that is not a number. */
function integerOf(value: SqlValue | undefined): number {
  const number = Number(value)
  return Number.isFinite(number) ? number : 0
}

function timeOf(value: SqlValue): number | null {
  return typeof value === 'bigint' || typeof value === 'number' ? fromAppleTime(value) : null
}

function listOf(value: SqlValue | undefined): readonly unknown[] {
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : []
  return Array.isArray(list) ? list.slice(0, LIST_MAX) : []
}

function chatsOf(value: SqlValue | undefined): readonly ChatName[] {
  return listOf(value).flatMap((chat) => {
    if (!Array.isArray(chat)) return []
    const [guid, style, identifier] = chat
    return [
      {
        guid: String(guid),
        isDirect: style === DIRECT_STYLE,
        identifier: String(identifier ?? ''),
      },
    ]
  })
}

/** Returns null for NULL and an empty text. */
function nameOf(value: SqlValue): string | null {
  return value === null || value === '' ? null : String(value)
}

function flagOf(value: SqlValue): boolean {
  return integerOf(value) !== 0
}

function isAny(raw: Raw, ...columns: readonly string[]): boolean {
  return columns.some((column) => integerOf(raw[column]) !== 0)
}

function serviceOf(value: SqlValue): string {
  const service = nameOf(value) ?? ''
  const known = ['iMessage', 'SMS', 'RCS']
  return known.find((name) => name.toLowerCase() === service.toLowerCase()) ?? service
}

/** The body is preferred: for a message sent by AppleScript, the column `text` is NULL (imessage-max). */
function bodyOf(raw: Raw): Body {
  const { text: column, body } = readRow(BODY, raw)
  const ofColumn = { text: column, inlineEmoji: [], attachmentGuids: [], bodyProblem: null }
  if (body === null || body.length === 0) return ofColumn
  const decoded = decodeAttributedBody(body)
  if (!decoded.ok) return { ...ofColumn, bodyProblem: decoded.problem }
  const { text, inlineEmoji = [], attachmentGuids } = decoded
  if (text === '') return { ...ofColumn, text: column ?? '' }
  return { text, inlineEmoji, attachmentGuids, bodyProblem: null }
}
