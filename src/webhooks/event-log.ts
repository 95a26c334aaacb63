import { RelayError, invalidRequest } from '../domain/errors.ts'
import { parseId } from '../domain/ids.ts'
import { LATEST, OLDEST } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import {
  eventAt,
  findEvent,
  listEvents,
  newestEvent,
  type EventFilter,
  type StoredEvent,
} from '../storage/events.ts'
import { partsOf } from '../storage/message-parts.ts'
import { findMessage } from '../storage/messages.ts'
import { EVENTS_KEPT_MS } from '../storage/retention.ts'
import { firstSeqSince } from '../storage/seq-by-time.ts'
import { nextTurn, type Clock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import { Signal } from '../system/signal.ts'
import { payloadOf } from './payload.ts'
import type { DeliverySignals } from './publish.ts'

export type EventBatch = {
  /** `body` is the JSON text that webhooks receive. */
  readonly events: readonly (Pick<StoredEvent, 'id' | 'name' | 'createdAt'> & { body: string })[]
  /** The `after` value that continues behind this batch. */
  readonly position: string
  readonly hasMore: boolean
}

type EventReading = {
  /** The seq up to which the reader has everything. */
  readonly after: number
  /** Called for each step, because what a reader may see changes; null ends the reading. */
  readonly filter: () => EventFilter | null
  readonly limit: number
  /** Time without events after which an empty batch is sent. */
  readonly silenceMs: number
}

/**
 * All events in commit order, for any number of readers, each at its own pace. Memory holds only each reader's
 * position. Seqs have no gaps and are never reused, because the newest event is never deleted: a reader that
 * continues behind an event misses none, whatever their ids.
 */
export class EventLog {
  readonly #db: Db
  readonly #clock: Core['clock']
  readonly #callerClock: Clock
  readonly #signals: DeliverySignals

  constructor(
    { db, clock }: Core,
    given: { readonly signals: DeliverySignals; readonly clock?: Clock | undefined },
  ) {
    this.#db = db
    this.#clock = clock
    this.#callerClock = given.clock ?? clock
    this.#signals = given.signals
  }

  /** Throws `events_gone` if events behind `after` may be deleted, as they are after 30 days. */
  positionOf(after: string): number {
    const newest = newestEvent(this.#db)?.seq ?? 0
    if (after === LATEST) return newest
    const since = firstSeqSince(this.#db, 'events', this.#clock.ago(EVENTS_KEPT_MS))
    const kept = Math.max(Math.min(since, newest), 1)
    if (after === OLDEST) return kept - 1
    const from = parseIsoTime(after)
    if (from !== null) {
      const first = firstSeqSince(this.#db, 'events', from)
      return Math.max(Math.min(first, newest + 1), kept) - 1
    }
    const found = findEvent(this.#db, after)
    if (found !== null && found.seq >= kept - 1) return found.seq
    if (found === null && parseId('evt', after) === null) {
      const message = `must be the id of an event, a time, ${LATEST} or ${OLDEST}`
      throw invalidRequest({ path: 'after', message })
    }
    const message = `Events after this one may be deleted already: read on from ${OLDEST}.`
    const oldest = this.afterOf(kept)
    throw new RelayError('events_gone', message, { details: { oldest } })
  }

  afterOf(position: number): string {
    return eventAt(this.#db, position)?.id ?? OLDEST
  }

  /** Yields events as they are recorded, and an empty batch after each silence, until `signal` aborts. */
  async *follow(
    { after, filter, limit, silenceMs }: EventReading,
    signal: AbortSignal,
  ): AsyncGenerator<EventBatch, undefined> {
    const wake = new Signal()
    const unwatch = this.#signals.watch(wake)
    let position = after
    let silentAt = this.#callerClock.monotonic() + silenceMs
    try {
      while (!signal.aborted) {
        const wanted = filter()
        if (wanted === null) return undefined
        const { events, upTo, isEnd } = this.#read(position, wanted, limit)
        position = upTo
        const leftMs = silentAt - this.#callerClock.monotonic()
        if (events.length === 0 && leftMs > 0) {
          // Lets others run before the next step.
          await (isEnd ? wake.wait(this.#callerClock, leftMs, signal) : nextTurn())
          continue
        }
        yield { events, position: this.afterOf(upTo), hasMore: !isEnd }
        silentAt = this.#callerClock.monotonic() + silenceMs
      }
    } finally {
      unwatch()
    }
    return undefined
  }

  /** The wanted events among the next rows; possibly none. */
  #read(after: number, filter: EventFilter, limit: number) {
    const { events, upTo, isEnd } = listEvents(this.#db, after, filter, limit)
    const logged = events.flatMap((event) => {
      const { id, name, createdAt } = event
      const body = bodyOf(this.#db, event)
      return body === null ? [] : [{ id, name, createdAt, body }]
    })
    return { events: logged, upTo, isEnd }
  }
}

/** The JSON text that webhooks receive; null if it was never written and its message is deleted. Reads the database. */
export function bodyOf(db: Db, { body, name, messageId }: StoredEvent): string | null {
  if (body !== null || messageId === null) return body
  const message = findMessage(db, messageId)
  return message && payloadOf(name, message, partsOf(db, message))
}
