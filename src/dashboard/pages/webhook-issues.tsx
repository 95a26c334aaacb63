// The failing webhooks, in one card: cause, start, and actions.

import type { WebhookDay } from '../../api/dashboard.ts'
import type { HealthFinding } from '../../api/health.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useWebhookDays, useWebhooks } from '../sources.ts'
import { countWords, grouped } from '../words/common.ts'
import { Snooze } from './snooze.tsx'
import { PauseButton } from './webhook-pause.tsx'

export function WebhookIssues({ findings }: { readonly findings: readonly HealthFinding[] }) {
  const days = useWebhookDays().value?.data ?? []
  const webhooks = useWebhooks().value?.data ?? []
  const failing = findings.flatMap((finding) => {
    const webhook = webhooks.find(({ id }) => id === finding.about.id)
    const day = days.find(({ webhook_id }) => webhook_id === finding.about.id)
    return webhook === undefined || day === undefined ? [] : [{ finding, webhook, day }]
  })
  if (failing.length === 0) return null
  return (
    <Card kind="list" title={`Events don't reach ${countWords(failing.length, 'webhook')}`}>
      <ul class="webhook-issues" aria-label="Webhooks that events don't reach">
        {failing.map((each) => (
          <Issue key={each.webhook.id} {...each} />
        ))}
      </ul>
    </Card>
  )
}

type IssueProps = {
  readonly finding: HealthFinding
  readonly webhook: Webhook
  readonly day: WebhookDay
}

function Issue({ finding, webhook, day }: IssueProps) {
  const { api, notices } = useDashboard()
  const name = webhookName(webhook)
  const { failing, failing_since, waiting, stopped } = day
  const retry = useAction(
    () => api.call('redeliverWebhookDelivery', { params: { id: failing?.id ?? '' } }),
    () => notices.done(`Retrying ${name}.`),
  )
  return (
    <li class="webhook-issue">
      <div class="webhook-issue-words">
        <strong>
          <PersonText>{name}</PersonText>
        </strong>
        <p class="small quiet">
          <span class="webhook-trouble">{stopped ?? failing?.attempts.at(-1)?.hint?.title}</span>
          {failing_since !== null && (
            <>
              {' · '}
              first failed <Ago time={failing_since} />
            </>
          )}
          {waiting > 0 && ` · ${grouped(waiting)} waiting`}
        </p>
      </div>
      <div class="actions">
        <LinkButton href={href('webhooks', [webhook.id])}>Open</LinkButton>
        {webhook.is_active && (
          <>
            <PauseButton webhook={webhook} />
            <Button icon="again" isBusy={retry.isBusy} onClick={retry.start}>
              Retry now
            </Button>
          </>
        )}
        <Snooze finding={finding} />
      </div>
      <FailureNote failure={retry.failure} />
    </li>
  )
}
