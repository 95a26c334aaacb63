// Matches rows of chat.db with messages handed to Messages. A row is ours if it goes to the same handle,
// has the same text, and is dated around the point of no return; each row is matched once.

import type { MessageId } from '../../../domain/ids.ts'
import { dropOldest } from '../../../system/memoize.ts'
import { type LineEvent, notSent, type SentParts, type Settlement } from '../../driver.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { isSameConversation } from './chat-db.ts'
import {
  type Expectation,
  type Fit,
  fitOf,
  isMisrouted,
  keyOf,
  plain,
  postponed,
} from './expectation.ts'
import { stageOf, StatusTracker } from './status-tracker.ts'

export type RowMatch =
  /** The message's row, found after its send had returned; `insteadOf` is the ROWID of its earlier row that failed. */
  | (PartOf & { readonly kind: 'found'; readonly insteadOf: number | null })
  /** The row has an error, which may clear or be followed by a second row, or is a part that is still being sent. */
  | (PartOf & { readonly kind: 'failing' })
  /** Messages sent the message to another handle. */
  | (PartOf & { readonly kind: 'misrouted' })
  /** Its send is still under way and will return the outcome. */
  | { readonly kind: 'in_flight' }
  /** One more row of a message whose row is known. */
  | { readonly kind: 'more' }

type PartOf = Pick<Expectation, 'messageId' | 'part'>

type ExpectedMessage = {
  readonly expectation: Expectation
  /** The rest of the text, whose row is still to come. */
  readonly rest: string
  readonly isInFlight: boolean
  readonly row: MessageRow | null
}

/** The core hands over 1,000 unsettled messages at most. */
const EXPECTED_MAX = 2_000
const MATCHES_MAX = 5_000
const PREVIEW = 'com.apple.messages.URLBalloonProvider'
/** Messages commits a link's preview separately, up to two seconds later (imsg). */
const PREVIEW_LATE_MS = 5_000
const SENT_MAX = 20
/** No message stays unsettled for longer; a longer sleep is a step of the clock. */
const ASLEEP_MS_MAX = 7 * 86_400_000

/** Tries the message that is being sent first, then the oldest that the row fits. */
export class OwnMessages {
  readonly tracker = new StatusTracker()
  readonly multipart = new MultipartSends()
  readonly #expected = new Map<string, ExpectedMessage>()
  /** Matches by the row's guid. */
  readonly #matches = new Map<string, RowMatch>()
  /** Our last rows, to recognize the previews of their links. */
  #sent: readonly MessageRow[] = []

  /** True if a message is between its point of no return and its outcome. */
  get isInFlight(): boolean {
    return [...this.#expected.values()].some(({ isInFlight }) => isInFlight)
  }

  expect(expectation: Expectation, isInFlight: boolean): void {
    const expected = { expectation, rest: expectation.text, isInFlight, row: null }
    this.#expected.set(keyOf(expectation), expected)
    dropOldest(this.#expected, EXPECTED_MAX)
  }

  /** Called while Messages is still trying to send `row`: it may write a second row. */
  expectSecond(expectation: Expectation, row: MessageRow): void {
    this.#expected.set(keyOf(expectation), { expectation, rest: '', isInFlight: false, row })
    this.#remember(row, { kind: 'more' })
  }

  restore(row: MessageRow): void {
    this.#remember(row, { kind: 'more' })
  }

  /** Called when the send has returned: `match` reports rows that are found later. */
  finishSend(id: string, isSent: boolean): void {
    const expected = this.#expected.get(id)
    if (expected === undefined) return
    if (isSent && expected.rest === '') this.#expected.delete(id)
    else this.#expected.set(id, { ...expected, isInFlight: false })
  }

  /** Called if the message was not sent, or its failure was published. */
  forget(id: string): void {
    this.#expected.delete(id)
  }

  /** Called after the database was rebuilt: from now on, only the dates of rows count. */
  forgetRowIds(): void {
    for (const [id, expected] of this.#expected) {
      const expectation = { ...expected.expectation, afterRowId: 0 }
      this.#expected.set(id, { ...expected, expectation })
    }
  }

  /** Called after the Mac slept for `ms`: rows of messages in transit are dated later by as much. */
  sleep(ms: number): void {
    for (const [id, expected] of this.#expected) {
      const expectation = postponed(expected.expectation, Math.min(ms, ASLEEP_MS_MAX))
      this.#expected.set(id, { ...expected, expectation })
    }
  }

  /** The expected row of a message, after sleeps of the Mac; null if none is expected. */
  expectationOf(id: string): Expectation | null {
    return this.#expected.get(id)?.expectation ?? null
  }

  rowOf(id: string): MessageRow | null {
    return this.#expected.get(id)?.row ?? null
  }

  /** The match of a row; null if it was typed on the device. Finds each message only once. */
  match(row: MessageRow): RowMatch | null {
    const match = this.peek(row)
    if (match?.kind === 'found' || match?.kind === 'misrouted') this.ignore(row)
    return match
  }

  /** Like `match`, for a send that looks for its own row and reports no other. */
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
      const { messageId, part } = expectation
      const match: RowMatch = { kind: 'misrouted', messageId, part }
      this.#matches.set(row.guid, match)
      this.forget(keyOf(expectation))
      return match
    }
    return this.#isPreview(row) ? { kind: 'more' } : null
  }

