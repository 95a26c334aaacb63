import type { Alert } from '../api/alerts.ts'
import {
  derivedId,
  parseId,
  siblingId,
  timestamp,
  type AlertId,
  type EventId,
  type LineId,
  type MessageId,
  type Timestamp,
  type WebhookId,
} from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { includesLine } from '../domain/routing.ts'
import { WEBHOOKS_MAX, eventInGroup, type EventName } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Tx } from '../storage/database.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { insertEvent, type NewEvent } from '../storage/events.ts'
import { partsOf, type PlacedGroup } from '../storage/message-parts.ts'
import type { OptOut } from '../storage/opt-outs.ts'
import { findWebhook, listWebhooks, type StoredWebhook } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import { sha256 } from '../system/hash.ts'
import type { Signal } from '../system/signal.ts'
import {
  alertChange,
  groupUpdate,
  isSaid,
  optOutChange,
  payloadOf,
  staysTrue,
  unplacedReaction,
  type AlertEvent,
  type ChangedGroup,
  type EventChange,
  type OptOutEvent,
  type UnplacedReaction,
} from './payload.ts'

/**
 * Records an event and queues it for every webhook that wants it, in the transaction of the change that it reports.
 * No webhook gets it twice for the same message, name and change. If no webhook wants it, its row has no body, which
 * would repeat the message. A message in a group has only events of groups.
 */
export type Publish = (
  tx: Tx,
  name: EventName,
  message: Message,
  change?: EventChange & { readonly guid: string },
) => void

/** The message with the keyword; null for a manual change. */
export type OptOutCause = Pick<Message, 'lineId' | 'conversationId'> | null

export type PublishUnplaced = {
  readonly unplacedReaction: (tx: Tx, reaction: UnplacedReaction) => void
  readonly groupUpdate: (tx: Tx, changed: ChangedGroup & { readonly guid: string }) => void
  readonly optOut: (tx: Tx, name: OptOutEvent, optOut: OptOut, cause: OptOutCause) => void
  /** `id` is that of the alert; each alert has each of its events once. */
  readonly alert: (tx: Tx, name: AlertEvent, alert: Alert, id: AlertId) => void
}

type Publishing = { readonly subscribers: Subscribers; readonly signals: DeliverySignals }

export function createPublish(core: Core, given: Publishing): Publish & PublishUnplaced {
  const { ids } = core
  const { subscribers } = given
  const queue = createQueue(core, given)
  const publish: Publish = (tx, direct, message, change) => {
    const name = message.isGroup ? eventInGroup(direct) : direct
    if (name === null) return
    const { id: messageId, lineId, conversationId } = message
    const callback = callbackFor(tx, name, message)
    const receivers = [...subscribers.of(name, lineId), ...callback]
    const isWanted = receivers.length > 0 || !staysTrue(name)
    const isText = message.extras === null && !message.isGroup
    const parts = () => (isText ? {} : partsOf(tx, message))
    const body = isWanted ? payloadOf(name, message, parts(), change) : null
    const id = eventIdOf(name, messageId, change?.guid)
    queue(tx, { id, name, lineId, messageId, conversationId, body }, receivers)
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
    alert: (tx: Tx, name: AlertEvent, alert: Alert, alertId: AlertId) => {
      const id = siblingId('evt', alertId, sha256(`${alertId} ${name}`))
      const none = { messageId: null, conversationId: null }
      // A line that was deleted has an id all the same.
      const lineId = parseId('line', alert.phone_line_id ?? '')
      queue(tx, { id, name, lineId, ...none, body: alertChange(name, alert) })
    },
  })
}

/** The webhook that the message itself names, if it wants the event. */
function callbackFor(tx: Tx, name: EventName, { extras }: Message): readonly Subscriber[] {
  const id = extras?.callback?.webhookId
  const webhook = id === undefined ? null : findWebhook(tx, id)
  return webhook === null || !isWanting(webhook) || !webhook.events.includes(name) ? [] : [webhook]
}

/** True if it is active or was deactivated by the relay, and not paused by its user. */
function isWanting({ isActive, disabledReason }: StoredWebhook): boolean {
  return isActive || disabledReason !== null
}

