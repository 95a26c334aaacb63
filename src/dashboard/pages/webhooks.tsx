// All webhooks, each with its latest success or trouble.

import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'
import { withScheme } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { Form, TextField } from '../components/form.tsx'
import { Badge } from '../components/icon.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { CreatedWebhook, Webhook } from '../resources.ts'
import { useWebhookDay, useWebhooks } from '../sources.ts'
import { USUAL_EVENTS, webhookState } from '../words/webhooks.ts'
import {
  bodyOfDraft,
  EXAMPLE_URL,
  FIELDS,
  OutOfReach,
  Receiver,
  RECEIVER_URL,
  SigningSecret,
  WebhookFields,
  type Draft,
} from './webhook-parts.tsx'
import { WebhookView } from './webhook.tsx'

export function WebhooksPage() {
  const { router } = useDashboard()
  const [id = '', tab = '', delivery = null] = router.route.value.path
  useNewView(id)
  if (id === '') return <WebhookList />
  return <WebhookView key={id} id={id} tab={tab} delivery={delivery} />
}

function WebhookList() {
  const webhooks = useWebhooks()
  /** The URL in the dialog at first; null while it is closed. */
  const adding = useSignal<string | null>(null)
  const add = (
    <Button look="main" icon="plus" onClick={() => (adding.value = '')}>
      Add webhook
    </Button>
  )
  return (
    <>
      <PageHead title="Webhooks" actions={webhooks.value?.data.length !== 0 && add}>
        The relay sends events to these URLs.
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
  {
    title: 'URL',
    cell: ({ id, url, description }) => (
      <>
        <a class="webhook-url" href={href('webhooks', [id])}>
          <PersonText>{url}</PersonText>
        </a>
        {description !== null && (
          <p class="webhook-about small quiet">
            <PersonText>{description}</PersonText>
          </p>
        )}
      </>
    ),
  },
  {
    title: 'Events',
    cell: ({ events }) => (
      <p class="webhook-events small quiet">
        {events.map((name: string) => name.replace('message.', '')).join(', ')}
      </p>
    ),
  },
  { title: 'Last 24 hours', cell: (webhook) => <LastDay webhook={webhook} /> },
  { title: 'Status', cell: (webhook) => <Badge of={webhookState(webhook)} /> },
]

function LastDay({ webhook }: { readonly webhook: Webhook }) {
  const day = useWebhookDay(webhook.id)
  const hint = day?.failing?.attempts.at(-1)?.hint
  return (
    <div class="webhook-day small">
      <p>{day?.words ?? '\u00A0'}</p>
      {hint && <p class="webhook-trouble">{hint.title}</p>}
      {!hint && day !== null && day.waiting > 0 && (
        <p class="quiet">{grouped(day.waiting)} pending</p>
      )}
    </div>
  )
}

function NoWebhooks({ onAdd }: { readonly onAdd: (url: string) => void }) {
  const url = useSignal('')
  const form = (
    <Form class="first-webhook" onSubmit={() => onAdd(withScheme(url.value))}>
      <TextField label="URL" isLabelHidden type="url" isMono placeholder={EXAMPLE_URL} bind={url} />
      <Button type="submit" look="main">
        Continue
      </Button>
    </Form>
  )
  return (
    <Card>
      <EmptyState icon="webhooks" title="No webhooks yet" action={form}>
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

type AddProps = { readonly url: string; readonly onClose: () => void }

function AddWebhook({ url, onClose }: AddProps) {
  const { api, router } = useDashboard()
  const draft = useSignal<Draft>({
    url,
    events: USUAL_EVENTS,
    description: '',
    attachmentLinks: false,
  })
  // Lives as long as the dialog: nothing else in the page ever holds the secret.
  const created = useSignal<CreatedWebhook | null>(null)
  const action = useAction(
    () => api.post<CreatedWebhook>('webhooks', bodyOfDraft(draft.value)),
    (webhook) => (created.value = webhook),
  )
  if (created.value !== null) {
    const { id, secret } = created.value
    const done = () => {
      created.value = null
      onClose()
      router.go(href('webhooks', [id, 'test']))
    }
    return <SigningSecret lead="Webhook added." secret={secret} onDone={done} />
  }
  return (
    <ActionDialog
      title="Add webhook"
      confirm="Add webhook"
      action={action}
      but={FIELDS}
      onClose={onClose}
    >
      <WebhookFields draft={draft} failure={action.failure} isFirst />
    </ActionDialog>
  )
}
