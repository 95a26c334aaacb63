import type {
  Attempt,
  DeliveryStatus,
  DisabledReason,
  EventName,
  Webhook,
} from '../domain/webhook.ts'
import type { StoredAttempt, StoredDelivery } from '../storage/deliveries.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

export type WebhookResource = {
  readonly id: string
  readonly url: string
  readonly events: readonly EventName[]
  readonly is_active: boolean
  /** True where the last attempt was no success; left out otherwise. */
  readonly is_failing?: true
  readonly description: string | null
  readonly disabled_reason: DisabledReason | null
  readonly created_by: string
  readonly created_at: string
  readonly updated_at: string
}

/** The answer to a creation: the secret is shown this once. */
export type CreatedWebhookResource = WebhookResource & { readonly secret: string }

export type RotatedSecretResource = { readonly id: string; readonly secret: string }

export type DeliveryResource = {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event: EventName
  readonly message_id: string | null
  readonly status: DeliveryStatus
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  readonly created_at: string
  readonly completed_at: string | null
  /** Of the last attempt; left out before the first one. */
  readonly last_status_code?: number | null
  readonly last_error?: string | null
}

export type AttemptResource = {
  readonly number: number
  readonly trigger: Attempt['trigger']
  readonly started_at: string
  readonly duration_ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly response_excerpt: string | null
}

export type DeliveryWithAttemptsResource = DeliveryResource & {
  readonly attempts: readonly AttemptResource[]
}

/** A new webhook has no breaker yet. */
export function webhookResource(
  webhook: Webhook & Partial<Pick<StoredWebhook, 'breaker'>>,
): WebhookResource {
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

export function deliveryResource(delivery: StoredDelivery): DeliveryResource {
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
export function attemptResource(attempt: StoredAttempt, showsPrivate: boolean): AttemptResource {
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
