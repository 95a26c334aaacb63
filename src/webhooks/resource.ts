import type * as api from '../api/webhooks.ts'
import { isFailing } from '../domain/breaker.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Timestamp } from '../domain/ids.ts'
import { lineLimitFields } from '../domain/routing.ts'
import { MISSED_MAX } from '../domain/webhook-state.ts'
import type { Db } from '../storage/database.ts'
import { countMissed, newestEvent } from '../storage/events.ts'
import { firstSeqSince } from '../storage/seq-by-time.ts'
import type { StoredWebhook, Webhook } from '../storage/webhooks.ts'
import { nextTurn } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'

/** `isUnreachable`: this machine has no route to the receiver. */
export function resourceOf(webhook: StoredWebhook, isUnreachable: boolean): api.Webhook {
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    is_active: webhook.isActive,
    ...(isFailing(webhook, isUnreachable) ? { is_failing: true } : {}),
    description: webhook.description,
    ...(webhook.format === null ? {} : { format: webhook.format }),
    ...(webhook.keyId === null ? {} : { key_id: webhook.keyId }),
    ...(webhook.attachmentLinks ? { attachment_links: true as const } : {}),
    ...lineLimitFields(webhook),
    ...(webhook.isPublicOnly ? { is_public_only: true as const } : {}),
    disabled_reason: webhook.disabledReason,
    created_by: webhook.createdBy,
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  }
}

/**
 * The number of events since the user paused the webhook at `pausedAt`: those that a replay would send, counted up to
 * its maximum, in steps that let others run. Empty if it wasn't paused.
 */
export async function missedEvents(
  db: Db,
  webhook: StoredWebhook,
  pausedAt: Timestamp | null,
): Promise<Pick<api.Webhook, 'paused_at' | 'events_while_paused'>> {
  if (pausedAt === null) return {}
  const last = newestEvent(db)?.seq ?? 0
  let after = firstSeqSince(db, 'events', pausedAt) - 1
  let count = 0
  while (after < last && count < MISSED_MAX) {
    const step = countMissed(db, webhook, after)
    count += step.count
    after = step.upTo
    await nextTurn()
  }
  if (count === 0 && !webhook.isActive) return {}
  return { paused_at: isoTime(pausedAt), events_while_paused: Math.min(count, MISSED_MAX) }
}

/** The time at which the user paused the webhook; null if it is active or the relay deactivated it. */
export function pausedSince(
  webhook: Pick<Webhook, 'isActive' | 'disabledReason' | 'pausedAt' | 'updatedAt'>,
): Timestamp | null {
  if (webhook.isActive || webhook.disabledReason !== null) return null
  // Earlier versions didn't store `pausedAt`.
  return webhook.pausedAt ?? webhook.updatedAt
}

/** Throws for a callback: the sends that name it decide its URL and its events. */
export function requireListed(webhook: StoredWebhook): StoredWebhook {
  if (!webhook.isCallback) return webhook
  const message = 'This webhook gets the events of single messages. It can be read and deleted.'
  throw invalidRequest({ path: '', message })
}
