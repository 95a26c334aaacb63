// The rows that a send is expected to cause, by the note of its point of no return, and how well a row fits.

import { type Handle, personOf } from '../../../domain/handle.ts'
import type { AttachmentId, MessageId } from '../../../domain/ids.ts'
import type { Unsettled } from '../../../domain/message.ts'
import { withoutMarks } from './attributed-body.ts'
import type { DatabaseIdentity } from './chat-db-open.ts'
import type { FileRow, MessageRow } from './chat-db-rows.ts'
import { isMessage } from './classify.ts'

/** Folder of the copied files, within Messages' folder or Pictures. */
export const STAGING_FOLDER = 'Hookline'

export type SendNote = {
  readonly inode: number
  readonly bornMs: number
  readonly rowId: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** Files of the message in order, which are sent before its text; absent if there are none. */
  readonly files?: readonly StagedFile[] | undefined
}

export type StagedFile = {
  readonly id: AttachmentId
  /** Folder and name below the staging folder; the folder holds only this file. */
  readonly path: string
}

export type Expectation = {
  readonly messageId: MessageId
  /** Index among the parts of a message with files; absent if the message is only a text. */
  readonly part?: number | undefined
  readonly handle: Handle
  readonly chatGuid?: string | undefined
  /** The text as `plain` returns it; empty for a file. A text with a URL may come in two rows. */
  readonly text: string
  readonly file?: StagedFile | undefined
  readonly afterRowId: number
  /** The earliest and the latest date that its rows can have, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
  /** Until then, a row with this text to another handle counts as misrouted; a later one was typed on the device. */
  readonly strayUntil: number
}

const EARLY_MS = 5_000
const LATE_MS = 600_000
/** Longest wait for the row of a file: Messages reads and converts the file first (BlueBubbles). */
export const FILE_ROW_MS_MAX = 1_200_000
/** Longest wait for a row in the wrong chat: a script runs for 38 s at most. */
const STRAY_MS = 60_000

export function noteText(
  identity: DatabaseIdentity,
  rowId: number,
  at: number,
  files: readonly StagedFile[] = [],
): string {
  const note: SendNote = { inode: identity.inode, bornMs: identity.bornMs, rowId, at }
  return JSON.stringify(files.length === 0 ? note : { ...note, files })
}

/** Returns null without a note or for an unknown form. */
export function readNote(text: string | null): SendNote | null {
  if (text === null) return null
  try {
    // noteText wrote it, in this version or an earlier one.
    const note = JSON.parse(text) as Partial<SendNote>
    const { inode, bornMs, rowId, at, files } = note
    if (typeof inode !== 'number' || typeof bornMs !== 'number') return null
    if (typeof rowId !== 'number' || typeof at !== 'number') return null
    return { inode, bornMs, rowId, at, files }
  } catch {
    return null
  }
}

/**
 * The expected row of a message by its note, if the note is of this database. Without a note (the message was queued
 * in a restored backup), any row since the message was created may be its row.
 */
export function expectationOf(
  { message, note }: Unsettled,
  identity: DatabaseIdentity,
): Expectation {
  const found = readNote(note)
  const isSame = found?.inode === identity.inode && found.bornMs === identity.bornMs
  const filesMs = (found?.files?.length ?? 0) * FILE_ROW_MS_MAX
  const at = found?.at ?? message.createdAt
  return {
    messageId: message.id,
    handle: personOf(message.to, null),
    chatGuid: message.chatGuid,
    text: plain(message.text),
    afterRowId: found !== null && isSame ? found.rowId : 0,
    from: found === null ? at : at - EARLY_MS,
    until: found === null ? Number.MAX_SAFE_INTEGER : at + LATE_MS + filesMs,
    strayUntil: at + STRAY_MS,
  }
}

/** The expected rows of the message's files, in order, and of its text. */
export function partsOf(
  expectation: Expectation,
  files: readonly StagedFile[],
): readonly Expectation[] {
  if (files.length === 0) return [expectation]
  const ofFiles = files.map((file, part) => ({ ...expectation, part, file, text: '' }))
  const ofText = { ...expectation, part: files.length }
  return expectation.text === '' ? ofFiles : [...ofFiles, ofText]
}

