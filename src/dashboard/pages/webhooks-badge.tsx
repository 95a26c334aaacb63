import { Badge } from '../components/badge.tsx'
import type { Webhook } from '../resources.ts'
import { webhookState } from './webhooks-words.ts'

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  return <Badge of={webhookState(webhook)} />
}
