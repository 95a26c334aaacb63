// The deliveries of a webhook, newest first, with more while scrolling.

import { useSignal } from '@preact/signals'

import { href, withQuery } from '../address.ts'
import type { Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { NearView } from '../components/long-list.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useFeed } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import type { SeenDelivery, Webhook } from '../resources.ts'
import { useDelivery } from '../sources.ts'
import { deliveryState, isTest, nextTryWords } from '../words/webhooks.ts'
import { DeliveryDetail } from './delivery.tsx'
import { PendingReplay, RetryFailed, SendPastEvents } from './replay.tsx'

type Props = {
  readonly webhook: Webhook
  readonly open: string | null
}

const FILTERS = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['succeeded', 'Delivered'],
  ['exhausted', 'Failed'],
] as const

/** Of one webhook, in the page; a filter shows older ones. */
const DELIVERIES_MAX = 500

export function Deliveries({ webhook, open }: Props) {
  const { router } = useDashboard()
  const asking = useSignal<'retry' | 'past' | null>(null)
  const close = () => (asking.value = null)
  const wanted = router.route.value.query['status'] ?? ''
  const status = FILTERS.some(([name]) => name === wanted) ? wanted : ''
  return (
    <>
      <h2 class="visually-hidden">Deliveries</h2>
      <div class="delivery-tools">
        <Filter webhook={webhook} status={status} />
        <div class="actions">
          <Button icon="again" onClick={() => (asking.value = 'retry')}>
            Retry failed deliveries…
          </Button>
          <Button onClick={() => (asking.value = 'past')}>Send past events…</Button>
        </div>
      </div>
      <PendingReplay webhook={webhook} />
      <DeliveryList key={status} webhook={webhook} open={open} status={status} />
      {asking.value === 'retry' && <RetryFailed webhook={webhook} onClose={close} />}
      {asking.value === 'past' && <SendPastEvents webhook={webhook} onClose={close} />}
    </>
  )
}

type FilterProps = { readonly webhook: Webhook; readonly status: string }

function Filter({ webhook, status }: FilterProps) {
  const { router } = useDashboard()
  const to = (name: string) => href('webhooks', [webhook.id, 'deliveries'], { status: name })
  return (
    <div class="segments" role="group" aria-label="Filter by status">
      {FILTERS.map(([name, words]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === status}
          onClick={() => router.replace(to(name))}
        >
          {words}
        </button>
      ))}
    </div>
  )
}

type ListProps = Props & { readonly status: string }

function DeliveryList({ webhook, open, status }: ListProps) {
  const { api } = useDashboard()
  const feed = useFeed(webhook.id, deliverySource(api, webhook.id, status))
  const now = feed.now.value
  if (now.state === 'loading') return <Skeleton kind="list" count={6} />
  if (now.state === 'failed') {
    return <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
  }
  // A delivery that changed after the list was read may no longer match the filter.
  const rows = now.entries.filter((each) => status === '' || each.status === status)
  const isElsewhere = open !== null && rows.every(({ id }) => id !== open)
  return (
    <>
      {isElsewhere && <LoneDelivery webhook={webhook} id={open} />}
      <Card kind="list">
        {rows.length === 0 ? (
          <NoDeliveries webhook={webhook} status={status} />
        ) : (
          <ul class="deliveries" aria-label="Deliveries">
            {rows.map((delivery) => (
              <DeliveryRow
                key={delivery.id}
                webhook={webhook}
                delivery={delivery}
                isOpen={delivery.id === open}
                status={status}
              />
            ))}
          </ul>
        )}
        {now.nextCursor !== null && (
          <NearView again={now} onSeen={() => void feed.readMore()}>
            <Skeleton kind="row" count={2} />
          </NearView>
        )}
      </Card>
    </>
  )
}

function deliverySource(api: Api, webhookId: string, status: string): FeedSource<SeenDelivery> {
  const path = `/dashboard/webhooks/${webhookId}/deliveries`
  return {
    page: (cursor, limit, signal) => api.get(withQuery(path, { status, cursor, limit }), signal),
    entry: (id, signal) => api.get(`/dashboard/webhook-deliveries/${id}`, signal),
    idIn: ({ what, id }) => (what === 'delivery' ? id : null),
    movesUp: () => false,
    countMax: DELIVERIES_MAX,
  }
}

function NoDeliveries({ webhook, status }: FilterProps) {
  if (status !== '') {
    return (
      <EmptyState icon="webhooks" title="No matching deliveries">
        No delivery of the last 30 days has this status.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="webhooks"
      title="No deliveries yet"
      action={
        <LinkButton href={href('webhooks', [webhook.id, 'test'])}>Send test event</LinkButton>
      }
    >
      Events appear here as they are sent.
    </EmptyState>
  )
}

function LoneDelivery({ webhook, id }: { readonly webhook: Webhook; readonly id: string }) {
  return (
    <Card
      kind="list"
      title="Delivery"
      actions={<a href={href('webhooks', [webhook.id, 'deliveries'])}>Close</a>}
    >
      <WhenReady of={useDelivery(id)} kind="row" count={2}>
        {(delivery) =>
          delivery.webhook_id === webhook.id ? (
            <DeliveryDetail webhook={webhook} delivery={delivery} />
          ) : (
            <p class="delivery-detail">This delivery belongs to another webhook.</p>
          )
        }
      </WhenReady>
    </Card>
  )
}

type RowProps = {
  readonly webhook: Webhook
  readonly delivery: SeenDelivery
  readonly isOpen: boolean
  /** The filter that stays in the address. */
  readonly status: string
}

/** One line; open, with all details below it. */
function DeliveryRow({ webhook, delivery, isOpen, status }: RowProps) {
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

function Result({ webhook, delivery }: Pick<RowProps, 'webhook' | 'delivery'>) {
  const { clock } = useDashboard()
  const last = delivery.attempts.at(-1)
  const next = nextTryWords(delivery, webhook, clock.now.value)
  if (last === undefined) return <span class="delivery-result small quiet">{next}</span>
  const parts = [
    last.duration,
    delivery.attempt_count === 1 ? null : `Attempt ${delivery.attempt_count}`,
    next,
  ].filter((part) => part !== null)
  return (
    <span class="delivery-result small">
      {last.hint?.title ?? last.status_code}
      <span class="quiet figures"> · {parts.join(' · ')}</span>
    </span>
  )
}
