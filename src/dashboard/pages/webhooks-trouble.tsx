// Why events do not arrive, above all else.

import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import type { Webhook } from '../resources.ts'
import { useRelayState } from '../sources.ts'
import type { WebhookDay } from './webhooks-resources.ts'
import { useWebhookDay, useWebhookDays } from './webhooks-sources.ts'

type Props = { readonly webhook: Webhook; readonly tab: string }

/** What is the matter with one webhook; nothing where all is well. */
export function WebhookTrouble({ webhook, tab }: Props) {
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
    <LinkButton href={href('webhooks', [webhook.id, 'settings'])}>To its settings</LinkButton>
  )
  if (webhook.disabled_reason === null) {
    return (
      <Callout tone="plain" title="It is paused" actions={actions}>
        New events are not queued for it; what waits is held.
      </Callout>
    )
  }
  return (
    <Callout tone="bad" title="The relay stopped delivering" actions={actions}>
      {day?.stopped}
    </Callout>
  )
}

/** What its last attempt ran into. */
function Failing({ day }: { readonly day: WebhookDay | null }) {
  const failing = day?.failing
  const hint = failing?.attempts.at(-1)?.hint
  if (!failing || !hint) return null
  const actions = (
    <LinkButton href={href('webhooks', [failing.webhook_id, 'deliveries', failing.id])}>
      Show the delivery
    </LinkButton>
  )
  return (
    <Callout tone="warn" title={hint.title} actions={actions}>
      {hint.advice} Events wait meanwhile, and go out by themselves.
    </Callout>
  )
}

type ReachProps = {
  /** The webhook in question; null for all of them. */
  readonly webhookId: string | null
}

/**
 * That the relay's own machine has no way out, which is no failure of a receiver and stands in no
 * attempt; or why nothing is known of the last deliveries.
 */
export function OutOfReach({ webhookId }: ReachProps) {
  const days = useWebhookDays()
  const found = useRelayState().value?.findings.find(
    ({ cause: { code, about } }) =>
      code === 'webhook_out_of_reach' && (webhookId === null || about.id === webhookId),
  )?.cause
  if (found === undefined) return <ReadFailure of={days} />
  return (
    <Callout tone="bad" title={found.title}>
      {found.why} {found.fix}
    </Callout>
  )
}
