// Everything about one delivery: why it failed, every attempt, and the request.

import { href } from '../address.ts'
import { Ago } from '../components/ago.tsx'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { Facts } from '../components/facts.tsx'
import { useAction } from '../components/use-action.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Failure } from '../request.ts'
import type { Webhook } from '../resources.ts'
import { AttemptList } from './webhooks-attempts.tsx'
import { DeliveryRequest } from './webhooks-request.tsx'
import type { SeenDelivery } from './webhooks-resources.ts'
import { useDelivery } from './webhooks-sources.ts'
import { nextTryWords, refusalWords } from './webhooks-words.ts'

type Props = { readonly webhook: Webhook; readonly delivery: SeenDelivery }

/** One that a link leads to, and that is not among those that are listed. */
export function LoneDelivery({ webhook, id }: { readonly webhook: Webhook; readonly id: string }) {
  return (
    <Card
      kind="list"
      title="One delivery"
      actions={<a href={href('webhooks', [webhook.id, 'deliveries'])}>Close</a>}
    >
      <WhenReady of={useDelivery(id)} kind="row" count={2}>
        {(delivery) =>
          delivery.webhook_id === webhook.id ? (
            <DeliveryDetail webhook={webhook} delivery={delivery} />
          ) : (
            <p class="delivery-detail">It belongs to another webhook.</p>
          )
        }
      </WhenReady>
    </Card>
  )
}

export function DeliveryDetail({ webhook, delivery }: Props) {
  const { status, attempts } = delivery
  const hint = attempts.at(-1)?.hint
  return (
    <div class="delivery-detail">
      {hint && status !== 'succeeded' && (
        <Callout tone={status === 'exhausted' ? 'bad' : 'warn'} title={hint.title}>
          {hint.advice}
        </Callout>
      )}
      <Redeliver delivery={delivery} />
      <DeliveryFacts webhook={webhook} delivery={delivery} />
      <AttemptList attempts={attempts} />
      {attempts.length > 0 && <DeliveryRequest delivery={delivery} />}
    </div>
  )
}

function Redeliver({ delivery }: Pick<Props, 'delivery'>) {
  const { api, notices } = useDashboard()
  const { isBusy, failure, start } = useAction(
    () => api.post(`webhook-deliveries/${delivery.id}/redeliver`),
    () => notices.done('On its way again.'),
  )
  return (
    <div class="row">
      <Button icon="again" isBusy={isBusy} onClick={start}>
        Redeliver
      </Button>
      <Refusal failure={failure} />
    </div>
  )
}

/** Why it was not done, beside the button. */
export function Refusal({ failure }: { readonly failure: Failure | null }) {
  return (
    <span role="alert" class="refusal small">
      {failure !== null && refusalWords(failure)}
    </span>
  )
}

function DeliveryFacts({ webhook, delivery }: Props) {
  const { clock } = useDashboard()
  const { status, created_at, completed_at, event_id } = delivery
  return (
    <Facts
      of={[
        ['Happened', <Ago time={created_at} />],
        [
          status === 'succeeded' ? 'Delivered' : 'Given up',
          completed_at !== null && <Ago time={completed_at} />,
        ],
        ['Goes on', nextTryWords(delivery, webhook, clock.now.value) ?? false],
        ['Event id, sent as webhook-id', <span class="mono">{event_id}</span>],
      ]}
    />
  )
}
