// Everything about one delivery: why it failed, every attempt, and the request.

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { Ago } from '../components/time.tsx'
import { useAction } from '../components/use-action.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Failure } from '../request.ts'
import type { Webhook } from '../resources.ts'
import { AttemptList } from './webhooks-attempts.tsx'
import { hintFor } from './webhooks-hints.ts'
import { DeliveryRequest } from './webhooks-request.tsx'
import type { SeenDelivery } from './webhooks-resources.ts'
import { nextTryWords, refusalWords } from './webhooks-words.ts'

type Props = { readonly webhook: Webhook; readonly delivery: SeenDelivery }

/** One that a link leads to, and that is not among those that are listed. */
export function LoneDelivery({ webhook, id }: { readonly webhook: Webhook; readonly id: string }) {
  const { api } = useDashboard()
  const delivery = useLive({
    key: `delivery ${id}`,
    load: (signal) => api.get<SeenDelivery>(`webhook-deliveries/${id}`, signal),
    on: (change) => change.id === id,
  })
  return (
    <Card
      kind="list"
      title="One delivery"
      actions={<a href={href('webhooks', [webhook.id, 'deliveries'])}>Close</a>}
    >
      <WhenReady
        loaded={delivery.now}
        skeleton={<Skeleton kind="row" count={2} />}
        onRetry={delivery.refresh}
      >
        {(value) =>
          value.webhook_id === webhook.id ? (
            <DeliveryDetail webhook={webhook} delivery={value} />
          ) : (
            <p class="delivery-detail">It belongs to another webhook.</p>
          )
        }
      </WhenReady>
    </Card>
  )
}

export function DeliveryDetail({ webhook, delivery }: Props) {
  const last = delivery.attempts.at(-1)
  const hint = last === undefined ? null : hintFor(last, webhook.url)
  return (
    <div class="delivery-detail">
      {hint !== null && delivery.status !== 'succeeded' && (
        <Callout tone={delivery.status === 'exhausted' ? 'bad' : 'warn'} title={hint.title}>
          <p>{hint.advice}</p>
        </Callout>
      )}
      <Redeliver delivery={delivery} />
      <Facts webhook={webhook} delivery={delivery} />
      <AttemptList webhook={webhook} attempts={delivery.attempts} />
      {last !== undefined && (
        <DeliveryRequest webhook={webhook} delivery={delivery} attempt={last} />
      )}
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

function Facts({ webhook, delivery }: Props) {
  const { clock } = useDashboard()
  const { status, created_at, completed_at, event_id } = delivery
  const next = nextTryWords(delivery, webhook, clock.now.value)
  const facts = [
    ['Happened', <Ago time={created_at} />],
    [
      status === 'succeeded' ? 'Delivered' : 'Given up',
      completed_at !== null && <Ago time={completed_at} />,
    ],
    ['Goes on', next ?? false],
    ['Event id, sent as webhook-id', <span class="mono">{event_id}</span>],
  ] as const
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
