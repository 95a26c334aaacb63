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
import { includesLine } from '../domain/routing.ts'
import { WEBHOOKS_MAX, eventInGroup, type EventName } from '../domain/webhook.ts'
import type { Db, Tx } from '../storage/database.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { insertEvent, type NewEvent } from '../storage/events.ts'
import { partsOf, type PlacedGroup } from '../storage/message-parts.ts'
import type { OptOut } from '../storage/opt-outs.ts'
import { listWebhooks, type Webhook } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
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
import type { DeliverySignals } from './signals.ts'

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

export type PublishTools = {
  readonly writer: Pick<Writer, 'afterCommit'>
  readonly ids: LogicalClock
  readonly clock: Clock
  readonly subscribers: Subscribers
  readonly deliverySignals: DeliverySignals
}

export function createPublish(tools: PublishTools): Publish & PublishUnplaced {
  const { writer, ids, clock, subscribers, deliverySignals } = tools
  const { readers } = deliverySignals
  const queue = (
    tx: Tx,
    { lineId, ...event }: Omit<NewEvent, 'createdAt'> & { readonly lineId: LineId | null },
  ) => {
    const createdAt = ids.now()
    const { name, conversationId } = event
    const eventSeq = insertEvent(tx, { ...event, createdAt })
    if (eventSeq === null) return
    if (readers.count > 0) writer.afterCommit(() => readers.notify())

    const webhookIds = subscribers.of(name, lineId)
    // By the clock, not by the stamp: a stamp may be ahead of a clock that stepped back.
    const nextAttemptAt = timestamp(clock.now())
    for (const webhookId of webhookIds) {
      const id = ids.id('dlv')
      const delivery = { id, webhookId, eventSeq, event: name, conversationId, createdAt }
      insertDelivery(tx, { ...delivery, nextAttemptAt, requestedAt: null, replayedAt: null })
      deliverySignals.due(webhookId)
    }
    if (webhookIds.length > 0) writer.afterCommit(() => deliverySignals.signal.notify())
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
 * and the change where a message may have many, and of nothing that happened since.
 */
export function eventIdOf(name: EventName, messageId: MessageId, changeGuid?: string): EventId {
  const change = changeGuid === undefined ? '' : ` ${changeGuid}`
  return siblingId('evt', messageId, sha256(`${messageId} ${name}${change}`))
}

type Subscriber = Pick<Webhook, 'id' | 'lineIds'>

/** The webhooks of each event, kept in memory because every message asks for them. */
export class Subscribers {
  readonly #db: Db
  #byEvent: Map<EventName, Subscriber[]> | null = null

  constructor(db: Db) {
    this.#db = db
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

  /** Call it in the transaction that changes a webhook, and again once that has settled. */
  invalidate(): void {
    this.#byEvent = null
  }

  #read(): Map<EventName, Subscriber[]> {
    const byEvent = new Map<EventName, Subscriber[]>()
    for (const webhook of listWebhooks(this.#db, WEBHOOKS_MAX, null).toReversed()) {
      if (!webhook.isActive && webhook.disabledReason === null) continue
      for (const event of webhook.events) {
        byEvent.set(event, [...(byEvent.get(event) ?? []), webhook])
      }
    }
    return byEvent
  }
}
