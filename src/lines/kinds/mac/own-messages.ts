// Rows of chat.db that belong to messages handed to Messages. A row is ours if it goes to the
// same handle, has the same text, and is dated around the point of no return; each row is matched once.

import type { MessageId } from '../../../domain/ids.ts'
import type { Unsettled } from '../../../domain/message.ts'
import { withoutMarks } from './attributed-body.ts'
import type { DatabaseIdentity } from './chat-db-open.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { isMessage, peerOf } from './classify.ts'

/** Note of a send at its point of no return. */
export type SendNote = {
  readonly inode: number
  readonly bornMs: number
  /** Newest ROWID before the send. */
  readonly rowId: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Rows that a send is expected to cause. */
export type Expectation = {
  readonly messageId: MessageId
  readonly handle: string
  /** In the form of `plain`. A text with a URL may come in two rows. */
  readonly text: string
  /** Its rows come after this one. */
  readonly afterRowId: number
  /** Dates that its rows may have, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

const EARLY_MS = 5_000
const LATE_MS = 600_000
/** A script runs for 38 s at most; a row after that was typed on the device. */
const MISROUTED_MS = 60_000

export function noteText(identity: DatabaseIdentity, rowId: number, at: number): string {
  const note: SendNote = { inode: identity.inode, bornMs: identity.bornMs, rowId, at }
  return JSON.stringify(note)
}

/** Null for no note and for one of an unknown form. */
export function readNote(text: string | null): SendNote | null {
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
 * Expectation of a message by its note, where that is of this database. Without a note (restored from a
 * backup while it was queued), every row from the creation of the message on may be its row.
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

/** `whole`: the row has all the text that is left; `part`: its beginning; null: another text. */
export type Fit = 'whole' | 'part' | null

export function fitOf(expectation: Expectation, row: MessageRow): Fit {
  if (peerOf(row)?.toLowerCase() !== expectation.handle) return null
  return fitOfText(expectation, row)
}

/** The same text to another handle at that time: Messages sent it to the wrong chat. */
export function isMisrouted(expectation: Expectation, row: MessageRow): boolean {
  if (row.at === null || row.at > expectation.from + EARLY_MS + MISROUTED_MS) return false
  const peer = row.chat === null ? null : peerOf(row)?.toLowerCase()
  const isElsewhere = peer !== null && peer !== expectation.handle
  return isElsewhere && fitOfText(expectation, row) === 'whole'
}

/** macOS 26 may write a row for a send that goes nowhere: no chat, no text (imsg). */
export function isGhost(expectation: Expectation, row: MessageRow): boolean {
  const isBare = row.chat === null && plain(row.text ?? '') === ''
  return isBare && isPossible(expectation, row) && row.handle?.toLowerCase() === expectation.handle
}

function fitOfText(expectation: Expectation, row: MessageRow): Fit {
  if (!isPossible(expectation, row)) return null
  const text = plain(row.text ?? '')
  if (text === '') return null
  if (text === expectation.text) return 'whole'
  return expectation.text.startsWith(text) && HAS_URL.test(expectation.text) ? 'part' : null
}

function isPossible({ afterRowId, from, until }: Expectation, row: MessageRow): boolean {
  if (!row.isFromMe || !isMessage(row) || row.rowId <= afterRowId) return false
  return row.at === null || (row.at >= from && row.at <= until)
}

const HAS_URL = /https?:\/\/|www\./i

/** Text in the form that is compared: composed, lines ended by LF, no marks, no outer white space. */
function plain(text: string): string {
  return withoutMarks(text).normalize('NFC').replaceAll(/\r\n?/g, '\n').trim()
}

/** Relation of a row to the messages that were handed to Messages. */
export type RowMatch =
  /**
   * Row of this message, found after its send had ended; `insteadOf` is the ROWID of a row of it that
   * failed before.
   */
  | {
      readonly kind: 'found'
      readonly messageId: MessageId
      readonly insteadOf: number | null
    }
  /** It has an error, which may clear or be followed by a second row. */
  | { readonly kind: 'failing'; readonly messageId: MessageId }
  /** Messages sent this message to another handle. */
  | { readonly kind: 'misrouted'; readonly messageId: MessageId }
  /** Its send is still under way and will return the outcome. */
  | { readonly kind: 'in_flight' }
  /** A further row of a message whose row is known. */
  | { readonly kind: 'more' }

type ExpectedMessage = {
  readonly expectation: Expectation
  /** Rest of the text that is still to come. */
  readonly rest: string
  readonly isInFlight: boolean
  /** Row of the message, once it is known. */
  readonly row: MessageRow | null
}

/** The core hands over 1,000 unsettled messages at most. */
const EXPECTED_MAX = 2_000
const MATCHES_MAX = 5_000
const PREVIEW = 'com.apple.messages.URLBalloonProvider'
/** Messages commits the preview of a link separately, up to two seconds later (imsg). */
const PREVIEW_LATE_MS = 5_000
const SENT_MAX = 20

/** Matches rows with messages: the message under way first, then the oldest that the row fits. */
export class OwnMessages {
  readonly #hasError: (rowId: number) => boolean
  readonly #expected = new Map<MessageId, ExpectedMessage>()
  /** By the guids of the rows. */
  readonly #matches = new Map<string, RowMatch>()
  /** Last rows that are ours, for the previews of their links. */
  #sent: readonly MessageRow[] = []

  /** `hasError` answers for the rows that are tracked. */
  constructor(hasError: (rowId: number) => boolean) {
    this.#hasError = hasError
  }

  /** True while a message is between its point of no return and its outcome. */
  get isInFlight(): boolean {
    return [...this.#expected.values()].some(({ isInFlight }) => isInFlight)
  }

  expect(expectation: Expectation, isInFlight: boolean): void {
    const { messageId, text } = expectation
    this.#expected.set(messageId, { expectation, rest: text, isInFlight, row: null })
    dropOldest(this.#expected, EXPECTED_MAX)
  }

  /** Expects a second row for a message that Messages is still trying to send by `row`. */
  expectSecond(expectation: Expectation, row: MessageRow): void {
    this.#expected.set(expectation.messageId, { expectation, rest: '', isInFlight: false, row })
    this.#remember(row, { kind: 'more' })
  }

  /** Remembers a row of ours from before this run. */
  restore(row: MessageRow): void {
    this.#remember(row, { kind: 'more' })
  }

  /** The send has returned: rows found later are reported by `match`. */
  finishSend(id: MessageId, isSent: boolean): void {
    const expected = this.#expected.get(id)
    if (expected === undefined) return
    if (isSent && expected.rest === '') this.#expected.delete(id)
    else this.#expected.set(id, { ...expected, isInFlight: false })
  }

  /** Expects no more rows: the message did not leave, or its failure was published. */
  forget(id: MessageId): void {
    this.#expected.delete(id)
  }

  /** Of a rebuilt database, only dates count and no ROWIDs. */
  forgetRowIds(): void {
    for (const [id, expected] of this.#expected) {
      const expectation = { ...expected.expectation, afterRowId: 0 }
      this.#expected.set(id, { ...expected, expectation })
    }
  }

  rowOf(id: MessageId): MessageRow | null {
    return this.#expected.get(id)?.row ?? null
  }

  /** Match of a row; null for one that was typed on the device. A message is found once. */
  match(row: MessageRow): RowMatch | null {
    const match = this.peek(row)
    if (match?.kind === 'found' || match?.kind === 'misrouted') this.ignore(row)
    return match
  }

  /** The same for a send, which looks for its own row and reports no other. */
  peek(row: MessageRow): RowMatch | null {
    if (!row.isFromMe) return null
    const known = this.#matches.get(row.guid)
    if (known !== undefined) return known
    for (const expected of this.#expected.values()) {
      const match = this.#take(expected, row)
      if (match?.kind === 'failing') return match
      if (match === null) continue
      this.#remember(row, match)
      return match
    }
    return this.#matchStray(row)
  }

  #matchStray(row: MessageRow): RowMatch | null {
    for (const { expectation, isInFlight, row: known } of this.#expected.values()) {
      if (isInFlight || known !== null || !isMisrouted(expectation, row)) continue
      const { messageId } = expectation
      const match: RowMatch = { kind: 'misrouted', messageId }
      this.#matches.set(row.guid, match)
      this.forget(messageId)
      return match
    }
    return this.#isPreview(row) ? { kind: 'more' } : null
  }

  /** Replaces a failed row by a second one: Messages tried again by itself. */
  replace(id: MessageId, row: MessageRow): void {
    const expected = this.#expected.get(id)
    if (expected === undefined) return
    this.#expected.set(id, { ...expected, row })
    this.#remember(row, { kind: 'in_flight' })
  }

  isMatched(row: MessageRow): boolean {
    return this.#matches.has(row.guid)
  }

  /** Ignores a row that a message of ours caused and that is not its row: a ghost, or a misrouted one. */
  ignore(row: MessageRow): void {
    this.#matches.set(row.guid, { kind: 'more' })
  }

  #take(expected: ExpectedMessage, row: MessageRow): RowMatch | null {
    const { expectation, rest, isInFlight } = expected
    const { messageId } = expectation
    const insteadOf = this.#takeSecond(expected, row)
    if (insteadOf !== null) return { kind: 'found', messageId, insteadOf }
    const fit = this.#fit(expected, row)
    if (fit === null) return null
    const isFirst = expected.row === null
    if (isFirst && !isInFlight && row.state.error !== 0) return { kind: 'failing', messageId }
    const left = fit === 'whole' ? '' : plain(rest.slice(plain(row.text ?? '').length))
    this.#expected.set(messageId, { ...expected, rest: left, row: expected.row ?? row })
    if (!isFirst) return { kind: 'more' }
    return isInFlight ? { kind: 'in_flight' } : { kind: 'found', messageId, insteadOf: null }
  }

  /** Fit of the rest of a message; null also for the awaited row of the message under way. */
  #fit({ expectation, rest, isInFlight }: ExpectedMessage, row: MessageRow): Fit {
    const fit = fitOf({ ...expectation, text: rest }, row)
    return fit !== null && !isInFlight && this.#isAwaited(row) ? null : fit
  }

  /**
   * Takes a row without an error after a failed one, once the send has returned (imessage-max saw both
   * rows for one send). Returns the ROWID of the failed row, or null.
   */
  #takeSecond(expected: ExpectedMessage, row: MessageRow): number | null {
    const { expectation, isInFlight, row: first } = expected
    if (isInFlight || first === null || row.rowId <= first.rowId) return null
    const hasFailed = first.state.error !== 0 || this.#hasError(first.rowId)
    const isClean = row.state.error === 0 && fitOf(expectation, row) === 'whole'
    if (!hasFailed || !isClean || this.#isAwaited(row)) return null
    this.#expected.set(expectation.messageId, { ...expected, row })
    return first.rowId
  }

  /** True for the first row of a message under way: the same text, sent once more. */
  #isAwaited(row: MessageRow): boolean {
    return [...this.#expected.values()].some(
      ({ expectation, isInFlight, row: first }) =>
        isInFlight && first === null && fitOf(expectation, row) === 'whole',
    )
  }

  /** Preview of a link in a message of ours, in a row of its own. */
  #isPreview(row: MessageRow): boolean {
    if (row.balloon !== PREVIEW) return false
    return this.#sent.some((sent) => {
      const lateMs = (row.at ?? 0) - (sent.at ?? 0)
      const isNear = lateMs >= 0 && lateMs <= PREVIEW_LATE_MS
      return isNear && row.rowId > sent.rowId && peerOf(sent) === peerOf(row)
    })
  }

  #remember(row: MessageRow, match: RowMatch): void {
    this.#matches.set(row.guid, match)
    this.#sent = [...this.#sent, row].slice(-SENT_MAX)
    dropOldest(this.#matches, MATCHES_MAX)
  }
}

function dropOldest<K>(map: Map<K, unknown>, max: number): void {
  const oldest = map.keys().next()
  if (map.size > max && oldest.done !== true) map.delete(oldest.value)
}
