// What the webhooks page reads.

import type { List } from '../api.ts'
import { useRead } from '../dashboard.ts'
import type { Read } from '../store.ts'
import type { SeenDelivery, WebhookDay } from './webhooks-resources.ts'

export function useWebhookDays(): Read<Pick<List<WebhookDay>, 'data'>> {
  return useRead('/dashboard/webhook-days', 'delivery', 'webhook')
}

/** Null while it is not known. */
export function useWebhookDay(id: string): WebhookDay | null {
  return useWebhookDays().value?.data.find(({ webhook_id }) => webhook_id === id) ?? null
}

export function useDelivery(id: string): Read<SeenDelivery> {
  return useRead(`/dashboard/webhook-deliveries/${id}`, id)
}
