import type { MessageId } from '../../domain/ids.ts'
import type { MessageRow } from './chat-db-rows.ts'
import { fitOf, plain, type Expectation } from './expectations.ts'

/** What a row is to the messages that were given to Messages. */
export type Claim =
  /** The row of this message, found when nobody was waiting for it any more. */
  | { readonly claim: 'found'; readonly messageId: MessageId }
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

/** Which rows of chat.db are ours: each is taken once, by the oldest message that it fits. */
export class OwnMessages {
  readonly #waiting = new Map<MessageId, Waiting>()
  /** The guids of rows that are taken. */
  readonly #claimed = new Map<string, Claim>()

  /** Whether a message is between its point of no return and its outcome. */
  get isInFlight(): boolean {
    return [...this.#waiting.values()].some(({ isInFlight }) => isInFlight)
  }

  expect(expectation: Expectation, isInFlight: boolean): void {
    const { messageId, text } = expectation
    this.#waiting.set(messageId, { expectation, rest: text, isInFlight, row: null })
    dropOldest(this.#waiting, WAITING_MAX)
  }

  /** The sender has answered: what is found of the message later is told by whoever finds it. */
  land(id: MessageId): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    if (waiting.row !== null && waiting.rest === '') this.#waiting.delete(id)
    else this.#waiting.set(id, { ...waiting, isInFlight: false })
  }

  /** Nothing of the message will come: it did not leave, or somebody settled it. */
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

  /** Whose row it is; null where it is nobody's: then somebody typed it on the device. */
  claim(row: MessageRow): Claim | null {
    if (!row.isFromMe) return null
    const known = this.#claimed.get(row.guid)
    if (known !== undefined) return known.claim === 'found' ? { claim: 'more' } : known
    for (const waiting of this.#waiting.values()) {
      const claim = this.#take(waiting, row)
      if (claim === null) continue
      this.#remember(row.guid, claim)
      return claim
    }
    return null
  }

  /** A second row for a message whose first one failed: Messages tried again by itself. */
  replace(id: MessageId, row: MessageRow): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.set(id, { ...waiting, row })
    this.#remember(row.guid, { claim: 'in_flight' })
  }

  isClaimed(row: MessageRow): boolean {
    return this.#claimed.has(row.guid)
  }

  /** A row that came of a message of ours and is not it: a ghost, or one to somebody else. */
  swallow(row: MessageRow): void {
    this.#remember(row.guid, { claim: 'more' })
  }

  #take(waiting: Waiting, row: MessageRow): Claim | null {
    const { expectation, rest, isInFlight } = waiting
    const id = expectation.messageId
    const fit = fitOf({ ...expectation, text: rest }, row)
    if (fit === null) return null
    const isFirst = waiting.row === null
    const left = fit === 'whole' ? '' : plain(rest.slice(plain(row.text ?? '').length))
    if (left === '' && !isInFlight) this.#waiting.delete(id)
    else this.#waiting.set(id, { ...waiting, rest: left, row: waiting.row ?? row })
    if (!isFirst) return { claim: 'more' }
    return isInFlight ? { claim: 'in_flight' } : { claim: 'found', messageId: id }
  }

  #remember(guid: string, claim: Claim): void {
    this.#claimed.set(guid, claim)
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
