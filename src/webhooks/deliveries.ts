// Lists deliveries, sends one again, and sends a test.

import type { SeenDelivery } from '../api/dashboard.ts'
import { allFound, cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import type { Attempt, Delivery, DeliveryWithAttempts } from '../api/webhooks.ts'
import { webhookFormat } from '../compat/apis.ts'
import { isOpen, later } from '../domain/breaker.ts'
import { RelayError } from '../domain/errors.ts'
import { parseId, timestamp, type DeliveryId, type EventId } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin, liveKeyOf } from '../storage/credentials.ts'
import type { Db } from '../storage/database.ts'
import {
  findDelivery,
  insertDelivery,
  listAttempts,
  listDeliveries,
  requestDelivery,
  type DeliveryChoice,
  type StoredAttempt,
  type StoredDelivery,
} from '../storage/deliveries.ts'
import { pendingDeliveries } from '../storage/delivery-queue.ts'
import { insertEvent, personOfEvent, readEventOf } from '../storage/events.ts'
import { handleAsked } from '../storage/handles.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { nameOf } from '../storage/people.ts'
import { findWebhook, type StoredWebhook } from '../storage/webhooks.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import { bodySent, type DownloadUrl } from './payload.ts'
import type { DeliverySignals } from './publish.ts'
import { samplePayload } from './sample.ts'
import { requireActive, webhookById } from './subscriptions.ts'

/** `messageId` is as the caller wrote it. */
type ListFilter = Omit<DeliveryChoice, 'messageId'> & { readonly messageId?: string | undefined }

export function createRedelivery(
  core: Core,
  given: {
    readonly signals: DeliverySignals
    readonly scheduleMs: readonly number[]
    readonly downloadUrl: DownloadUrl
    readonly serverUrl: () => string
  },
) {
  const { db, clock } = core
  const { signals, scheduleMs, downloadUrl, serverUrl } = given
  return {
    /** Sends a sample of the webhook's first event at once, even if its breaker is open. */
    sendTest: (webhookId: string) => sendTest(core, signals, webhookId),
    redeliver: (id: string) => redeliver(core, signals, id),
    listDeliveries(id: string, filter: ListFilter, page: PageRequest): Page<Delivery> {
      const webhook = webhookById(db, id)
      const messageId =
        filter.messageId === undefined ? undefined : parseId('msg', filter.messageId)
      const places = { limit: page.limit + 1, before: cursorSeq(page.cursor) }
      const handle = filter.handle === undefined ? {} : { handle: handleAsked(db, filter.handle) }
      const choice = { ...filter, ...handle, messageId: messageId ?? undefined }
      const found =
        messageId === null ? allFound([]) : listDeliveries(db, webhook.seq, choice, places)
      return pageOf(found, page.limit, deliveryResource, ({ seq }) => [seq])
    },
    /** Only a trusted reader sees the response of a private target. */
    getDelivery(id: string, reader: { readonly isTrusted: boolean }): DeliveryWithAttempts {
      const delivery = deliveryById(db, id)
      const attempts = listAttempts(db, delivery.seq)
      return {
        ...deliveryResource(delivery),
        attempts: attempts.map((attempt) => attemptResource(attempt, reader.isTrusted)),
      }
    },
    describe(id: string): Pick<SeenDelivery, 'person' | 'schedule'> {
      const { eventId, scheduledCount } = deliveryById(db, id)
      const schedule = { made: scheduledCount, of: scheduleMs.length + 1 }
      const found = personOfEvent(db, eventId)
      if (found === null) return { person: null, schedule }
      const { handle, groupName, isGroup } = found
      const name = groupName ?? (handle && nameOf(db, handle))
      return { person: { handle, name, is_group: isGroup === 1 }, schedule }
    },
    receiver: (id: string) => receiver(db, webhookById(db, id)),
    /** The body that attempts send; null if its event is no longer kept. */
    getSentBody(id: string): string | null {
      const { eventId, webhookId } = deliveryById(db, id)
      const event = readEventOf(db, eventId)
      const webhook = findWebhook(db, webhookId)
      if (event === null || webhook === null) return event?.body ?? null
      const format = webhookFormat(webhook.format)
      const live = webhook.keyId && liveKeyOf(db, webhook.keyId, clock.now())
      const at = { account: live?.key ?? '', relay: serverUrl() }
      return bodySent(db, event, { webhook, format, downloadUrl, ...at })
    },
  }
}

