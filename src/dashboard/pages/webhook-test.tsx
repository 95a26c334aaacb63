// Sends a sample event at once, and shows ways to receive it without an endpoint.

import { useSignal } from '@preact/signals'

import type { Delivery, Webhook } from '../../api/webhooks.ts'
import { Button } from '../components/button.tsx'
import { Badge } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useDelivery } from '../sources.ts'
import { deliveryState } from '../words/deliveries.ts'
import { WEBHOOK_TEST } from '../words/webhooks.ts'
import { DeliveryDetail, Refusal } from './delivery.tsx'
import { Receiver } from './webhook-parts.tsx'

type Props = { readonly webhook: Webhook }

export function WebhookTest({ webhook }: Props) {
  const { api } = useDashboard()
  const sent = useSignal<Delivery | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.call('testWebhook', { params: { id: webhook.id } }),
    (delivery) => (sent.value = delivery),
  )
  return (
    <>
      <Card title="Send a test event">
        <p class="quiet">
          Sends a sample {webhook.events[0]} event immediately, even after failures. It is from
          +12025550100, and its ID starts with evt_test_.
        </p>
        <div class="row">
          <Button variant="main" icon="send" isBusy={isBusy} onClick={start}>
            {WEBHOOK_TEST.send}
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && (
          <TestOutcome key={sent.value.id} webhook={webhook} sent={sent.value} />
        )}
      </Card>
      <Card title={WEBHOOK_TEST.noEndpoint}>
        <Receiver />
      </Card>
    </>
  )
}

function TestOutcome({ webhook, sent }: Props & { readonly sent: Delivery }) {
  const delivery = useDelivery(sent.id).value
  return (
    <div class="test-outcome">
      <p role="status">
        <Badge of={deliveryState(delivery ?? sent)} />
      </p>
      {delivery !== null && <DeliveryDetail webhook={webhook} delivery={delivery} />}
    </div>
  )
}
