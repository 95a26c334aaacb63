// Messages with files: each file, and then the text, is a message of its own in Messages, proven by its own
// row. Parts go one after the other, so that nothing of the rest has left before a part is proven.

import type { MessageId } from '../../../domain/ids.ts'
import type { LineEvent, SentParts, Settlement } from '../../driver.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { Expectation } from './expectation.ts'
import type { RowMatch } from './own-messages.ts'
import type { StatusTracker } from './status-tracker.ts'

type Accepted = Extract<Settlement, { readonly outcome: 'accepted' }>

/** The parts of one message, as far as they are proven. */
export class PartedSend {
  readonly #parts: readonly Expectation[]
  readonly #proven = new Map<number, Accepted>()
  /** Place of the last part that was handed to Messages; null where a crash leaves that open. */
  #lastHandedOver: number | null

  constructor(parts: readonly Expectation[], lastHandedOver: number | null) {
    this.#parts = parts
    this.#lastHandedOver = lastHandedOver
  }

  /** A part is handed to Messages, after which no earlier one is open. */
  handOver(part: number): void {
    this.#lastHandedOver = part
  }

  prove(part: number, accepted: Accepted): void {
    this.#proven.set(part, accepted)
  }

  /** End of the message, where a part has ended so and no further one is handed over. */
  endWith(outcome: Settlement): Settlement {
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

/** Messages with files whose end is not known yet. */
export class OpenParts {
  readonly #open = new Map<MessageId, PartedSend>()

  keep(messageId: MessageId, send: PartedSend): void {
    this.#open.set(messageId, send)
    const oldest = this.#open.keys().next()
    if (this.#open.size > OPEN_MAX && oldest.done !== true) this.#open.delete(oldest.value)
  }

  /** End of the message by one of its parts; null where that is known already. */
  end(messageId: MessageId, part: number, outcome: Settlement): Settlement | null {
    const send = this.#open.get(messageId)
    if (send === undefined || outcome.outcome === 'held') return null
    if (outcome.outcome === 'accepted') send.prove(part, outcome)
    const end = send.endWith(outcome)
    if (end.outcome !== 'unknown') this.#open.delete(messageId)
    return end
  }
}

type MatchTools = { readonly tracker: StatusTracker; readonly parts: OpenParts }

/** Event for a matched row of ours; null where its send returns the outcome, or nothing is new. */
export function settledEvent(
  { tracker, parts }: MatchTools,
  match: RowMatch,
  row: MessageRow,
  now: number,
): LineEvent | null {
  switch (match.kind) {
    case 'found': {
      if (match.insteadOf !== null) tracker.forget(match.insteadOf)
      return endEvent(parts, match, tracker.settle(row, now))
    }
    case 'misrouted':
      return failedEvent(parts, match, 'misrouted')
    case 'failing':
    case 'in_flight':
    case 'more':
      return null
  }
}

type PartOf = { readonly messageId: MessageId; readonly part?: number | undefined }

/** End of a message, or of a part of one, whose own row proves that it did not leave. */
export function failedEvent(parts: OpenParts, of: PartOf, reason: string): LineEvent | null {
  return endEvent(parts, of, { outcome: 'not_sent', reason, blame: 'message' })
}

function endEvent(
  parts: OpenParts,
  { messageId, part }: PartOf,
  outcome: Settlement,
): LineEvent | null {
  const end = part === undefined ? outcome : parts.end(messageId, part, outcome)
  return end === null ? null : { type: 'settled', messageId, outcome: end }
}