/** Stores the event, and a delivery for each webhook that wants it. */
function createQueue({ ids, clock }: Core, { subscribers, signals }: Publishing) {
  return (
    tx: Tx,
    { lineId, ...event }: Omit<NewEvent, 'createdAt'> & { readonly lineId: LineId | null },
    receivers = subscribers.of(event.name, lineId),
  ) => {
    const createdAt = ids.now()
    const eventSeq = insertEvent(tx, { ...event, createdAt })
    if (eventSeq === null) return
    signals.noteEvent()
    // From the clock, not from `ids`, whose time may be ahead of a clock that was set back.
    const nextAttemptAt = timestamp(clock.now())
    const times = { createdAt, nextAttemptAt, requestedAt: null, replayedAt: null }
    for (const { id: webhookId, seq: webhookSeq, format } of receivers) {
      if (!isSaid(format, event.body)) continue
      insertDelivery(tx, { id: ids.id('dlv'), webhookSeq, eventSeq, ...times })
      signals.note('due', webhookId)
    }
  }
}

type Unplaced = {
  readonly lineId: LineId
  /** The device's guid of the change. */
  readonly guid: string
  readonly at: Timestamp
  readonly group: PlacedGroup | null
}

/**
 * An id that stays the same forever, even after a restore: it derives from the time in the message's id, the message,
 * the event's name and, if a message may have several, the change.
 */
export function eventIdOf(name: EventName, messageId: MessageId, changeGuid?: string): EventId {
  const change = changeGuid === undefined ? '' : ` ${changeGuid}`
  return siblingId('evt', messageId, sha256(`${messageId} ${name}${change}`))
}

type Subscriber = Pick<StoredWebhook, 'id' | 'seq' | 'lineIds' | 'siteIds' | 'format'>

/** The webhooks for each event, cached because every message asks for them. */
export class Subscribers {
  readonly #core: Core
  readonly #signals: DeliverySignals
  #byEvent: Map<EventName, Subscriber[]> | null = null
  readonly #listeners: (() => void)[] = []

  constructor(core: Core, signals: DeliverySignals) {
    this.#core = core
    this.#signals = signals
  }

  /**
   * Webhooks that want the event and are active or were deactivated by the relay: those get it once they are active
   * again. Excluded are webhooks that the user paused and webhooks of other lines. An event without a line is for
   * webhooks of all lines.
   */
  of(event: EventName, lineId: LineId | null): readonly Subscriber[] {
    const wanting = this.#of(event)
    // Lines move between sites, so only the webhooks themselves are cached.
    return wanting.filter((one) => includesLine(linesWithin(this.#core.db, one), lineId ?? ''))
  }

  /** True if a webhook of any line gets the event. */
  isWanted(event: EventName): boolean {
    return this.#of(event).length > 0
  }

  #of(event: EventName): readonly Subscriber[] {
    this.#byEvent ??= this.#read()
    return this.#byEvent.get(event) ?? []
  }

  /** Runs a write that changes webhooks; `work` calls `changed` for each of them. */
  async change<T>(work: (tx: Tx) => T extends PromiseLike<unknown> ? never : T): Promise<T> {
    try {
      return await this.#core.writer.write<T>(work)
    } finally {
      // Subscribers that were read inside a transaction that failed must not stay.
      this.#byEvent = null
      this.#signals.signal.notify()
      for (const listener of this.#listeners) listener()
    }
  }

  /** Calls `listener` after each change of webhooks. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Called in the transaction that changes a webhook: clears the cache and lets the loop reload this webhook. */
  changed(id: WebhookId): void {
    this.#byEvent = null
    this.#signals.note('changed', id)
  }

  #read(): Map<EventName, Subscriber[]> {
    const byEvent = new Map<EventName, Subscriber[]>()
    for (const webhook of listWebhooks(this.#core.db, WEBHOOKS_MAX, null).toReversed()) {
      if (webhook.isCallback || !isWanting(webhook)) continue
      for (const event of webhook.events) {
        byEvent.set(event, [...(byEvent.get(event) ?? []), webhook])
      }
    }
    return byEvent
  }
}

/**
 * Webhooks that the delivery loop must look at. They are noted inside a transaction, whose commit wakes the loop. A
 * note from a transaction that was rolled back costs one look that finds nothing.
 */
export class DeliverySignals {
  readonly #writer: Writer
  readonly signal: Signal
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

  /** `requested`: a caller wants a delivery to this webhook at once. */
  note(what: 'due' | 'requested' | 'changed', id: WebhookId): void {
    this.#noted[what].add(id)
    this.#writer.afterCommit(() => this.signal.notify())
  }

  /** Wakes the readers of the event log when the event is committed. */
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
