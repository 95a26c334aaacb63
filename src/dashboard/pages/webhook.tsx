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
import { Card, Facts, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { DetailView } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Delivery, RotatedSecret, Webhook, WebhookDay } from '../resources.ts'
import {
  useDelivery,
  useWebhookDay,
  useWebhookDays,
  useWebhookPictures,
  useWebhooks,
} from '../sources.ts'
import {
  causesWords,
  deliveryState,
  figureWords,
  probeWords,
  WEBHOOK_FORM,
  WEBHOOK_TEST,
  WEBHOOKS,
  webhookState,
} from '../words/webhooks.ts'
import { Deliveries } from './deliveries.tsx'
import { DeliveryDetail, Refusal } from './delivery.tsx'
import { Attempts } from './pictures.tsx'
import { InboxView } from './webhook-inbox.tsx'
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

/** The webhook of the address. */
export function WebhookPage() {
  const [id = '', tab = '', delivery = null] = useDashboard().router.route.value.path
  return <WebhookView id={id} tab={tab} delivery={delivery} />
}

function WebhookView({ id, tab, delivery }: ViewProps) {
  const days = useWebhookDays()
  // The figures stand above the deliveries, which would jump.
  const pictures = useWebhookPictures(id)
  const isHeld = [days, pictures].some(({ now }) => now.state === 'loading')
  return (
    <DetailView
      page="webhooks"
      noun={WEBHOOKS.noun}
      id={id}
      of={useWebhooks()}
      isHeld={isHeld}
      whyMissing={WEBHOOKS.whyMissing}
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
  const hasInbox = useWebhookDay(id)?.is_test_inbox === true
  return (
    <nav class="tabs" aria-label={WEBHOOKS.sections}>
      {TABS.filter(([name]) => name !== 'inbox' || hasInbox).map(([name, words]) => (
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

const TABS = Object.entries(WEBHOOKS.tabs)

function shownTab(tab: string): string {
  return Object.hasOwn(WEBHOOKS.tabs, tab) ? tab : 'deliveries'
}

type Props = { readonly webhook: Webhook }
type TabProps = Props & Omit<ViewProps, 'id'>

function Tab({ webhook, tab, delivery }: TabProps): ComponentChildren {
  const shown = shownTab(tab)
  if (shown === 'settings') return <WebhookSettings webhook={webhook} />
  if (shown === 'test') return <WebhookTest webhook={webhook} />
  if (shown === 'inbox') return <InboxView webhook={webhook} />
  return (
    <>
      <WebhookFigures webhook={webhook} />
      <Deliveries webhook={webhook} open={delivery} />
    </>
  )
}

function WebhookFigures({ webhook }: Props) {
  const pictures = useWebhookPictures(webhook.id).value
  if (pictures === null) return null
  return (
    <Card title={WEBHOOKS.lastDay}>
      <Attempts webhooks={[pictures]} label={WEBHOOKS.attemptsOf(webhookName(webhook))} />
      <Facts
        of={[
          [WEBHOOKS.attempts, figureWords(pictures) || false],
          [WEBHOOKS.failures, causesWords(pictures.causes)],
          [WEBHOOKS.failures7, causesWords(pictures.causes_7_days)],
        ]}
      />
    </Card>
  )
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
    <LinkButton href={href('webhooks', [webhook.id, 'settings'])}>
      {WEBHOOKS.openSettings}
    </LinkButton>
  )
  if (webhook.disabled_reason === null) {
    return (
      <Callout tone="plain" title={WEBHOOKS.isPaused} actions={actions}>
        {WEBHOOKS.isPausedHint}
      </Callout>
    )
  }
  return (
    <Callout tone="bad" title={WEBHOOKS.isStopped} actions={actions}>
      {day?.stopped}
    </Callout>
  )
}

function Failing({ day }: { readonly day: WebhookDay | null }) {
  const { clock } = useDashboard()
  const failing = day?.failing
  const hint = failing?.attempts.at(-1)?.hint
  if (!failing || !hint) return null
  const show = (
    <LinkButton href={href('webhooks', [failing.webhook_id, 'deliveries', failing.id])}>
      {WEBHOOKS.viewDelivery}
    </LinkButton>
  )
  return (
    <Callout tone="warn" title={hint.title} actions={show}>
      {hint.advice}{' '}
      {day.next_probe_at === null ? WEBHOOKS.queued : probeWords(day, clock.now.value)}
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
          noun={WEBHOOK_FORM.deleteNoun}
          path={`webhooks/${webhook.id}`}
          consequence={WEBHOOK_FORM.deleteConsequence}
        >
          {WEBHOOK_FORM.addedAt} <Ago time={webhook.created_at} />. {WEBHOOK_FORM.deleteHint}
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
    () => notices.done(WEBHOOK_FORM.saved),
  )
  return (
    <Card title={WEBHOOK_FORM.settings}>
      <Form onSubmit={start}>
        <WebhookFields draft={draft} failure={failure} />
        <FailureNote failure={failure} but={FIELDS} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!isChanged}>
            {WEBHOOK_FORM.save}
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
    ({ is_active }) => notices.done(is_active ? WEBHOOK_FORM.resumed : WEBHOOK_FORM.paused),
  )
  return (
    <Card title={WEBHOOK_FORM.status}>
      <Switch
        label={WEBHOOK_FORM.deliver}
        isOn={webhook.is_active && webhook.disabled_reason === null}
        hint={WEBHOOK_FORM.deliverHint}
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
    <Card title={WEBHOOK_FORM.secretTitle}>
      <p class="quiet">{WEBHOOK_FORM.secretHint}</p>
      <div class="actions">
        <ConfirmButton
          text={WEBHOOK_FORM.newSecret}
          title={WEBHOOK_FORM.newSecretTitle}
          confirm={WEBHOOK_FORM.createSecret}
          look="main"
          call={() => api.post<RotatedSecret>(`webhooks/${webhook.id}/rotate-secret`)}
          onDone={(rotated) => (secret.value = rotated.secret)}
        >
          {WEBHOOK_FORM.bothValid}
        </ConfirmButton>
      </div>
      {secret.value !== null && (
        <SigningSecret
          lead={WEBHOOK_FORM.oldValid}
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
      <Card title={WEBHOOK_TEST.title}>
        <p class="quiet">{WEBHOOK_TEST.sample(webhook.events[0] ?? '')}</p>
        <div class="row">
          <Button look="main" icon="send" isBusy={isBusy} onClick={start}>
            {WEBHOOK_TEST.send}
          </Button>
          <Refusal failure={failure} />
        </div>
        {sent.value !== null && (
          <TestOutcome key={sent.value.id} webhook={webhook} sent={sent.value} />
        )}
      </Card>
      <Card title={WEBHOOK_TEST.noEndpoint}>
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
