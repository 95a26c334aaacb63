import type { MessageId } from '../../../domain/ids.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { peerOf } from './classify.ts'
import { fitOf, isMisrouted, plain, type Expectation, type Fit } from './expectations.ts'

/** What a row is to the messages that were given to Messages. */
export type Claim =
  /**
   * The row of this message, found when nobody was waiting for it any more; `insteadOf` is the ROWID of
   * one that failed before it.
   */
  | {
      readonly claim: 'found'
      readonly messageId: MessageId
      readonly insteadOf: number | null
    }
  /** It has an error, which may clear or be followed by a second row: nothing is said of it yet. */
  | { readonly claim: 'ill'; readonly messageId: MessageId }
  /** Messages sent this one to somebody else. */
  | { readonly claim: 'misrouted'; readonly messageId: MessageId }
  /** Its sender is still at it and will tell. */
  | { readonly claim: 'in_flight' }
  /** A further row of a message that is known already. */
  | { readonly claim: 'more' }

type Waiting = {
  readonly expectation: Expectation
  /** What is still to come of its text. */
  readonly rest: string
  readonly isInFlight: boolean
  /** The row that is the message's, once it is known. */
  readonly row: MessageRow | null
}

/** The core hands over 1,000 unsettled messages at most. */
const WAITING_MAX = 2_000
const CLAIMS_MAX = 5_000
const PREVIEW = 'com.apple.messages.URLBalloonProvider'
/** Messages commits the preview of a link by itself, up to two seconds later (imsg). */
const PREVIEW_LATE_MS = 5_000
const SENT_MAX = 20

/**
 * Which rows of chat.db are ours: each is taken once, by the message under way where it fits that one,
 * else by the oldest that it fits.
 */
export class OwnMessages {
  readonly #isIll: (rowId: number) => boolean
  readonly #waiting = new Map<MessageId, Waiting>()
  /** The guids of rows that are taken. */
  readonly #claimed = new Map<string, Claim>()
  /** The last rows that are ours, for the previews of their links. */
  #sent: readonly MessageRow[] = []

  /** `isIll` says whether a row that is followed has an error now. */
  constructor(isIll: (rowId: number) => boolean) {
    this.#isIll = isIll
  }

  /** Whether a message is between its point of no return and its outcome. */
  get isInFlight(): boolean {
    return [...this.#waiting.values()].some(({ isInFlight }) => isInFlight)
  }

  expect(expectation: Expectation, isInFlight: boolean): void {
    const { messageId, text } = expectation
    this.#waiting.set(messageId, { expectation, rest: text, isInFlight, row: null })
    dropOldest(this.#waiting, WAITING_MAX)
  }

  /** Messages has this one and is still trying: a second row may take the place of `row`. */
  expectSecond(expectation: Expectation, row: MessageRow): void {
    this.#waiting.set(expectation.messageId, { expectation, rest: '', isInFlight: false, row })
    this.#remember(row, { claim: 'more' })
  }

  /** A row that is known to be ours since before this life of the line. */
  recall(row: MessageRow): void {
    this.#remember(row, { claim: 'more' })
  }

  /** The sender has answered: what is found of the message later is told by whoever finds it. */
  land(id: MessageId, isSent: boolean): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    if (isSent && waiting.rest === '') this.#waiting.delete(id)
    else this.#waiting.set(id, { ...waiting, isInFlight: false })
  }

  /** Nothing of the message will come: it did not leave, or its failure was told. */
  forget(id: MessageId): void {
    this.#waiting.delete(id)
  }

  /** The database was rebuilt: its ROWIDs say nothing any more, only dates do. */
  rebase(): void {
    for (const [id, waiting] of this.#waiting) {
      const expectation = { ...waiting.expectation, afterRowId: 0 }
      this.#waiting.set(id, { ...waiting, expectation })
    }
  }

  rowOf(id: MessageId): MessageRow | null {
    return this.#waiting.get(id)?.row ?? null
  }

  /**
   * Whose row it is; null where it is nobody's: then somebody typed it on the device. What is found is
   * said once, to whoever tells it.
   */
  claim(row: MessageRow): Claim | null {
    const claim = this.glimpse(row)
    if (claim?.claim === 'found' || claim?.claim === 'misrouted') this.swallow(row)
    return claim
  }

  /** The same for a sender, who waits for its own row and tells nothing of the others. */
  glimpse(row: MessageRow): Claim | null {
    if (!row.isFromMe) return null
    const known = this.#claimed.get(row.guid)
    if (known !== undefined) return known
    for (const waiting of this.#waiting.values()) {
      const claim = this.#take(waiting, row)
      if (claim?.claim === 'ill') return claim
      if (claim === null) continue
      this.#remember(row, claim)
      return claim
    }
    return this.#claimStray(row)
  }

  #claimStray(row: MessageRow): Claim | null {
    for (const { expectation, isInFlight, row: known } of this.#waiting.values()) {
      if (isInFlight || known !== null || !isMisrouted(expectation, row)) continue
      const { messageId } = expectation
      const claim: Claim = { claim: 'misrouted', messageId }
      this.#claimed.set(row.guid, claim)
      this.forget(messageId)
      return claim
    }
    return this.#isPreview(row) ? { claim: 'more' } : null
  }

