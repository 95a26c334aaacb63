// Why events do not arrive, above all else.

import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { Webhook } from '../resources.ts'
import { healthSource } from '../sources.ts'
import { hintFor } from './webhooks-hints.ts'
import { recentSource } from './webhooks-summary.ts'
import { disabledWords, hostOf } from './webhooks-words.ts'

type Props = { readonly webhook: Webhook; readonly tab: string }

/** What is the matter with one webhook; nothing where all is well. */
export function WebhookTrouble({ webhook, tab }: Props) {
  if (webhook.disabled_reason === null && webhook.is_active) {
    return (
      <>
        <OutOfReach url={webhook.url} />
        <Failing webhook={webhook} />
      </>
    )
  }
  const actions = tab !== 'settings' && (
    <LinkButton href={href('webhooks', [webhook.id, 'settings'])}>To its settings</LinkButton>
  )
  if (webhook.disabled_reason === null) {
    return (
      <Callout tone="plain" title="It is paused" actions={actions}>
        <p>New events are not queued for it; what waits is held.</p>
      </Callout>
    )
  }
  return (
    <Callout tone="bad" title="The relay stopped delivering" actions={actions}>
      <p>{disabledWords(webhook.disabled_reason)}</p>
    </Callout>
  )
}

/** What its last attempt ran into. */
function Failing({ webhook }: { readonly webhook: Webhook }) {
  const { api } = useDashboard()
  const { now } = useLive(recentSource(api, webhook.id))
  const failing = now.state === 'ready' ? now.value.failing : null
  const last = failing?.attempts.at(-1)
  const hint = last === undefined ? null : hintFor(last, webhook.url)
  if (failing === null || hint === null) return null
  const actions = (
    <LinkButton href={href('webhooks', [webhook.id, 'deliveries', failing.id])}>
      Show the delivery
    </LinkButton>
  )
  return (
    <Callout tone="warn" title={hint.title} actions={actions}>
      <p>{hint.advice} Events wait meanwhile, and go out by themselves.</p>
    </Callout>
  )
}

type ReachProps = {
  /** The only one to tell of; null for all. */
  readonly url: string | null
}

/**
 * That the relay's own machine has no way out, which is no failure of a receiver and stands in no
 * attempt. The health catalogue names a webhook by nothing but its host, in its words.
 */
export function OutOfReach({ url }: ReachProps) {
  const { api } = useDashboard()
  const { now } = useLive(healthSource(api))
  const findings = now.state === 'ready' ? now.value.data : []
  const found = findings.find(
    ({ code, why }) =>
      code === 'webhook_out_of_reach' && (url === null || why.includes(hostOf(url))),
  )
  if (found === undefined) return null
  return (
    <Callout tone="bad" title={found.title}>
      <p>
        {found.why} {found.fix}
      </p>
    </Callout>
  )
}
