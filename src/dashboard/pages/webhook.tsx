// One webhook: problems, deliveries, settings and test.

import type { ComponentChildren } from 'preact'

import type { WebhookDay } from '../../api/dashboard.ts'
import type { WebhookStrip } from '../../api/stats.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { DetailView } from '../components/detail-view.tsx'
import { Badge } from '../components/icon.tsx'
import { lazyPage } from '../components/lazy-page.tsx'
import { Card, Facts, PageHead } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard } from '../dashboard.ts'
import { useWebhookDay, useWebhookDays, useWebhookCharts, useWebhooks } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { figureWords, probeWords, WEBHOOKS, webhookState } from '../words/webhooks.ts'
import { Attempts } from './charts.tsx'
import { OutOfReach } from './webhook-parts.tsx'
import { PauseButton } from './webhook-pause.tsx'

const DELIVERIES = lazyPage(null, async () => (await import('./deliveries.tsx')).Deliveries)
const SETTINGS = lazyPage(
  null,
  async () => (await import('./webhook-settings.tsx')).WebhookSettings,
)
const TEST = lazyPage(null, async () => (await import('./webhook-test.tsx')).WebhookTest)
const INBOX = lazyPage(null, async () => (await import('./webhook-test.tsx')).InboxView)

export function WebhookPage() {
  const [id = '', tab = '', delivery = null] = useDashboard().router.route.value.path
  const days = useWebhookDays()
  // The figures are above the deliveries, which would otherwise jump.
  const charts = useWebhookCharts(id)
  const isHeld = [days, charts].some(({ now }) => now.state === 'loading')
  return (
    <DetailView
      page="webhooks"
      noun={WEBHOOKS.noun}
      id={id}
      of={useWebhooks()}
      isHeld={isHeld}
      whyMissing="It was deleted."
      head={(webhook) => (
        <PageHead
          title={<PersonText>{webhookName(webhook)}</PersonText>}
          actions={
            <>
              <Badge of={webhookState(webhook)} />
              <PauseButton webhook={webhook} />
            </>
          }
        >
          <PersonText in="webhook-url">{webhook.url}</PersonText>
        </PageHead>
      )}
    >
      {(webhook) => (
        <>
          <Trouble webhook={webhook} />
          <Tabs id={id} tab={tab} />
          <Tab webhook={webhook} tab={tab} delivery={delivery} />
        </>
      )}
    </DetailView>
  )
}

function Tabs({ id, tab }: { readonly id: string; readonly tab: string }) {
  const hasInbox = useWebhookDay(id)?.is_test_inbox === true
  return (
    <nav class="tabs" aria-label="Webhook sections">
      {Object.entries(TABS)
        .filter(([name]) => name !== 'inbox' || hasInbox)
        .map(([name, words]) => (
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

const TABS = { deliveries: 'Deliveries', inbox: 'Test inbox', settings: 'Settings', test: 'Test' }

function shownTab(tab: string): string {
  return Object.hasOwn(TABS, tab) ? tab : 'deliveries'
}

type Props = { readonly webhook: Webhook }
type TabProps = Props & { readonly tab: string; readonly delivery: string | null }

function Tab({ webhook, tab, delivery }: TabProps): ComponentChildren {
  const shown = shownTab(tab)
  if (shown === 'settings') return <SETTINGS.View webhook={webhook} />
  if (shown === 'test') return <TEST.View webhook={webhook} />
  if (shown === 'inbox') return <INBOX.View webhook={webhook} />
  return (
    <>
      <WebhookFigures webhook={webhook} />
      <DELIVERIES.View webhook={webhook} open={delivery} />
    </>
  )
}

function WebhookFigures({ webhook }: Props) {
  const charts = useWebhookCharts(webhook.id).value
  if (charts === null) return null
  return (
    <Card title="Last 24 hours">
      <Attempts webhooks={[charts]} label={WEBHOOKS.attemptsOf(webhookName(webhook))} />
      <Facts
        of={[
          ['Attempts', figureWords(charts) || false],
          ['Failures, 24 hours', causesWords(charts.causes)],
          ['Failures, 7 days', causesWords(charts.causes_7_days)],
        ]}
      />
    </Card>
  )
}

/** The reason why events don't arrive; nothing while they do. */
function Trouble({ webhook }: Props) {
  const day = useWebhookDay(webhook.id)
  if (webhook.disabled_reason !== null) {
    return (
      <Callout tone="bad" title="The relay stopped delivering events">
        {day?.stopped}
      </Callout>
    )
  }
  if (!webhook.is_active) {
    return (
      <Callout tone="plain" title="This webhook is paused">
        Nothing is delivered to it. When you resume it, you are asked whether to send the events
        that came meanwhile.
      </Callout>
    )
  }
  return (
    <>
      <OutOfReach webhookId={webhook.id} />
      <Failing day={day} />
    </>
  )
}

function Failing({ day }: { readonly day: WebhookDay | null }) {
  const { clock } = useDashboard()
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
      {hint.advice}{' '}
      {day.next_probe_at === null
        ? 'New events are queued meanwhile.'
        : probeWords(day, clock.now.value)}
    </Callout>
  )
}

const CAUSES = {
  http_4xx: '4xx answers',
  http_5xx: '5xx answers',
  http_other: 'Other answers',
  timeout: 'Timeouts',
  refused: 'Connection refused',
  reset: 'Connection closed',
  unreachable: 'Host unreachable',
  tls: 'TLS errors',
  dns: 'Name not found',
  other: 'Other errors',
} as const

function causesWords(causes: WebhookStrip['causes']): string {
  const words = causes.map(({ cause, count }) => `${CAUSES[cause]}: ${grouped(count)}`)
  return words.join(', ') || 'None'
}
