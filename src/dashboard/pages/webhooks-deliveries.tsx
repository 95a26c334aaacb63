// What went to a webhook, newest first, and more as one scrolls.

import { useSignal } from '@preact/signals'

import { href, withQuery } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { NearView } from '../components/near-view.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { useFeed } from '../components/use-feed.ts'
import { useDashboard, type Dashboard } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import type { Webhook } from '../resources.ts'
import { LoneDelivery } from './webhooks-delivery.tsx'
import { RetryFailed, SendPastEvents, WaitingReplay } from './webhooks-replay.tsx'
import type { SeenDelivery } from './webhooks-resources.ts'
import { DeliveryRow } from './webhooks-row.tsx'

type Props = {
  readonly webhook: Webhook
  /** The id of the one that is open. */
  readonly open: string | null
}

const FILTERS = [
  ['', 'All'],
  ['pending', 'Waiting'],
  ['succeeded', 'Delivered'],
  ['exhausted', 'Given up'],
] as const

/** Of one webhook, in the page; who looks for older ones filters. */
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
      <WaitingReplay webhook={webhook} />
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
    <div class="segments" role="group" aria-label="Which deliveries">
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
  // One that changed since the list was read may not belong to it any more.
  const rows = now.entries.filter((one) => status === '' || one.status === status)
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

function deliverySource(
  api: Dashboard['api'],
  webhookId: string,
  status: string,
): FeedSource<SeenDelivery> {
  const path = `/dashboard/webhooks/${webhookId}/deliveries`
  return {
    page: (cursor, limit, signal) => api.get(withQuery(path, { status, cursor, limit }), signal),
    one: (id, signal) => api.get(`/dashboard/webhook-deliveries/${id}`, signal),
    concerned: ({ what, id }) => (what === 'delivery' ? id : null),
    rises: () => false,
    countMax: DELIVERIES_MAX,
  }
}

function NoDeliveries({ webhook, status }: FilterProps) {
  if (status !== '') {
    return (
      <EmptyState icon="webhooks" title="None of these">
        No delivery of the last 30 days is in this state.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="webhooks"
      title="Nothing was sent yet"
      action={
        <LinkButton href={href('webhooks', [webhook.id, 'test'])}>Send a test event</LinkButton>
      }
    >
      As soon as one of its events happens, it goes out, and stands here.
    </EmptyState>
  )
}