  /** Replaces a failed row with the row that Messages wrote when it tried again. */
  replace(id: string, row: MessageRow): void {
    const expected = this.#expected.get(id)
    if (expected === undefined) return
    this.#expected.set(id, { ...expected, row })
    this.#remember(row, { kind: 'in_flight' })
  }

  isMatched(row: MessageRow): boolean {
    return this.#matches.has(row.guid)
  }

  /** Marks a row that a send of ours caused but that is not its row: a ghost, or a misrouted one. */
  ignore(row: MessageRow): void {
    this.#matches.set(row.guid, { kind: 'more' })
  }

  #take(expected: ExpectedMessage, row: MessageRow): RowMatch | null {
    const { expectation, rest, isInFlight } = expected
    const { messageId, part } = expectation
    const insteadOf = this.#takeSecond(expected, row)
    if (insteadOf !== null) return { kind: 'found', messageId, part, insteadOf }
    const fit = this.#fit(expected, row)
    if (fit === null) return null
    const isFirst = expected.row === null
    if (isFirst && !isInFlight && isOpen(row, part)) return { kind: 'failing', messageId, part }
    const left = fit === 'whole' ? '' : plain(rest.slice(plain(row.text ?? '').length))
    const next = { ...expected, rest: left, row: expected.row ?? row }
    this.#expected.set(keyOf(expectation), next)
    if (!isFirst) return { kind: 'more' }
    return isInFlight ? { kind: 'in_flight' } : { kind: 'found', messageId, part, insteadOf: null }
  }

  /** Fit of the row to the remaining text; null also if a message that is being sent is waiting for the row. */
  #fit({ expectation, rest, isInFlight, row: known }: ExpectedMessage, row: MessageRow): Fit {
    if (expectation.file !== undefined && known !== null) return null
    const fit = fitOf({ ...expectation, text: rest }, row)
    return fit !== null && !isInFlight && this.#isAwaited(row) ? null : fit
  }

  /**
   * Takes a row without an error in place of a failed one, once the send has returned (imessage-max saw both rows for
   * one send). Returns the ROWID of the failed row, or null.
   */
  #takeSecond(expected: ExpectedMessage, row: MessageRow): number | null {
    const { expectation, isInFlight, row: first } = expected
    if (isInFlight || first === null || row.rowId <= first.rowId) return null
    const hasFailed = first.state.error !== 0 || this.tracker.hasError(first.rowId)
    const isClean = row.state.error === 0 && fitOf(expectation, row) === 'whole'
    if (!hasFailed || !isClean || this.#isAwaited(row)) return null
    this.#expected.set(keyOf(expectation), { ...expected, row })
    return first.rowId
  }

  /** True if the row may be the first row of a message that is being sent and has the same text. */
  #isAwaited(row: MessageRow): boolean {
    return [...this.#expected.values()].some(
      ({ expectation, isInFlight, row: first }) =>
        isInFlight && first === null && fitOf(expectation, row) === 'whole',
    )
  }

  #isPreview(row: MessageRow): boolean {
    if (row.balloon !== PREVIEW) return false
    return this.#sent.some((sent) => {
      const lateMs = (row.at ?? sent.at ?? 0) - (sent.at ?? row.at ?? 0)
      const isNear = lateMs >= 0 && lateMs <= PREVIEW_LATE_MS
      return isNear && row.rowId > sent.rowId && isSameConversation(sent, row)
    })
  }

  #remember(row: MessageRow, match: RowMatch): void {
    this.#matches.set(row.guid, match)
    this.#sent = [...this.#sent, row].slice(-SENT_MAX)
    dropOldest(this.#matches, MATCHES_MAX)
  }
}