/** The expected row of a later part, which is handed over now: `rowId` is the newest row before it. */
export function handedOverNow(part: Expectation, rowId: number, now: number): Expectation {
  const from = now - EARLY_MS
  return { ...postponed(part, from - part.from), afterRowId: rowId, from }
}

/** Expects the same row, dated up to `ms` milliseconds later. */
export function postponed(expectation: Expectation, ms: number): Expectation {
  const { until, strayUntil } = expectation
  return { ...expectation, until: until + ms, strayUntil: strayUntil + ms }
}

export function keyOf({ messageId, part }: Pick<Expectation, 'messageId' | 'part'>): string {
  return part === undefined ? messageId : `${messageId}#${part}`
}

/** `whole`: the row has all the remaining text; `part`: its beginning; null: another text. */
export type Fit = 'whole' | 'part' | null

export function fitOf(expectation: Expectation, row: MessageRow): Fit {
  return isTo(expectation, row) ? fitOfContent(expectation, row) : null
}

/**
 * True if Messages sent the same text to another handle at that time, so to the wrong chat. A row without a handle in
 * another direct chat proves nothing: the chat may be named by another address of the contact.
 */
export function isMisrouted(expectation: Expectation, row: MessageRow): boolean {
  if (row.at === null || row.at > expectation.strayUntil) return false
  const isNamed = row.handle !== null || expectation.chatGuid !== undefined || isInGroup(row)
  const isElsewhere = row.chat !== null && isNamed && !isTo(expectation, row)
  return isElsewhere && fitOfContent(expectation, row) === 'whole'
}

/**
 * macOS 26 may write a row for a send that goes nowhere: no chat, no text. Its handle is the exact
 * target, which for a group is the last part of its guid (imsg).
 */
export function isGhost(expectation: Expectation, row: MessageRow): boolean {
  const { handle, chatGuid } = expectation
  const isBare = row.chat === null && plain(row.text ?? '') === '' && row.files.length === 0
  const isTarget =
    chatGuid === undefined
      ? row.people.includes(handle)
      : row.handle?.toLowerCase() === nameIn(chatGuid).toLowerCase()
  return isBare && isPossible(expectation, row) && isTarget
}

/**
 * True if the row's handle or any of its chats is the recipient's. A group is known by its guid, whatever service a
 * version of macOS writes before it.
 */
function isTo({ handle, chatGuid }: Expectation, row: MessageRow): boolean {
  if (chatGuid === undefined) return row.people.includes(handle)
  const name = nameIn(chatGuid)
  return row.chats.some(({ isDirect, guid }) => !isDirect && nameIn(guid) === name)
}

function isInGroup({ chats }: MessageRow): boolean {
  return chats.some(({ isDirect }) => !isDirect)
}

/** `chat831` in `any;+;chat831`. */
function nameIn(chatGuid: string): string {
  return chatGuid.split(';').slice(2).join(';')
}

function fitOfContent(expectation: Expectation, row: MessageRow): Fit {
  if (!isPossible(expectation, row)) return null
  const text = plain(row.text ?? '')
  const { file } = expectation
  if (file !== undefined) return text === '' && row.files.some(isOf(file)) ? 'whole' : null
  if (text === '') return null
  if (text === expectation.text) return 'whole'
  return expectation.text.startsWith(text) && HAS_URL.test(expectation.text) ? 'part' : null
}

/** Recognizes a file of ours by its unique folder. If Messages made its own copy, only the name is left. */
function isOf({ path }: StagedFile): (file: FileRow) => boolean {
  const [folder = '', name = ''] = path.split('/')
  return ({ isOutgoing, path: found, name: shown }) => {
    if (!isOutgoing) return false
    const isStaged = found?.includes(`/${STAGING_FOLDER}/`) === true
    return isStaged ? found.includes(`/${folder}/`) : shown === name
  }
}

function isPossible({ afterRowId, from, until }: Expectation, row: MessageRow): boolean {
  if (!row.isFromMe || !isMessage(row) || row.rowId <= afterRowId) return false
  return row.at === null || (row.at >= from && row.at <= until)
}

const HAS_URL = /https?:\/\/|www\./i

/** The form in which texts are compared: composed, with LF as line end, without marks and outer white space. */
export function plain(text: string): string {
  return withoutMarks(text).normalize('NFC').replaceAll(/\r\n?/g, '\n').trim()
}
