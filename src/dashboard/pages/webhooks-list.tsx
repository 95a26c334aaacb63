import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/copy-button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { TextField } from '../components/field.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { webhooksSource } from '../sources.ts'
import { AddWebhook } from './webhooks-add.tsx'
import { WebhookBadge } from './webhooks-badge.tsx'
import { hintFor } from './webhooks-hints.ts'
import { RECEIVER, RECEIVER_URL } from './webhooks-receiver.ts'
import { daySummary, recentSource } from './webhooks-summary.ts'
import { OutOfReach } from './webhooks-trouble.tsx'

export function WebhookList() {
  const { api } = useDashboard()
  const webhooks = useLive(webhooksSource(api))
  /** The URL with which the dialog opens; null while it is closed. */
  const adding = useSignal<string | null>(null)
  const isEmpty = webhooks.now.state === 'ready' && webhooks.now.value.data.length === 0
  const add = (
    <Button look="main" icon="plus" onClick={() => (adding.value = '')}>
      Add a webhook
    </Button>
  )
  return (
    <>
      <PageHead title="Webhooks" actions={!isEmpty && add}>
        Where the relay tells your programs what happens.
      </PageHead>
      <OutOfReach url={null} />
      <WhenReady
        loaded={webhooks.now}
        skeleton={
          <Card kind="list">
            <Skeleton kind="row" count={3} />
          </Card>
        }
        onRetry={webhooks.refresh}
      >
        {({ data }) =>
          data.length === 0 ? (
            <NoWebhooks onAdd={(url) => (adding.value = url)} />
          ) : (
            <Card kind="list">
              <DataTable caption="Webhooks" rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
            </Card>
          )
        }
      </WhenReady>
      {adding.value !== null && (
        <AddWebhook url={adding.value} onClose={() => (adding.value = null)} />
      )}
    </>
  )
}

const COLUMNS: readonly Column<Webhook>[] = [
  { title: 'Address', cell: (webhook) => <Address webhook={webhook} /> },
  {
    title: 'Events',
    cell: ({ events }) => (
      <p class="webhook-events small quiet">
        {events.map((name) => name.replace('message.', '')).join(', ')}
      </p>
    ),
  },
  { title: 'Last 24 hours', cell: (webhook) => <LastDay webhook={webhook} /> },
  { title: 'State', cell: (webhook) => <WebhookBadge webhook={webhook} /> },
]

function Address({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <a class="webhook-url" href={href('webhooks', [webhook.id])}>
        <PersonText>{webhook.url}</PersonText>
      </a>
      {webhook.description !== null && (
        <p class="webhook-about small quiet">
          <PersonText>{webhook.description}</PersonText>
        </p>
      )}
    </>
  )
}

function LastDay({ webhook }: { readonly webhook: Webhook }) {
  const { api, clock } = useDashboard()
  const { now } = useLive(recentSource(api, webhook.id))
  if (now.state !== 'ready') {
    return (
      <div class="webhook-day small">
        <p>{'\u00A0'}</p>
      </div>
    )
  }
  const { deliveries, failing } = now.value
  const { words, waiting } = daySummary(deliveries, clock.now.value)
  const last = failing?.attempts.at(-1)
  const hint = last === undefined ? null : hintFor(last, webhook.url)
  return (
    <div class="webhook-day small">
      <p>{words}</p>
      {hint !== null && <p class="webhook-trouble">{hint.title}</p>}
      {hint === null && waiting > 0 && <p class="quiet">{waiting} waiting</p>}
    </div>
  )
}

function NoWebhooks({ onAdd }: { readonly onAdd: (url: string) => void }) {
  const url = useSignal('')
  return (
    <Card>
      <EmptyState
        icon="webhooks"
        title="No webhook yet"
        action={
          <form
            class="first-webhook"
            noValidate
            onSubmit={(event) => {
              event.preventDefault()
              onAdd(url.value.trim())
            }}
          >
            <TextField
              label="Address"
              isLabelHidden
              type="url"
              isMono
              placeholder="https://shop.example.com/hooks/messages"
              value={url.value}
              onInput={(text) => (url.value = text)}
            />
            <Button type="submit" look="main">
              Go on
            </Button>
          </form>
        }
      >
        <p>Paste the address at which your program takes events, and choose which.</p>
      </EmptyState>
      <div class="stack stack-tight">
        <h2>None at hand?</h2>
        <p class="quiet">
          This one prints what it is sent. Start it on the machine of the relay, and add{' '}
          <code>{RECEIVER_URL}</code>.
        </p>
        <CodeBlock what="Receiver" text={RECEIVER} />
      </div>
    </Card>
  )
}
