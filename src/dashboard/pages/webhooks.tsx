// All webhooks, each with its latest success or trouble.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { inboxToken, webhookName, withScheme } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import { Form, TextField } from '../components/form.tsx'
import { Badge } from '../components/icon.tsx'
import { lazyPage } from '../components/lazy-page.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { CreatedWebhook, Webhook, WebhookStrip } from '../resources.ts'
import { useHomePictures, useWebhookDay, useWebhooks } from '../sources.ts'
import {
  figureWords,
  USUAL_EVENTS,
  WEBHOOK_FORM,
  WEBHOOK_TEST,
  WEBHOOKS,
  webhookState,
} from '../words/webhooks.ts'
import { Attempts } from './pictures.tsx'
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

const ONE = lazyPage(WEBHOOKS.noun, async () => (await import('./webhook.tsx')).WebhookPage)

export function WebhooksPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  useEffect(() => void ONE.fetch(), [])
  return id === '' ? <WebhookList /> : <ONE.View key={id} />
}

function WebhookList() {
  const webhooks = useWebhooks()
  const strips = useHomePictures().value?.webhooks ?? []
  const stripOf = ({ id }: Webhook) => strips.find(({ webhook_id }) => webhook_id === id)
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
            <>
              <Card title={WEBHOOKS.allAttempts}>
                <Attempts webhooks={strips} />
              </Card>
              <Card kind="list">
                <ul class="webhook-rows" aria-label={WEBHOOKS.title}>
                  {data.map((webhook) => (
                    <WebhookRow key={webhook.id} webhook={webhook} strip={stripOf(webhook)} />
                  ))}
                </ul>
              </Card>
            </>
          )
        }
      </WhenReady>
      {adding.value !== null && (
        <AddWebhook url={adding.value} onClose={() => (adding.value = null)} />
      )}
    </>
  )
}

type RowProps = { readonly webhook: Webhook; readonly strip: WebhookStrip | undefined }

function WebhookRow({ webhook, strip }: RowProps) {
  const day = useWebhookDay(webhook.id)
  const hint = day?.failing?.attempts.at(-1)?.hint
  const name = webhookName(webhook)
  return (
    <li class="webhook-row">
      <div class="webhook-row-name">
        <a class="one-line" href={href('webhooks', [webhook.id])}>
          <PersonText>{name}</PersonText>
        </a>
        <p class="one-line small quiet">
          <PersonText>{webhook.url}</PersonText>
        </p>
      </div>
      <div class="webhook-row-chart">
        {strip && <Attempts webhooks={[strip]} label={WEBHOOKS.attemptsOf(name)} />}
      </div>
      <div class="webhook-row-day small">
        {hint && <p class="one-line webhook-trouble">{hint.title}</p>}
        {!hint && day !== null && day.waiting > 0 && <p>{WEBHOOKS.waiting(day.waiting)}</p>}
        {strip && <p class="quiet">{figureWords(strip)}</p>}
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
