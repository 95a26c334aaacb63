import {
  derivedId,
  siblingId,
  timestamp,
  type EventId,
  type LineId,
  type MessageId,
  type Timestamp,
  type WebhookId,
} from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { OptOut } from '../domain/opt-out.ts'
import { includesLine } from '../domain/routing.ts'
import { WEBHOOKS_MAX, eventInGroup, type EventName, type Webhook } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { insertEvent, type NewEvent } from '../storage/events.ts'
import { partsOf, type PlacedGroup } from '../storage/message-parts.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import { sha256 } from '../system/hash.ts'
import type { Signal } from '../system/signal.ts'
import {
  groupUpdate,
  optOutChange,
  payloadOf,
  staysTrue,
  unplacedReaction,
  type ChangedGroup,
  type EventChange,
  type OptOutEvent,
  type UnplacedReaction,
} from './payload.ts'

/**
 * Writes an event down and queues it for every webhook that wants it, in the transaction of the change
 * that it reports. No webhook gets it a second time for the same message, name and change. An event that no
 * webhook wants has no body in its row: that would repeat the message. A group's message has the events of
 * groups only.
 */
export type Publish = (
  tx: Tx,
  name: EventName,
  message: Message,
  change?: EventChange & { readonly guid: string },
) => void

/** The message of a keyword; null for a change by hand. */
export type OptOutCause = Pick<Message, 'lineId' | 'conversationId'> | null

/** The same for events of no message. */
export type PublishUnplaced = {
  /** A reaction to a message that the relay does not have. */
  readonly unplacedReaction: (tx: Tx, reaction: UnplacedReaction) => void
  readonly groupUpdate: (tx: Tx, changed: ChangedGroup & { readonly guid: string }) => void
  readonly optOut: (tx: Tx, name: OptOutEvent, optOut: OptOut, cause: OptOutCause) => void
}

export function createPublish(
  { ids, clock }: Core,
  given: { readonly subscribers: Subscribers; readonly signals: DeliverySignals },
): Publish & PublishUnplaced {
  const { subscribers, signals } = given
  const queue = (
    tx: Tx,
    { lineId, ...event }: Omit<NewEvent, 'createdAt'> & { readonly lineId: LineId | null },
  ) => {
    const createdAt = ids.now()
    const { name, conversationId } = event
    const eventSeq = insertEvent(tx, { ...event, createdAt })
    if (eventSeq === null) return
    signals.noteEvent()
    const webhookIds = subscribers.of(name, lineId)
    // By the clock, not by `ids`, whose time may be ahead of a clock that stepped back.
    const nextAttemptAt = timestamp(clock.now())
    for (const webhookId of webhookIds) {
      const id = ids.id('dlv')
      const delivery = { id, webhookId, eventSeq, event: name, conversationId, createdAt }
      insertDelivery(tx, { ...delivery, nextAttemptAt, requestedAt: null, replayedAt: null })
      signals.note('due', webhookId)
    }
  }
  const publish: Publish = (tx, direct, message, change) => {
    const name = message.isGroup ? eventInGroup(direct) : direct
    if (name === null) return
    const { id: messageId, lineId, conversationId } = message
    const isWanted = subscribers.of(name, lineId).length > 0 || !staysTrue(name)
    const isText = message.extras === null && !message.isGroup
    const parts = () => (isText ? {} : partsOf(tx, message))
    const body = isWanted ? payloadOf(name, message, parts(), change) : null
    const id = eventIdOf(name, messageId, change?.guid)
    queue(tx, { id, name, lineId, messageId, conversationId, body })
  }
  const unplaced = (tx: Tx, name: EventName, about: Unplaced, body: string) => {
    const { lineId, guid, at, group } = about
    const id = derivedId('evt', at, sha256(`${lineId} ${name} ${guid}`))
    const conversationId = group?.conversationId ?? null
    queue(tx, { id, name, lineId, messageId: null, conversationId, body })
  }
  return Object.assign(publish, {
    unplacedReaction: (tx: Tx, about: UnplacedReaction) => {
      const { guid, at } = about.reaction
      unplaced(tx, 'message.reaction', { ...about, guid, at }, unplacedReaction(about))
    },
    groupUpdate: (tx: Tx, changed: ChangedGroup & { readonly guid: string }) =>
      unplaced(tx, 'group.updated', changed, groupUpdate(changed)),
    optOut: (tx: Tx, name: OptOutEvent, optOut: OptOut, cause: OptOutCause) => {
      const { messageId } = optOut
      const { lineId, conversationId } = cause ?? { lineId: optOut.lineId, conversationId: null }
      const id =
        messageId === null ? ids.id('evt') : eventIdOf(name, messageId, optOut.lineId ?? undefined)
      const body = optOutChange(name, optOut, lineId)
      queue(tx, { id, name, lineId, messageId, conversationId, body })
    },
  })
}

