import { Badge } from '../components/badge.tsx'
import type { Webhook } from '../resources.ts'
import { useWebhookDay } from './webhooks-sources.ts'
import { webhookState } from './webhooks-words.ts'

/** It keeps its place until it is known how the last deliveries went. */
export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const day = useWebhookDay(webhook.id)
  return (
    <span class={day === null ? 'unknown' : undefined}>
      <Badge of={webhookState(webhook, day?.failing != null)} />
    </span>
  )
}
