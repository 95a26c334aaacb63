import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/copy-button.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { StateBadge } from './webhooks-badge.tsx'
import { DeliveryDetail, Refusal } from './webhooks-delivery.tsx'
import { RECEIVER, RECEIVER_URL } from './webhooks-receiver.ts'
import type { Delivery, SeenDelivery } from './webhooks-resources.ts'
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
          is from +12025550100, whom no line answers, and its id begins with <code>evt_test_</code>.
        </p>
        <div class="row">
          <Button look="main" icon="send" isBusy={isBusy} onClick={start}>
            Send a test event
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && <Outcome key={sent.value.id} webhook={webhook} sent={sent.value} />}
      </Card>
      <Card title="A receiver to try with">
        <p class="quiet">
          It prints what it is sent. Start it on the machine of the relay; its address is{' '}
          <code>{RECEIVER_URL}</code>.
        </p>
        <CodeBlock what="Receiver" text={RECEIVER} />
      </Card>
    </>
  )
}

type OutcomeProps = { readonly webhook: Webhook; readonly sent: Delivery }

/** Follows the delivery as it goes on. */
function Outcome({ webhook, sent }: OutcomeProps) {
  const { api } = useDashboard()
  const { now } = useLive({
    key: `delivery ${sent.id}`,
    load: (signal) => api.get<SeenDelivery>(`webhook-deliveries/${sent.id}`, signal),
    on: (change) => change.id === sent.id,
  })
  const delivery = now.state === 'ready' ? now.value : { ...sent, attempts: [] }
  return (
    <div class="test-outcome">
      <p role="status">
        <StateBadge words={deliveryState(delivery)} />
      </p>
      <DeliveryDetail webhook={webhook} delivery={delivery} />
    </div>
  )
}
