import { isOpen } from '../domain/breaker.ts'
import type { Finding } from '../domain/finding.ts'
import type { WebhookId } from '../domain/ids.ts'
import { grouped } from '../domain/number-words.ts'
import { hostOf, type DisabledReason, type Webhook } from '../domain/webhook.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'

type Told = Pick<Finding, 'code' | 'severity' | 'title' | 'why' | 'fix'>

/** What keeps events from arriving, one finding for each webhook that has trouble. */
export function findingsOf(
  webhooks: readonly StoredWebhook[],
  cutOff: ReadonlySet<WebhookId>,
): readonly Finding[] {
  return webhooks.flatMap((webhook) => {
    const told = troubleOf(webhook, cutOff.has(webhook.id))
    return told === null ? [] : [{ ...told, key: webhook.id, depends_on: null }]
  })
}

function troubleOf(webhook: StoredWebhook, isCutOff: boolean): Told | null {
  if (webhook.disabledReason !== null) return deactivated(webhook.disabledReason, webhook)
  if (!webhook.isActive) return null
  if (isCutOff) {
    return {
      code: 'webhook_out_of_reach',
      severity: 'error',
      title: 'The relay has no way to a webhook',
      why: `This machine has no route or no name server to reach ${hostOf(webhook)}.`,
      fix: 'Check the network of this machine; on a Mac also allow Hookline in System Settings, Privacy & Security, Local Network. It is tried again every minute and nothing is lost.',
    }
  }
  if (!isOpen(webhook.breaker)) return null
  return {
    code: 'webhook_failing',
    severity: 'warning',
    title: 'A webhook does not take its events',
    why: `${hostOf(webhook)} failed ${grouped(webhook.breaker.failuresInRow)} times in a row.`,
    fix: 'Open recent deliveries to see the error. Events are queued and retried automatically.',
  }
}

function deactivated(reason: DisabledReason, webhook: Webhook): Told {
  switch (reason) {
    case 'gone':
      return {
        code: 'webhook_gone',
        severity: 'error',
        title: 'A webhook was deactivated',
        why: `${hostOf(webhook)} said twice that it is gone for good (410).`,
        fix: 'Correct the URL and turn it back on, or delete it. Its events are kept for 30 days.',
      }
    case 'failing':
      return {
        code: 'webhook_deactivated',
        severity: 'error',
        title: 'A webhook was deactivated',
        why: `${hostOf(webhook)} took nothing for five days.`,
        fix: 'Fix the receiver and turn the webhook back on. Its events are kept for 30 days and go out then.',
      }
    case 'secret_unreadable':
      return {
        code: 'webhook_secret_unreadable',
        severity: 'error',
        title: 'A signing secret cannot be opened',
        why: 'The file secret.key is not the one that sealed it, and nothing goes out unsigned.',
        fix: 'Put the old secret.key back and turn the webhook back on, or make a new signing secret.',
      }
  }
}
