import { siblingId, timestamp, type EventId, type MessageId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Tx } from '../storage/database.ts'
import { insertDelivery } from '../storage/deliveries.ts'
import { insertEvent, noteUntoldEvent } from '../storage/events.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { sha256 } from '../system/hash.ts'
import type { Stamps } from '../system/stamps.ts'
import type { EventFeed } from './event-feed.ts'
import type { Notices } from './notices.ts'
import { payloadOf, staysTrue } from './payload.ts'
import type { Subscribers } from './subscribers.ts'

/**
 * Writes an event down and puts it on its way to every webhook that wants it, in the transaction of
 * the change that it tells. No webhook gets it a second time for the same message and name. Where none
 * wants it, it is noted only: its body would repeat the message, and be most of what a send writes.
 */
export type Publish = (tx: Tx, name: EventName, message: Message) => void

export type PublishParts = {
  readonly writer: Pick<Writer, 'notifyAfterCommit' | 'afterCommit'>
  readonly stamps: Stamps
  readonly clock: Clock
  readonly subscribers: Subscribers
  readonly notices: Notices
  /** Hears every event, whether a webhook wants it or not. */
  readonly feed: Pick<EventFeed, 'tell' | 'isHeard'>
}

export function createPublish(parts: PublishParts): Publish {
  const { writer, stamps, clock, subscribers, notices, feed } = parts
  const tellFeed = (body: string) => writer.afterCommit(() => feed.tell(body))
  return (tx, name, message) => {
    const createdAt = stamps.now()
    const { id: messageId, conversationId } = message
    const webhookIds = subscribers.of(name)
    if (webhookIds.length === 0 && staysTrue(name)) {
      noteUntoldEvent(tx, { name, messageId, createdAt })
      if (feed.isHeard) tellFeed(payloadOf(name, message))
      return
    }
    const id = eventIdOf(name, messageId)
    const body = payloadOf(name, message)
    const eventSeq = insertEvent(tx, { id, name, messageId, conversationId, body, createdAt })
    if (eventSeq === null) return
    tellFeed(body)

    // By the clock, not by the stamp: a stamp may be ahead of a clock that stepped back.
    const nextAttemptAt = timestamp(clock.now())
    for (const webhookId of webhookIds) {
      const id = stamps.id('dlv')
      const delivery = { id, webhookId, eventSeq, conversationId, nextAttemptAt, createdAt }
      insertDelivery(tx, { ...delivery, requestedAt: null, replayedAt: null })
      notices.due(webhookId)
      writer.notifyAfterCommit(notices.signal)
    }
  }
}

/**
 * The same for good, also after a restore: made of the time inside the message's id, the message and
 * the kind, and of nothing that happened since.
 */
export function eventIdOf(name: EventName, messageId: MessageId): EventId {
  return siblingId('evt', messageId, sha256(`${messageId} ${name}`))
}
