import type * as api from '../api/webhooks.ts'
import { isFailing } from '../domain/breaker.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import { MISSED_MAX } from '../domain/webhook-state.ts'
import type { Db } from '../storage/database.ts'
import { countMissed, newestEvent } from '../storage/events.ts'
import { firstSeqSince } from '../storage/seq-by-time.ts'
import type { StoredWebhook, Webhook } from '../storage/webhooks.ts'
import { nextTurn } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'

export type ResourceTools = {
  readonly db: Db
  /** True if this machine has no way to the receiver of the webhook. */
  readonly isUnreachable: (id: WebhookId) => boolean
}

export function resourceOf(
  { isUnreachable }: Pick<ResourceTools, 'isUnreachable'>,
  webhook: StoredWebhook,
): api.Webhook {
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    is_active: webhook.isActive,
    ...(isFailing(webhook, isUnreachable(webhook.id)) ? { is_failing: true } : {}),
    description: webhook.description,
    ...(webhook.attachmentLinks ? { attachment_links: true as const } : {}),
    ...(webhook.lineIds === null ? {} : { phone_line_ids: webhook.lineIds }),
    ...(webhook.isPublicOnly ? { is_public_only: true as const } : {}),
    disabled_reason: webhook.disabledReason,
    created_by: webhook.createdBy,
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  }
}

/**
 * With the number of events that came since `pausedAt`, when its user paused it: those that a replay would send,
 * counted up to its maximum in steps between which others have their turn. Null if it was active.
 */
export async function countedResource(
  tools: ResourceTools,
  webhook: StoredWebhook,
  pausedAt: Timestamp | null,
): Promise<api.Webhook> {
  const { db } = tools
  const resource = resourceOf(tools, webhook)
  if (pausedAt === null) return resource
  const last = newestEvent(db)?.seq ?? 0
  let after = firstSeqSince(db, 'events', pausedAt) - 1
  let count = 0
  while (after < last && count < MISSED_MAX) {
    const step = countMissed(db, webhook, after)
    count += step.count
    after = step.upTo
    await nextTurn()
  }
  if (count === 0 && !webhook.isActive) return resource
  const events_while_paused = Math.min(count, MISSED_MAX)
  return { ...resource, paused_at: isoTime(pausedAt), events_while_paused }
}

/** When its user paused it; null if it is active, and if the relay deactivated it. */
export function pausedSince(
  webhook: Pick<Webhook, 'isActive' | 'disabledReason' | 'pausedAt' | 'updatedAt'>,
): Timestamp | null {
  if (webhook.isActive || webhook.disabledReason !== null) return null
  // An earlier version may have paused it, and noted no time but that of the change.
  return webhook.pausedAt ?? webhook.updatedAt
}
