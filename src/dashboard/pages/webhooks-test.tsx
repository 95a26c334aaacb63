import { useSignal } from '@preact/signals'

import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { DeliveryDetail, Refusal } from './webhooks-delivery.tsx'
import { Receiver } from './webhooks-receiver.tsx'
import type { Delivery } from './webhooks-resources.ts'
import { useDelivery } from './webhooks-sources.ts'
import { deliveryState } from './webhooks-words.ts'

/** A test event, and what becomes of it. */
export function WebhookTest({ webhook }: { readonly webhook: Webhook }) {
  const { api } = useDashboard()
  const sent = useSignal<Delivery | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.post<Delivery>(`webhooks/${webhook.id}/test`),
    (delivery) => (sent.value = delivery),
  )
  return (
    <>
      <Card title="Send a test event">
        <p class="quiet">
          A sample of <code>{webhook.events[0]}</code> goes out at once, whatever failed before. It
          is from +12025550100, and its id begins with <code>evt_test_</code>.
        </p>
        <div class="row">
          <Button look="main" icon="send" isBusy={isBusy} onClick={start}>
            Send a test event
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && <Outcome key={sent.value.id} webhook={webhook} sent={sent.value} />}
      </Card>
      <Card title="No endpoint yet?">
        <Receiver />
      </Card>
    </>
  )
}

type OutcomeProps = { readonly webhook: Webhook; readonly sent: Delivery }

/** Follows the delivery as it goes on. */
function Outcome({ webhook, sent }: OutcomeProps) {
  const delivery = useDelivery(sent.id).value ?? { ...sent, attempts: [] }
  return (
    <div class="test-outcome">
      <p role="status">
        <Badge of={deliveryState(delivery)} />
      </p>
      <DeliveryDetail webhook={webhook} delivery={delivery} />
    </div>
  )
}
