// All webhooks, each with its latest success or trouble.

import { useSignal } from '@preact/signals'

import { inboxToken, webhookName, withScheme } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
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
import {
  USUAL_EVENTS,
  WEBHOOK_FORM,
  WEBHOOK_TEST,
  WEBHOOKS,
  webhookState,
} from '../words/webhooks.ts'
import {
  bodyOfDraft,
  FIELDS,
  OutOfReach,
  Receiver,
  RECEIVER_URL,
  SigningSecret,
  UseInbox,
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
      {WEBHOOKS.add}
    </Button>
  )
  return (
    <>
      <PageHead title={WEBHOOKS.title} actions={webhooks.value?.data.length !== 0 && add}>
        {WEBHOOKS.lead}
      </PageHead>
      <OutOfReach webhookId={null} />
      <WhenReady of={webhooks} kind="list" count={3}>
        {({ data }) =>
          data.length === 0 ? (
            <NoWebhooks onAdd={(url) => (adding.value = url)} />
          ) : (
            <Card kind="list">
              <ul class="webhook-rows" aria-label={WEBHOOKS.title}>
                {data.map((webhook) => (
                  <WebhookRow key={webhook.id} webhook={webhook} />
                ))}
              </ul>
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

type RowProps = { readonly webhook: Webhook }

function WebhookRow({ webhook }: RowProps) {
  const day = useWebhookDay(webhook.id)
  const hint = day?.failing?.attempts.at(-1)?.hint
  return (
    <li class="webhook-row">
      <div class="webhook-row-name">
        <a class="one-line" href={href('webhooks', [webhook.id])}>
          <PersonText>{webhookName(webhook)}</PersonText>
        </a>
        <p class="one-line small quiet">
          <PersonText>{webhook.url}</PersonText>
        </p>
      </div>
      <div class="webhook-row-day small">
        <p class="one-line">{day?.words ?? '\u00A0'}</p>
        {hint && <p class="one-line webhook-trouble">{hint.title}</p>}
        {!hint && day !== null && day.waiting > 0 && (
          <p class="quiet">{WEBHOOKS.waiting(day.waiting)}</p>
        )}
      </div>
      <Badge of={webhookState(webhook)} />
    </li>
  )
}

function NoWebhooks({ onAdd }: { readonly onAdd: (url: string) => void }) {
  const url = useSignal('')
  const form = (
    <Form class="first-webhook" onSubmit={() => onAdd(withScheme(url.value))}>
      <TextField
        label={WEBHOOK_FORM.url}
        isLabelHidden
        type="url"
        isMono
        placeholder={WEBHOOK_FORM.urlExample}
        bind={url}
      />
      <Button type="submit" look="main">
        {WEBHOOKS.continue}
      </Button>
    </Form>
  )
  return (
    <Card>
      <EmptyState icon="webhooks" title={WEBHOOKS.none} action={form}>
        {WEBHOOKS.noneHint}
      </EmptyState>
      <div class="stack-tight">
        <h2>{WEBHOOK_TEST.noEndpoint}</h2>
        <UseInbox onUrl={onAdd} />
        <Receiver />
        <div class="actions">
          <Button onClick={() => onAdd(RECEIVER_URL)}>{WEBHOOK_TEST.useUrl}</Button>
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
    const { id, url: target, secret } = created.value
    const done = () => {
      created.value = null
      onClose()
      router.go(href('webhooks', [id, inboxToken(target) === null ? 'test' : 'inbox']))
    }
    return <SigningSecret lead={WEBHOOKS.added} secret={secret} onDone={done} />
  }
  return (
    <ActionDialog
      title={WEBHOOKS.add}
      confirm={WEBHOOKS.add}
      action={action}
      but={FIELDS}
      onClose={onClose}
    >
      <WebhookFields draft={draft} failure={action.failure} isFirst />
    </ActionDialog>
  )
}
