import { isFailing } from '../domain/breaker.ts'
import type { Finding } from '../domain/finding.ts'
import type { WebhookId } from '../domain/ids.ts'
import { grouped } from '../domain/number-words.ts'
import { hostOf, webhookName } from '../domain/webhook-url.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { StoredWebhook, Webhook } from '../storage/webhooks.ts'

type Problem = Pick<Finding, 'code' | 'severity' | 'title' | 'why' | 'fix'>

/** One finding for each webhook whose events don't arrive. */
export function findingsOf(
  webhooks: readonly StoredWebhook[],
  isUnreachable: (id: WebhookId) => boolean,
): readonly Finding[] {
  return webhooks.flatMap((webhook) => {
    const problem = problemOf(webhook, isUnreachable(webhook.id))
    return problem === null ? [] : [{ ...problem, key: webhook.id, depends_on: null }]
  })
}

function problemOf(webhook: StoredWebhook, isUnreachable: boolean): Problem | null {
  if (webhook.disabledReason !== null) return deactivated(webhook.disabledReason, webhook)
  if (!isFailing(webhook, isUnreachable)) return null
  if (isUnreachable) {
    return {
      code: 'webhook_out_of_reach',
      severity: 'error',
      title: `${webhookName(webhook)} webhook cannot be reached`,
      why: `This machine has no route or no DNS server to reach ${hostOf(webhook)}.`,
      fix: 'Check the network of this machine. On a Mac, also allow Hookline in System Settings, Privacy & Security, Local Network. Hookline retries every minute; no event is lost.',
    }
  }
  return {
    code: 'webhook_failing',
    severity: 'warning',
    title: `${webhookName(webhook)} webhook is failing`,
    why: `${hostOf(webhook)} failed ${grouped(webhook.breaker.failuresInRow)} times in a row.`,
    fix: 'Open recent deliveries to see the error. Events are queued and retried automatically.',
  }
}

function deactivated(reason: DisabledReason, webhook: Webhook): Problem {
  const severity = 'error'
  const title = `${webhookName(webhook)} webhook was turned off`
  switch (reason) {
    case 'gone':
      return {
        code: 'webhook_gone',
        severity,
        title,
        why: `${hostOf(webhook)} returned 410 Gone twice.`,
        fix: 'Correct the URL and turn it back on, or delete it. Its events are kept for 30 days.',
      }
    case 'failing':
      return {
        code: 'webhook_deactivated',
        severity,
        title,
        why: `Every delivery to ${hostOf(webhook)} failed for five days.`,
        fix: 'Fix the endpoint and turn the webhook back on. Its events are kept for 30 days and are sent then.',
      }
    case 'secret_unreadable':
      return {
        code: 'webhook_secret_unreadable',
        severity: 'error',
        title: `Signing secret of the ${webhookName(webhook)} webhook cannot be read`,
        why: 'It was encrypted with a different secret.key. Events are never sent unsigned.',
        fix: 'Restore the original secret.key and turn the webhook back on, or create a new signing secret.',
      }
  }
}
