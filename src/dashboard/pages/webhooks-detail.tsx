// One webhook: what went to it, its settings, and a try.

import type { ComponentChildren } from 'preact'

import { href } from '../address.ts'
import { BackLink } from '../components/back-link.tsx'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import type { Webhook } from '../resources.ts'
import { useWebhooks } from '../sources.ts'
import { WebhookBadge } from './webhooks-badge.tsx'
import { Deliveries } from './webhooks-deliveries.tsx'
import { WebhookSettings } from './webhooks-settings.tsx'
import { useWebhookDays } from './webhooks-sources.ts'
import { WebhookTest } from './webhooks-test.tsx'
import { WebhookTrouble } from './webhooks-trouble.tsx'
import { hostOf } from './webhooks-words.ts'

type Props = {
  readonly id: string
  readonly tab: string
  /** The delivery that is open. */
  readonly delivery: string | null
}

const TABS = [
  ['deliveries', 'Deliveries'],
  ['settings', 'Settings'],
  ['test', 'Test'],
] as const

export function WebhookView({ id, tab, delivery }: Props) {
  const webhooks = useWebhooks()
  // It decides whether there is something to tell above the rest, which must not be pushed down by it.
  const isLooking = useWebhookDays().now.state === 'loading'
  const webhook = webhooks.value?.data.find((one) => one.id === id)
  return (
    <>
      <div>
        <BackLink href={href('webhooks')}>Webhooks</BackLink>
        <Head webhook={webhook} />
      </div>
      <WhenReady of={isLooking ? { ...webhooks, now: { state: 'loading' } } : webhooks} count={2}>
        {() =>
          webhook === undefined ? (
            <NoWebhook />
          ) : (
            <>
              <WebhookTrouble webhook={webhook} tab={tab} />
              <Tabs id={id} tab={tab} />
              <Tab webhook={webhook} tab={tab} delivery={delivery} />
            </>
          )
        }
      </WhenReady>
    </>
  )
}

function Head({ webhook }: { readonly webhook: Webhook | undefined }) {
  if (webhook === undefined) return <PageHead title="Webhook">{'\u00A0'}</PageHead>
  return (
    <PageHead
      title={<PersonText>{hostOf(webhook.url)}</PersonText>}
      actions={<WebhookBadge webhook={webhook} />}
    >
      <span class="webhook-url">
        <PersonText>{webhook.url}</PersonText>
      </span>
    </PageHead>
  )
}

function Tabs({ id, tab }: { readonly id: string; readonly tab: string }) {
  return (
    <nav class="tabs" aria-label="Parts of the webhook">
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

type TabProps = Omit<Props, 'id'> & { readonly webhook: Webhook }

function Tab({ webhook, tab, delivery }: TabProps): ComponentChildren {
  const shown = shownTab(tab)
  if (shown === 'settings') return <WebhookSettings webhook={webhook} />
  if (shown === 'test') return <WebhookTest webhook={webhook} />
  return <Deliveries webhook={webhook} open={delivery} />
}

function NoWebhook() {
  return (
    <Card>
      <EmptyState
        icon="webhooks"
        title="There is no such webhook"
        action={<LinkButton href={href('webhooks')}>All webhooks</LinkButton>}
      >
        It was deleted.
      </EmptyState>
    </Card>
  )
}
