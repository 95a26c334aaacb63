// One webhook: its trouble, deliveries, settings, and a test.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ConfirmButton, DeleteCard } from '../components/dialog.tsx'
import { Form, Switch } from '../components/form.tsx'
import { Badge } from '../components/icon.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { DetailView } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Delivery, RotatedSecret, Webhook, WebhookDay } from '../resources.ts'
import { useDelivery, useWebhookDay, useWebhookDays, useWebhooks } from '../sources.ts'
import { deliveryState, webhookState } from '../words/webhooks.ts'
import { Deliveries } from './deliveries.tsx'
import { DeliveryDetail, Refusal } from './delivery.tsx'
import {
  bodyOfDraft,
  FIELDS,
  OutOfReach,
  Receiver,
  SigningSecret,
  WebhookFields,
  type Draft,
} from './webhook-parts.tsx'

type ViewProps = {
  readonly id: string
  readonly tab: string
  readonly delivery: string | null
}

const TABS = [
  ['deliveries', 'Deliveries'],
  ['settings', 'Settings'],
  ['test', 'Test'],
] as const

export function WebhookView({ id, tab, delivery }: ViewProps) {
  return (
    <DetailView
      page="webhooks"
      noun="Webhook"
      id={id}
      of={useWebhooks()}
      isHeld={useWebhookDays().now.state === 'loading'}
      whyMissing="It was deleted."
      head={(webhook) => (
        <PageHead
          title={<PersonText>{webhookName(webhook)}</PersonText>}
          actions={<Badge of={webhookState(webhook)} />}
        >
          <span class="webhook-url">
            <PersonText>{webhook.url}</PersonText>
          </span>
        </PageHead>
      )}
    >
      {(webhook) => (
        <>
          <Trouble webhook={webhook} tab={tab} />
          <Tabs id={id} tab={tab} />
          <Tab webhook={webhook} tab={tab} delivery={delivery} />
        </>
      )}
    </DetailView>
  )
}