type Unplaced = {
  readonly lineId: LineId
  /** The device's guid of the change, and its date. */
  readonly guid: string
  readonly at: Timestamp
  readonly group: PlacedGroup | null
}

/**
 * The same forever, also after a restore: made of the time inside the message's id, the message, the kind
 * and the change if a message may have many, and of nothing that happened since.
 */
export function eventIdOf(name: EventName, messageId: MessageId, changeGuid?: string): EventId {
  const change = changeGuid === undefined ? '' : ` ${changeGuid}`
  return siblingId('evt', messageId, sha256(`${messageId} ${name}${change}`))
}

type Subscriber = Pick<Webhook, 'id' | 'lineIds'>

/** The webhooks of each event, kept in memory because every message asks for them. */
export class Subscribers {
  readonly #core: Core
  readonly #signals: DeliverySignals
  #byEvent: Map<EventName, Subscriber[]> | null = null

  constructor(core: Core, signals: DeliverySignals) {
    this.#core = core
    this.#signals = signals
  }

  /**
   * Webhooks that want the event and are active, or were deactivated by the relay: those get it when
   * they are active again. A webhook that its user paused gets nothing new, nor one of other lines. An event
   * of no line is for webhooks of all lines.
   */
  of(event: EventName, lineId: LineId | null): readonly WebhookId[] {
    this.#byEvent ??= this.#read()
    const wanting = this.#byEvent.get(event) ?? []
    const isOf = ({ lineIds }: Subscriber) => includesLine(lineIds, lineId ?? '')
    return wanting.filter(isOf).map(({ id }) => id)
  }

  /** A write that changes webhooks: `work` calls `changed` for each of them. */
  async change<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
    try {
      return await this.#core.writer.write<T>(work)
    } finally {
      // Subscribers read inside a commit that failed in the end must not stay.
      this.#byEvent = null
      this.#signals.signal.notify()
    }
  }

  /** Called in the transaction that changes a webhook: all webhooks are read again, and the loop reads this one. */
  changed(id: WebhookId): void {
    this.#byEvent = null
    this.#signals.note('changed', id)
  }

  #read(): Map<EventName, Subscriber[]> {
    const byEvent = new Map<EventName, Subscriber[]>()
    for (const webhook of listWebhooks(this.#core.db, WEBHOOKS_MAX, null).toReversed()) {
      if (!webhook.isActive && webhook.disabledReason === null) continue
      for (const event of webhook.events) {
        byEvent.set(event, [...(byEvent.get(event) ?? []), webhook])
      }
    }
    return byEvent
  }
}

/**
 * Webhooks that the delivery loop must look at. They are noted inside a transaction, whose commit wakes the loop to
 * take them; a note of a transaction that was undone costs one look that finds nothing.
 */
export class DeliverySignals {
  readonly #writer: Writer
  /** Wakes the delivery loop. */
  readonly signal: Signal
  /** Wake the readers of the event log. */
  readonly #readers = new Set<Signal>()
  readonly #noted = {
    due: new Set<WebhookId>(),
    requested: new Set<WebhookId>(),
    changed: new Set<WebhookId>(),
  }

  constructor({ writer }: Core, signal: Signal) {
    this.#writer = writer
    this.signal = signal
  }

  /** `requested`: a caller wants a delivery to this webhook to be tried at once. */
  note(what: 'due' | 'requested' | 'changed', id: WebhookId): void {
    this.#noted[what].add(id)
    this.#writer.afterCommit(() => this.signal.notify())
  }

  /** The commit of the event wakes the readers of the event log. */
  noteEvent(): void {
    if (this.#readers.size === 0) return
    this.#writer.afterCommit(() => this.#readers.forEach((reader) => reader.notify()))
  }

  /** Wakes a reader after each commit with events, until the returned function is called. */
  watch(reader: Signal): () => void {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }

  get hasChanged(): boolean {
    return this.#noted.changed.size > 0
  }

  take(what: 'due' | 'requested' | 'changed'): ReadonlySet<WebhookId> {
    const noted = this.#noted[what]
    if (noted.size > 0) this.#noted[what] = new Set()
    return noted
  }
}
