import { href } from '../address.ts'
import { Ago } from '../components/ago.tsx'
import { Badge } from '../components/badge.tsx'
import { Icon } from '../components/icon.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { DeliveryDetail } from './webhooks-delivery.tsx'
import type { SeenDelivery } from './webhooks-resources.ts'
import { deliveryState, isTest, nextTryWords } from './webhooks-words.ts'

type Props = {
  readonly webhook: Webhook
  readonly delivery: SeenDelivery
  readonly isOpen: boolean
  /** The filter that stays in the address. */
  readonly status: string
}

/** One delivery in a line; open, with all that is known of it beneath. */
export function DeliveryRow({ webhook, delivery, isOpen, status }: Props) {
  const path = [webhook.id, 'deliveries', ...(isOpen ? [] : [delivery.id])]
  return (
    <li class={isOpen ? 'delivery delivery-open' : 'delivery'}>
      <a class="delivery-row" href={href('webhooks', path, { status })} aria-expanded={isOpen}>
        <span class="delivery-state">
          <Badge of={deliveryState(delivery)} />
        </span>
        <span class="delivery-event">
          <code>{delivery.event}</code>
          {isTest(delivery) && <span class="small quiet"> test</span>}
        </span>
        <Result webhook={webhook} delivery={delivery} />
        <span class="delivery-time">
          <Ago time={delivery.created_at} isInside />
          <Icon name={isOpen ? 'down' : 'forward'} />
        </span>
      </a>
      {isOpen && <DeliveryDetail webhook={webhook} delivery={delivery} />}
    </li>
  )
}

/** What the last attempt brought, and how it goes on. */
function Result({ webhook, delivery }: Pick<Props, 'webhook' | 'delivery'>) {
  const { clock } = useDashboard()
  const last = delivery.attempts.at(-1)
  const next = nextTryWords(delivery, webhook, clock.now.value)
  if (last === undefined) return <span class="delivery-result small quiet">{next}</span>
  const result = last.hint?.title ?? last.status_code
  const parts = [
    last.duration,
    delivery.attempt_count === 1 ? null : `attempt ${delivery.attempt_count}`,
    next,
  ].filter((part) => part !== null)
  return (
    <span class="delivery-result small">
      {result}
      <span class="quiet figures"> · {parts.join(' · ')}</span>
    </span>
  )
}
