import { Badge } from '../components/badge.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { recentSource } from './webhooks-summary.ts'
import { webhookState, type StateWords } from './webhooks-words.ts'

/** It keeps its place until it is known how the last deliveries went. */
export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const { api } = useDashboard()
  const { now } = useLive(recentSource(api, webhook.id))
  const isFailing = now.state === 'ready' && now.value.failing !== null
  return (
    <span class={now.state === 'loading' ? 'unknown' : undefined}>
      <StateBadge words={webhookState(webhook, isFailing)} />
    </span>
  )
}

export function StateBadge({ words }: { readonly words: StateWords }) {
  return (
    <Badge tone={words.tone} icon={words.icon}>
      {words.text}
    </Badge>
  )
}
