// The messages that were given to Messages and whose rows are not known yet. A row is ours if it goes
// to the same handle, has the same text, and is dated around the point of no return; it is taken once.

import type { MessageId } from '../../../domain/ids.ts'
import type { Unsettled } from '../../../domain/message.ts'
import { withoutMarks } from './attributed-body.ts'
import type { DatabaseIdentity, MessageRow } from './chat-db-rows.ts'
import { isMessage, peerOf } from './classify.ts'

/** What the line wrote down at the point of no return. */
export type SendNote = {
  readonly inode: number
  readonly bornMs: number
  /** The newest ROWID before the send. */
  readonly rowId: number
  /** Milliseconds since 1970. */
  readonly at: number
}

export type Expectation = {
  readonly messageId: MessageId
  readonly handle: string
  /** What the rows are still to say, as `plain` writes it: a text with a URL may come in two rows. */
  readonly text: string
  /** Rows at or before this one are not it. */
  readonly afterRowId: number
  /** The dates that its rows may have, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

const EARLY_MS = 5_000
const LATE_MS = 600_000
/** A script runs for 38 s at most; later than this somebody typed it. */
const MISROUTED_MS = 60_000

export function noteText(identity: DatabaseIdentity, rowId: number, at: number): string {
  const note: SendNote = { inode: identity.inode, bornMs: identity.bornMs, rowId, at }
  return JSON.stringify(note)
}

/** When a note was written, in milliseconds since 1970; null for one that says nothing. */
export function noteAt(text: string | null): number | null {
  return readNote(text)?.at ?? null
}

function readNote(text: string | null): SendNote | null {
  if (text === null) return null
  try {
    // Written by noteText, of this version or an earlier one.
    const note = JSON.parse(text) as Partial<SendNote>
    const { inode, bornMs, rowId, at } = note
    if (typeof inode !== 'number' || typeof bornMs !== 'number') return null
    if (typeof rowId !== 'number' || typeof at !== 'number') return null
    return { inode, bornMs, rowId, at }
  } catch {
    return null
  }
}

/**
 * What to look for: by its note where that speaks of this database. Without a note (restored from a
 * back-up while it was queued) every row from its creation on may be it.
 */
export function expectationOf(
  { message, note }: Unsettled,
  identity: DatabaseIdentity,
): Expectation {
  const found = readNote(note)
  const isSame = found?.inode === identity.inode && found.bornMs === identity.bornMs
  return {
    messageId: message.id,
    handle: message.to.toLowerCase(),
    text: plain(message.text),
    afterRowId: found !== null && isSame ? found.rowId : 0,
    from: found === null ? message.createdAt : found.at - EARLY_MS,
    until: found === null ? Number.MAX_SAFE_INTEGER : found.at + LATE_MS,
  }
}

/** How a row fits: it says all that is left, the beginning of it, or something else. */
export type Fit = 'whole' | 'part' | null

export function fitOf(expectation: Expectation, row: MessageRow): Fit {
  if (peerOf(row)?.toLowerCase() !== expectation.handle) return null
  return fitOfText(expectation, row)
}

/** The same text on its way to somebody else just then: Messages sent it to the wrong chat. */
export function isMisrouted(expectation: Expectation, row: MessageRow): boolean {
  if (row.at === null || row.at > expectation.from + EARLY_MS + MISROUTED_MS) return false
  const peer = row.chat === null ? null : peerOf(row)?.toLowerCase()
  const isElsewhere = peer !== null && peer !== expectation.handle
  return isElsewhere && fitOfText(expectation, row) === 'whole'
}

/** macOS 26 may write a row for a send that goes nowhere: no chat, no text (imsg). */
export function isGhost(expectation: Expectation, row: MessageRow): boolean {
  const isBare = row.chat === null && plain(row.text ?? '') === ''
  return isBare && isOurs(expectation, row) && row.handle?.toLowerCase() === expectation.handle
}

function fitOfText(expectation: Expectation, row: MessageRow): Fit {
  if (!isOurs(expectation, row)) return null
  const text = plain(row.text ?? '')
  if (text === '') return null
  if (text === expectation.text) return 'whole'
  return expectation.text.startsWith(text) && HAS_URL.test(expectation.text) ? 'part' : null
}

function isOurs({ afterRowId, from, until }: Expectation, row: MessageRow): boolean {
  if (!row.isFromMe || !isMessage(row) || row.rowId <= afterRowId) return false
  return row.at === null || (row.at >= from && row.at <= until)
}

const HAS_URL = /https?:\/\/|www\./i

/** Text as it is compared: composed, lines ended by LF, without marks and outer white space. */
export function plain(text: string): string {
  return withoutMarks(text).normalize('NFC').replaceAll(/\r\n?/g, '\n').trim()
}
