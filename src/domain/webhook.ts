import type { ConversationId, DeliveryId, EventId, MessageId, Timestamp, WebhookId } from './ids.ts'

export const EVENT_NAMES = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/** Why the relay, not the user, stopped delivering to a webhook. */
export type DisabledReason = 'gone' | 'failing' | 'secret_unreadable'

export type Webhook = {
  readonly id: WebhookId
  readonly url: string
  readonly events: readonly EventName[]
  readonly isActive: boolean
  readonly description: string | null
  readonly disabledReason: DisabledReason | null
  readonly createdBy: string
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** The host alone: a path or query may carry what is secret. */
export function hostOf({ url }: Pick<Webhook, 'url'>): string {
  return URL.canParse(url) ? new URL(url).host : 'The receiver'
}

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** An event on its way to one webhook. */
export type Delivery = {
  readonly id: DeliveryId
  readonly webhookId: WebhookId
  readonly eventId: EventId
  readonly event: EventName
  readonly messageId: MessageId | null
  readonly conversationId: ConversationId | null
  readonly status: DeliveryStatus
  /** Every try, the manual ones and the probes included. */
  readonly attemptCount: number
  readonly nextAttemptAt: Timestamp | null
  readonly createdAt: Timestamp
  readonly completedAt: Timestamp | null
}

/** One HTTP try of a delivery. */
export type Attempt = {
  readonly number: number
  readonly trigger: 'scheduled' | 'probe' | 'manual'
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly responseExcerpt: string | null
}
