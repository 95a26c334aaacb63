// The list of webhooks, each with its figures or problem.

import { useSignal } from '@preact/signals'

import type { WebhookStrip } from '../../api/stats.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName, withScheme } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Form, TextField } from '../components/form.tsx'
import { Badge } from '../components/icon.tsx'
import { lazyDialog, lazyPage } from '../components/lazy-page.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { useHomeCharts, useWebhookDay, useWebhooks } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { WEBHOOKS, webhookState } from '../words/webhooks.ts'
import { Attempts } from './charts.tsx'
import { OutOfReach, Receiver, RECEIVER_URL, UseInbox } from './webhook-parts.tsx'
import { PauseButton, useRetry } from './webhook-pause.tsx'

const ONE = lazyPage(WEBHOOKS.noun, async () => (await import('./webhook.tsx')).WebhookPage)
const ADD = lazyDialog(async () => (await import('./webhook-settings.tsx')).AddWebhook)

export function WebhooksPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  return id === '' ? <WebhookList /> : <ONE.View key={id} />
}

function WebhookList() {
  const webhooks = useWebhooks()
  const strips = useHomeCharts().value?.webhooks ?? []
  const stripOf = ({ id }: Webhook) => strips.find(({ webhook_id }) => webhook_id === id)
  /** The initial URL in the dialog; null while it is closed. */
  const adding = useSignal<string | null>(null)
  const add = (
    <Button variant="main" icon="plus" onClick={() => (adding.value = '')}>
      {WEBHOOKS.add}
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
            <>
              <Card title="Attempts of all webhooks, last 24 hours">
                <Attempts webhooks={strips} />
              </Card>
              <Card kind="list">
                <ul aria-label="Webhooks">
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
        <ADD.View url={adding.value} onClose={() => (adding.value = null)} />
      )}
    </>
  )
}

type RowProps = { readonly webhook: Webhook; readonly strip: WebhookStrip | undefined }

function WebhookRow({ webhook, strip }: RowProps) {
  const day = useWebhookDay(webhook.id)
  const hint = day?.failing?.attempts.at(-1)?.hint
  const name = webhookName(webhook)
  const retry = useRetry(webhook, day)
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
        {hint && <p class="webhook-trouble">{hint.title}</p>}
        {day !== null && day.waiting > 0 && <p>{`${grouped(day.waiting)} waiting`}</p>}
        <FailureNote failure={retry.failure} />
      </div>
      <Badge of={webhookState(webhook)} />
      {webhook.is_active && day?.failing ? (
        <Button icon="again" isBusy={retry.isBusy} onClick={retry.start}>
          Retry now
          <span class="visually-hidden">{name}</span>
        </Button>
      ) : (
        <PauseButton webhook={webhook} isInList />
      )}
    </li>
  )
}

function NoWebhooks({ onAdd }: { readonly onAdd: (url: string) => void }) {
  const url = useSignal('')
  const form = (
    <Form class="first-webhook" onSubmit={() => onAdd(withScheme(url.value))}>
      <TextField
        label={WEBHOOKS.url}
        isLabelHidden
        type="url"
        isMono
        placeholder={WEBHOOKS.urlExample}
        bind={url}
      />
      <Button type="submit" variant="main">
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
        <h2>{WEBHOOKS.noEndpoint}</h2>
        <UseInbox onUrl={onAdd} />
        <Receiver />
        <div class="actions">
          <Button onClick={() => onAdd(RECEIVER_URL)}>Use this URL</Button>
        </div>
      </div>
    </Card>
  )
}
