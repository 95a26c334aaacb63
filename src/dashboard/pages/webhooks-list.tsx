import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'
import { withScheme } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { TextField } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import type { Webhook } from '../resources.ts'
import { useWebhooks } from '../sources.ts'
import { AddWebhook } from './webhooks-add.tsx'
import { WebhookBadge } from './webhooks-badge.tsx'
import { EXAMPLE_URL } from './webhooks-form.tsx'
import { Receiver, RECEIVER_URL } from './webhooks-receiver.tsx'
import { useWebhookDay } from './webhooks-sources.ts'
import { OutOfReach } from './webhooks-trouble.tsx'

export function WebhookList() {
  const webhooks = useWebhooks()
  /** The URL with which the dialog opens; null while it is closed. */
  const adding = useSignal<string | null>(null)
  const add = (
    <Button look="main" icon="plus" onClick={() => (adding.value = '')}>
      Add a webhook
    </Button>
  )
  return (
    <>
      <PageHead title="Webhooks" actions={webhooks.value?.data.length !== 0 && add}>
        Where the relay tells your programs what happens.
      </PageHead>
      <OutOfReach webhookId={null} />
      <WhenReady of={webhooks} kind="list" count={3}>
        {({ data }) =>
          data.length === 0 ? (
            <NoWebhooks onAdd={(url) => (adding.value = url)} />
          ) : (
            <Card kind="list">
              <DataTable caption="Webhooks" rows={data} columns={COLUMNS} />
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
  const day = useWebhookDay(webhook.id)
  const hint = day?.failing?.attempts.at(-1)?.hint
  return (
    <div class="webhook-day small">
      <p>{day?.words ?? '\u00A0'}</p>
      {hint && <p class="webhook-trouble">{hint.title}</p>}
      {!hint && day !== null && day.waiting > 0 && (
        <p class="quiet">{grouped(day.waiting)} waiting</p>
      )}
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
          <Form class="first-webhook" onSubmit={() => onAdd(withScheme(url.value))}>
            <TextField
              label="Address"
              isLabelHidden
              type="url"
              isMono
              placeholder={EXAMPLE_URL}
              bind={url}
            />
            <Button type="submit" look="main">
              Continue
            </Button>
          </Form>
        }
      >
        Enter the URL that should receive events.
      </EmptyState>
      <div class="stack-tight">
        <h2>No endpoint yet?</h2>
        <Receiver />
        <div class="actions">
          <Button onClick={() => onAdd(RECEIVER_URL)}>Use this URL</Button>
        </div>
      </div>
    </Card>
  )
}
