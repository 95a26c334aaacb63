import {
  siblingId,
  timestamp,
  type EventId,
  type MessageId,
  type WebhookId,
} from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { WEBHOOKS_MAX, type EventName } from '../domain/webhook.ts'
import type { Db, Tx } from '../storage/database.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { insertEvent } from '../storage/events.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { payloadOf, staysTrue } from './payload.ts'
import type { DeliverySignals } from './signals.ts'

/**
 * Writes an event down and queues it for every webhook that wants it, in the transaction of the change
 * that it reports. No webhook gets it a second time for the same message and name. An event that no
 * webhook wants has no body in its row: that would repeat the message.
 */
export type Publish = (tx: Tx, name: EventName, message: Message) => void

export type PublishTools = {
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly stamps: LogicalClock
  readonly clock: Clock
  readonly subscribers: Subscribers
  readonly deliverySignals: DeliverySignals
  readonly feed: Pick<EventFeed, 'publish' | 'hasListeners'>
}

export function createPublish(tools: PublishTools): Publish {
  const { writer, stamps, clock, subscribers, deliverySignals, feed } = tools
  const publishToFeed = (body: string) => writer.afterCommit(() => feed.publish(body))
  return (tx, name, message) => {
    const createdAt = stamps.now()
    const { id: messageId, conversationId } = message
    const webhookIds = subscribers.of(name)
    const isWanted = webhookIds.length > 0 || !staysTrue(name)
    const payload = isWanted || feed.hasListeners ? payloadOf(name, message) : null
    const id = eventIdOf(name, messageId)
    const body = isWanted ? payload : null
    const eventSeq = insertEvent(tx, { id, name, messageId, conversationId, body, createdAt })
    if (eventSeq === null) return
    if (payload !== null) publishToFeed(payload)

    // By the clock, not by the stamp: a stamp may be ahead of a clock that stepped back.
    const nextAttemptAt = timestamp(clock.now())
    for (const webhookId of webhookIds) {
      const id = stamps.id('dlv')
      const delivery = { id, webhookId, eventSeq, conversationId, nextAttemptAt, createdAt }
      insertDelivery(tx, { ...delivery, requestedAt: null, replayedAt: null })
      deliverySignals.due(webhookId)
    }
    if (webhookIds.length > 0) writer.afterCommit(() => deliverySignals.signal.notify())
  }
}

/**
 * The same forever, also after a restore: made of the time inside the message's id, the message and
 * the kind, and of nothing that happened since.
 */
export function eventIdOf(name: EventName, messageId: MessageId): EventId {
  return siblingId('evt', messageId, sha256(`${messageId} ${name}`))
}

/** The webhooks of each event, kept in memory because every message asks for them. */
export class Subscribers {
  readonly #db: Db
  #byEvent: Map<EventName, WebhookId[]> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Webhooks that want the event and are active, or were deactivated by the relay: those get it when
   * they are active again. A webhook that its user paused gets nothing new.
   */
  of(event: EventName): readonly WebhookId[] {
    this.#byEvent ??= this.#read()
    return this.#byEvent.get(event) ?? []
  }

  /** Call it in the transaction that changes a webhook, and again once that has settled. */
  invalidate(): void {
    this.#byEvent = null
  }

  #read(): Map<EventName, WebhookId[]> {
    const byEvent = new Map<EventName, WebhookId[]>()
    for (const webhook of listWebhooks(this.#db, WEBHOOKS_MAX, null).toReversed()) {
      if (!webhook.isActive && webhook.disabledReason === null) continue
      for (const event of webhook.events) {
        byEvent.set(event, [...(byEvent.get(event) ?? []), webhook.id])
      }
    }
    return byEvent
  }
}

/** Hands every event to those who listen just now, as the JSON text that webhooks get. */
export class EventFeed {
  readonly #listeners = new Set<(event: string) => void>()

  /** Returns the function that ends the subscription. */
  subscribe(listener: (event: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  publish(event: string): void {
    for (const listener of this.#listeners) listener(event)
  }
}
