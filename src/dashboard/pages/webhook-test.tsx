// Tries a webhook: sends a sample event at once, shows ways to receive it without an endpoint, and the requests that
// the test inbox of the relay received, newest first.

import { useSignal } from '@preact/signals'

import type { InboxEntry } from '../../api/dashboard.ts'
import type { Delivery, Webhook } from '../../api/webhooks.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Badge } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { Ago } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction, useRead } from '../dashboard.ts'
import { useDelivery } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { deliveryState } from '../words/deliveries.ts'
import { WEBHOOKS } from '../words/webhooks.ts'
import { DeliveryDetail, Refusal } from './delivery.tsx'
import { Receiver } from './webhook-parts.tsx'

type Props = { readonly webhook: Webhook }

const SEND = 'Send test event'

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
            {SEND}
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && (
          <TestOutcome key={sent.value.id} webhook={webhook} sent={sent.value} />
        )}
      </Card>
      <Card title={WEBHOOKS.noEndpoint}>
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

const VERIFIED = { text: 'Signature verified', tone: 'ok', icon: 'check' } as const
const UNVERIFIED = { text: 'Signature not valid', tone: 'warn', icon: 'warning' } as const

export function InboxView({ webhook: { id } }: { readonly webhook: Webhook }) {
  const entries = useRead('listInbox', { params: { id } }, 'inbox')
  const test = <LinkButton href={href('webhooks', [id, 'test'])}>{SEND}</LinkButton>
  return (
    <>
      <p class="quiet">
        The newest 100 requests of the last 24 hours. They are kept in memory: a restart of the
        relay deletes them.
      </p>
      <WhenReady of={entries} kind="list" count={3}>
        {({ data }) => (
          <Card kind="list">
            {data.length === 0 ? (
              <EmptyState icon="webhooks" title="Nothing has arrived yet" action={test}>
                Send a test event, or a message through one of your lines.
              </EmptyState>
            ) : (
              <ul aria-label="Requests">
                {data.map((entry) => (
                  <EntryRow key={entry.id} webhookId={id} entry={entry} />
                ))}
              </ul>
            )}
          </Card>
        )}
      </WhenReady>
    </>
  )
}

type EntryProps = { readonly webhookId: string; readonly entry: InboxEntry }

function EntryRow({ webhookId, entry }: EntryProps) {
  const isOpen = useSignal(false)
  return (
    <li class="delivery">
      <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary class="inbox-row">
          <code>{entry.event ?? 'No event'}</code>
          <Badge of={entry.is_verified ? VERIFIED : UNVERIFIED} />
          <span class="small quiet figures">{`${grouped(entry.size)} bytes`}</span>
          <Ago time={entry.received_at} isInside />
        </summary>
        {isOpen.value && <EntryDetail webhookId={webhookId} entry={entry} />}
      </details>
    </li>
  )
}

function EntryDetail({ webhookId, entry }: EntryProps) {
  const params = { id: webhookId, entry: entry.id }
  return (
    <div class="delivery-detail">
      <WhenReady of={useRead('getInboxEntry', { params })}>
        {({ headers, body }) => (
          <>
            <CodeBlock what="Headers" text={headers} />
            <CodeBlock what="Body" text={body} />
          </>
        )}
      </WhenReady>
    </div>
  )
}