/** True if the row has an error, or is a part that is still being sent. */
function isOpen({ state }: MessageRow, part: number | undefined): boolean {
  return state.error !== 0 || (part !== undefined && stageOf(state) === 'held')
}

type Accepted = Extract<Settlement, { readonly outcome: 'accepted' }>

export class MultipartSend {
  readonly #parts: readonly Expectation[]
  readonly #proven = new Map<number, Accepted>()
  /** Index of the last part handed to Messages; null if that is unknown after a crash. */
  #lastHandedOver: number | null

  constructor(parts: readonly Expectation[], lastHandedOver: number | null) {
    this.#parts = parts
    this.#lastHandedOver = lastHandedOver
  }

  /** Called for each part in order, when all earlier parts are settled. */
  handOver(part: number): void {
    this.#lastHandedOver = part
  }

  prove(part: number, accepted: Accepted): void {
    this.#proven.set(part, accepted)
  }

  /** The message's outcome, if a part ended with `outcome` and no further part is handed over. */
  endWith(outcome: Settlement): Settlement {
    const [only, ...others] = this.#parts
    if (others.length === 0 && only?.file === undefined) {
      return outcome.outcome === 'accepted' ? (this.#proven.get(0) ?? outcome) : outcome
    }
    const sent = this.#sentFiles
    switch (outcome.outcome) {
      case 'accepted':
        return this.#endProven()
      case 'held':
        return { ...outcome, partGuids: this.#guids }
      case 'not_sent':
        if (this.#proven.size === 0) return outcome
        return { outcome: 'partly_sent', reason: outcome.reason, sent }
      case 'unknown':
        return { ...outcome, sent }
      case 'partly_sent':
        return outcome
    }
  }

  /** The last part gives the message its guid. */
  #endProven(): Settlement {
    const last = this.#parts.length - 1
    const accepted = this.#proven.get(last)
    if (accepted !== undefined && this.#proven.size === this.#parts.length) {
      return { ...accepted, partGuids: this.#guids.filter((guid) => guid !== accepted.guid) }
    }
    const sent = this.#sentFiles
    // After a crash, a later part may have been handed over: its row may still come.
    if (this.#lastHandedOver === null) return { outcome: 'unknown', reason: 'part_unproven', sent }
    return { outcome: 'partly_sent', reason: 'interrupted', sent }
  }

  get #guids(): readonly string[] {
    return [...this.#proven.values()].flatMap(({ guid }) => guid ?? [])
  }

  get #sentFiles(): SentParts {
    return this.#parts.flatMap(({ file }, part) =>
      file !== undefined && this.#proven.has(part) ? [file.id] : [],
    )
  }
}

const OPEN_MAX = 2_000

export class MultipartSends {
  readonly #open = new Map<MessageId, MultipartSend>()

  keep(messageId: MessageId, send: MultipartSend): void {
    this.#open.set(messageId, send)
    dropOldest(this.#open, OPEN_MAX)
  }

  /** The message's outcome after one of its parts ended; null if the message is settled already. */
  end(messageId: MessageId, part: number, outcome: Settlement): Settlement | null {
    const send = this.#open.get(messageId)
    if (send === undefined || outcome.outcome === 'held') return null
    if (outcome.outcome === 'accepted') send.prove(part, outcome)
    const end = send.endWith(outcome)
    if (end.outcome !== 'unknown') this.#open.delete(messageId)
    return end
  }
}

/** The event for a matched row of ours; null if its send returns the outcome, or nothing is new. */
export function settledEvent(
  { tracker, multipart }: OwnMessages,
  match: RowMatch,
  row: MessageRow,
  now: number,
): LineEvent | null {
  if (match.kind === 'misrouted')
    return endEvent(multipart, match, { ...notSent('misrouted', 'message'), strayGuid: row.guid })
  if (match.kind !== 'found') return null
  if (match.insteadOf !== null) tracker.forget(match.insteadOf)
  return endEvent(multipart, match, tracker.settle(row, now))
}

/** The event for a message, or a part, whose own row proves that it was not sent. */
export function failedEvent(sends: MultipartSends, of: PartOf, reason: string): LineEvent | null {
  return endEvent(sends, of, notSent(reason, 'message'))
}

function endEvent(
  sends: MultipartSends,
  { messageId, part }: PartOf,
  outcome: Settlement,
): LineEvent | null {
  const end = part === undefined ? outcome : sends.end(messageId, part, outcome)
  return end === null ? null : { type: 'settled', messageId, outcome: end }
}