function receiver(db: Db, { seq, breaker, isActive }: StoredWebhook) {
  const { failingSince, probeAt, restUntil } = breaker
  const isProbed = isActive && isOpen(breaker)
  return {
    waiting: pendingDeliveries(db, seq).count,
    failing_since: isoTimeOrNull(failingSince),
    next_probe_at: isProbed ? isoTime(later(restUntil, probeAt) ?? timestamp(0)) : null,
  }
}

async function sendTest({ writer, ids, clock }: Core, signals: DeliverySignals, webhookId: string) {
  return writer.write((tx) => {
    const webhook = webhookById(tx, webhookId)
    requireActive(webhook)
    const [name = 'message.received'] = webhook.events
    const createdAt = ids.now()
    const eventSeq = insertEvent(tx, {
      // Receivers recognize tests by this prefix. Event ids are made only here and in publish.ts.
      id: `evt_test_${ids.id('evt').slice('evt_'.length)}` as EventId,
      name,
      messageId: null,
      conversationId: null,
      body: samplePayload(name, ids),
      createdAt,
    })
    const id = ids.id('dlv')
    const now = timestamp(clock.now())
    insertDelivery(tx, {
      id,
      webhookSeq: webhook.seq,
      eventSeq: eventSeq ?? 0,
      nextAttemptAt: now,
      requestedAt: now,
      replayedAt: null,
      createdAt,
    })
    signals.note('requested', webhook.id)
    return deliveryResource(deliveryById(tx, id))
  })
}

const ANYONE = { conversationIds: null, caller: 'owner' } as const

async function redeliver({ writer, clock }: Core, signals: DeliverySignals, text: string) {
  return writer.write((tx) => {
    const { id, webhookId } = deliveryById(tx, text)
    const webhook = webhookById(tx, webhookId)
    requireActive(webhook)
    const viewer = { lineIds: linesWithin(tx, webhook), limits: webhook, ...ANYONE }
    if (webhook.siteIds !== null && !isSeenBy(tx, viewer, id)) {
      const message = 'The line of this event is in none of the sites of the webhook any more.'
      throw new RelayError('forbidden', message)
    }
    requestDelivery(tx, id, timestamp(clock.now()))
    signals.note('requested', webhookId)
    return deliveryResource(deliveryById(tx, id))
  })
}

function deliveryById(db: Db, text: string): StoredDelivery {
  const id: DeliveryId | null = parseId('dlv', text)
  const delivery = id === null ? null : findDelivery(db, id)
  if (delivery === null) throw new RelayError('not_found', 'There is no delivery with this id.')
  return delivery
}

function deliveryResource(delivery: StoredDelivery): Delivery {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event: delivery.event,
    message_id: delivery.messageId,
    status: delivery.status,
    attempt_count: delivery.attemptCount,
    next_attempt_at: isoTimeOrNull(delivery.nextAttemptAt),
    created_at: isoTime(delivery.createdAt),
    completed_at: isoTimeOrNull(delivery.completedAt),
    ...(delivery.attemptCount === 0
      ? {}
      : { last_status_code: delivery.lastStatusCode, last_error: delivery.lastError }),
  }
}

/** `showsPrivate`: the viewer may see responses of receivers on the relay's own network. */
function attemptResource(attempt: StoredAttempt, showsPrivate: boolean): Attempt {
  const isHidden = attempt.isPrivateTarget && !showsPrivate
  return {
    number: attempt.number,
    trigger: attempt.trigger,
    started_at: isoTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    status_code: attempt.statusCode,
    error: attempt.error,
    response_excerpt: isHidden ? null : attempt.responseExcerpt,
  }
}
