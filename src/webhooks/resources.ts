import type * as api from '../api/webhooks.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { StoredAttempt, StoredDelivery } from '../storage/deliveries.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

/** A new webhook has no breaker yet. */
export function webhookResource(
  webhook: Webhook & Partial<Pick<StoredWebhook, 'breaker'>>,
): api.Webhook {
  const isFailing = webhook.isActive && (webhook.breaker?.failuresInRow ?? 0) > 0
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    is_active: webhook.isActive,
    ...(isFailing ? { is_failing: true } : {}),
    description: webhook.description,
    disabled_reason: webhook.disabledReason,
    created_by: webhook.createdBy,
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
  }
}

export function deliveryResource(delivery: StoredDelivery): api.Delivery {
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

/** `showsPrivate`: whether the viewer may see what a receiver on the own network answered. */
export function attemptResource(attempt: StoredAttempt, showsPrivate: boolean): api.Attempt {
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