  /** A second row for a message whose first one failed: Messages tried again by itself. */
  replace(id: MessageId, row: MessageRow): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.set(id, { ...waiting, row })
    this.#remember(row, { claim: 'in_flight' })
  }

  isClaimed(row: MessageRow): boolean {
    return this.#claimed.has(row.guid)
  }

  /** A row that came of a message of ours and is not it: a ghost, or one to somebody else. */
  swallow(row: MessageRow): void {
    this.#claimed.set(row.guid, { claim: 'more' })
  }

  #take(waiting: Waiting, row: MessageRow): Claim | null {
    const { expectation, rest, isInFlight } = waiting
    const { messageId } = expectation
    const insteadOf = this.#takeSecond(waiting, row)
    if (insteadOf !== null) return { claim: 'found', messageId, insteadOf }
    const fit = this.#fit(waiting, row)
    if (fit === null) return null
    const isFirst = waiting.row === null
    if (isFirst && !isInFlight && row.state.error !== 0) return { claim: 'ill', messageId }
    const left = fit === 'whole' ? '' : plain(rest.slice(plain(row.text ?? '').length))
    this.#waiting.set(messageId, { ...waiting, rest: left, row: waiting.row ?? row })
    if (!isFirst) return { claim: 'more' }
    return isInFlight ? { claim: 'in_flight' } : { claim: 'found', messageId, insteadOf: null }
  }

  /** How the row fits what is left of a message; not at all where it is that of one under way. */
  #fit({ expectation, rest, isInFlight }: Waiting, row: MessageRow): Fit {
    const fit = fitOf({ ...expectation, text: rest }, row)
    return fit !== null && !isInFlight && this.#isAwaited(row) ? null : fit
  }

  /**
   * Takes a clean row after one that failed, when the sender has answered already (imessage-max saw
   * both rows for one send); the ROWID of the one that failed, or null.
   */
  #takeSecond(waiting: Waiting, row: MessageRow): number | null {
    const { expectation, isInFlight, row: first } = waiting
    if (isInFlight || first === null || row.rowId <= first.rowId) return null
    const hasFailed = first.state.error !== 0 || this.#isIll(first.rowId)
    const isClean = row.state.error === 0 && fitOf(expectation, row) === 'whole'
    if (!hasFailed || !isClean || this.#isAwaited(row)) return null
    this.#waiting.set(expectation.messageId, { ...waiting, row })
    return first.rowId
  }

  /** Whether it is the first row of a message that is under way: the same text, sent once more. */
  #isAwaited(row: MessageRow): boolean {
    return [...this.#waiting.values()].some(
      ({ expectation, isInFlight, row: first }) =>
        isInFlight && first === null && fitOf(expectation, row) === 'whole',
    )
  }

  /** The preview of a link in a message of ours, in a row of its own. */
  #isPreview(row: MessageRow): boolean {
    if (row.balloon !== PREVIEW) return false
    return this.#sent.some((sent) => {
      const lateMs = (row.at ?? 0) - (sent.at ?? 0)
      const isNear = lateMs >= 0 && lateMs <= PREVIEW_LATE_MS
      return isNear && row.rowId > sent.rowId && peerOf(sent) === peerOf(row)
    })
  }

  #remember(row: MessageRow, claim: Claim): void {
    this.#claimed.set(row.guid, claim)
    this.#sent = [...this.#sent, row].slice(-SENT_MAX)
    dropOldest(this.#claimed, CLAIMS_MAX)
  }
}

function dropOldest<K>(map: Map<K, unknown>, max: number): void {
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