function Tabs({ id, tab }: Pick<ViewProps, 'id' | 'tab'>) {
  return (
    <nav class="tabs" aria-label="Webhook sections">
      {TABS.map(([name, words]) => (
        <a
          key={name}
          href={href('webhooks', [id, name])}
          aria-current={name === shownTab(tab) ? 'page' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  )
}

function shownTab(tab: string): string {
  return TABS.some(([name]) => name === tab) ? tab : TABS[0][0]
}

type Props = { readonly webhook: Webhook }
type TabProps = Props & Omit<ViewProps, 'id'>

function Tab({ webhook, tab, delivery }: TabProps): ComponentChildren {
  const shown = shownTab(tab)
  if (shown === 'settings') return <WebhookSettings webhook={webhook} />
  if (shown === 'test') return <WebhookTest webhook={webhook} />
  return <Deliveries webhook={webhook} open={delivery} />
}

/** The reason why events do not arrive; nothing while they do. */
function Trouble({ webhook, tab }: Props & { readonly tab: string }) {
  const day = useWebhookDay(webhook.id)
  if (webhook.disabled_reason === null && webhook.is_active) {
    return (
      <>
        <OutOfReach webhookId={webhook.id} />
        <Failing day={day} />
      </>
    )
  }
  const actions = tab !== 'settings' && (
    <LinkButton href={href('webhooks', [webhook.id, 'settings'])}>Open settings</LinkButton>
  )
  if (webhook.disabled_reason === null) {
    return (
      <Callout tone="plain" title="This webhook is paused" actions={actions}>
        New events aren't queued for it, and pending ones are on hold.
      </Callout>
    )
  }
  return (
    <Callout tone="bad" title="The relay stopped delivering events" actions={actions}>
      {day?.stopped}
    </Callout>
  )
}

function Failing({ day }: { readonly day: WebhookDay | null }) {
  const failing = day?.failing
  const hint = failing?.attempts.at(-1)?.hint
  if (!failing || !hint) return null
  const show = (
    <LinkButton href={href('webhooks', [failing.webhook_id, 'deliveries', failing.id])}>
      View delivery
    </LinkButton>
  )
  return (
    <Callout tone="warn" title={hint.title} actions={show}>
      {hint.advice} New events are queued meanwhile.
    </Callout>
  )
}

function WebhookSettings({ webhook }: Props) {
  return (
    <div class="columns">
      <WebhookForm key={webhook.updated_at} webhook={webhook} />
      <div class="stack">
        <Pause webhook={webhook} />
        <Secret webhook={webhook} />
        <DeleteCard
          page="webhooks"
          noun="webhook"
          path={`webhooks/${webhook.id}`}
          consequence="Its pending events and its secret will be deleted. This can't be undone."
        >
          Added <Ago time={webhook.created_at} />. To stop events for a while, turn it off instead.
        </DeleteCard>
      </div>
    </div>
  )
}

/** Starts over whenever the webhook is changed. */
function WebhookForm({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { url, events, description } = webhook
  const before: Draft = {
    url,
    events,
    description: description ?? '',
    attachmentLinks: webhook.attachment_links === true,
  }
  const draft = useSignal(before)
  const isChanged = JSON.stringify(draft.value) !== JSON.stringify(before)
  const { isBusy, failure, start } = useAction(
    () => api.put<Webhook>(`webhooks/${webhook.id}`, bodyOfDraft(draft.value)),
    () => notices.done('Saved.'),
  )
  return (
    <Card title="Events and URL">
      <Form onSubmit={start}>
        <WebhookFields draft={draft} failure={failure} />
        <FailureNote failure={failure} but={FIELDS} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!isChanged}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  )
}

function Pause({ webhook }: Props) {
  const { api, notices } = useDashboard()
  const { failure, start } = useAction(
    (is_active: boolean) => api.put<Webhook>(`webhooks/${webhook.id}`, { is_active }),
    ({ is_active }) => notices.done(is_active ? 'Webhook resumed.' : 'Webhook paused.'),
  )
  return (
    <Card title="Status">
      <Switch
        label="Deliver events"
        isOn={webhook.is_active && webhook.disabled_reason === null}
        hint="When off, new events aren't queued, and pending ones are on hold."
        onChange={start}
      />
      <FailureNote failure={failure} />
    </Card>
  )
}

function Secret({ webhook }: Props) {
  const { api } = useDashboard()
  // Lives as long as the dialog that shows it.
  const secret = useSignal<string | null>(null)
  return (
    <Card title="Signing secret">
      <p class="quiet">
        Signs every event. If it's lost or someone else may know it, create a new one.
      </p>
      <div class="actions">
        <ConfirmButton
          text="New secret…"
          title="Create a new secret?"
          confirm="Create secret"
          look="main"
          call={() => api.post<RotatedSecret>(`webhooks/${webhook.id}/rotate-secret`)}
          onDone={(rotated) => (secret.value = rotated.secret)}
        >
          Both secrets are valid for 24 hours, so you can update your endpoint without losing
          events.
        </ConfirmButton>
      </div>
      {secret.value !== null && (
        <SigningSecret
          lead="The old secret stays valid for 24 hours."
          secret={secret.value}
          onDone={() => (secret.value = null)}
        />
      )}
    </Card>
  )
}

function WebhookTest({ webhook }: Props) {
  const { api } = useDashboard()
  const sent = useSignal<Delivery | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.post<Delivery>(`webhooks/${webhook.id}/test`),
    (delivery) => (sent.value = delivery),
  )
  return (
    <>
      <Card title="Send a test event">
        <p class="quiet">
          Sends a sample <code>{webhook.events[0]}</code> event immediately, even after failures. It
          is from +12025550100, and its ID starts with <code>evt_test_</code>.
        </p>
        <div class="row">
          <Button look="main" icon="send" isBusy={isBusy} onClick={start}>
            Send test event
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && (
          <TestOutcome key={sent.value.id} webhook={webhook} sent={sent.value} />
        )}
      </Card>
      <Card title="No endpoint yet?">
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
