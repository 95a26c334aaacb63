// Pauses a webhook, or resumes it and then asks what to do with the events that came meanwhile.

import { useSignal } from '@preact/signals'

import type { WebhookDay } from '../../api/dashboard.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { Button } from '../components/button.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { useAction, useDashboard, useQuickAction } from '../dashboard.ts'

const SEND_MISSED = lazyDialog(async () => (await import('./replay.tsx')).SendMissed)

/** Sends the delivery that fails again. */
export function useRetry(webhook: Webhook, day: WebhookDay | null) {
  const { api, notices } = useDashboard()
  return useAction(
    () => api.call('redeliverWebhookDelivery', { params: { id: day?.failing?.id ?? '' } }),
    () => notices.done(`Retrying ${webhookName(webhook)}.`),
  )
}

/** In a list, the button's name includes the webhook's. */
export function PauseButton(props: { readonly webhook: Webhook; readonly isInList?: true }) {
  const { webhook, isInList = false } = props
  const { api, notices } = useDashboard()
  const resumed = useSignal<Webhook | null>(null)
  const { isBusy, start } = useQuickAction(
    () => {
      const body = { is_active: !webhook.is_active }
      return api.call('updateWebhook', { params: { id: webhook.id }, body })
    },
    (changed) => {
      notices.done(
        changed.is_active
          ? 'Webhook resumed.'
          : 'Webhook paused. Nothing is delivered until you resume it.',
      )
      if (changed.is_active && (changed.events_while_paused ?? 0) > 0) resumed.value = changed
    },
  )
  return (
    <>
      <Button
        variant={isInList ? 'quiet' : undefined}
        icon={webhook.is_active ? 'pause' : undefined}
        isBusy={isBusy}
        onClick={start}
      >
        {webhook.is_active ? 'Pause' : 'Resume'}
        {isInList && <span class="visually-hidden">{webhookName(webhook)}</span>}
      </Button>
      {resumed.value !== null && (
        <SEND_MISSED.View webhook={resumed.value} onClose={() => (resumed.value = null)} />
      )}
    </>
  )
}
