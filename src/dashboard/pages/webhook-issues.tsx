// Failing webhooks in the list of Home: cause, start, and actions.

import type { WebhookDay } from '../../api/dashboard.ts'
import type { HealthFinding } from '../../api/health.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useWebhookDays, useWebhooks } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { Snooze } from './snooze.tsx'
import { ToDoRow } from './to-do-row.tsx'
import { PauseButton, useRetry } from './webhook-pause.tsx'

/** The failing webhooks of these findings, each with its state of the day. */
export function useFailingWebhooks(findings: readonly HealthFinding[]): readonly RowProps[] {
  const days = useWebhookDays().value?.data ?? []
  const webhooks = useWebhooks().value?.data ?? []
  return findings.flatMap((finding) => {
    const webhook = webhooks.find(({ id }) => id === finding.about.id)
    const day = days.find(({ webhook_id }) => webhook_id === finding.about.id)
    return webhook === undefined || day === undefined ? [] : [{ finding, webhook, day }]
  })
}

type RowProps = {
  readonly finding: HealthFinding
  readonly webhook: Webhook
  readonly day: WebhookDay
}

export function WebhookRow({ finding, webhook, day }: RowProps) {
  const name = webhookName(webhook)
  const { failing, failing_since, waiting, stopped } = day
  const retry = useRetry(webhook, day)
  return (
    <ToDoRow
      tone="bad"
      icon="warning"
      title={
        <>
          Events don't reach <PersonText>{name}</PersonText>
        </>
      }
      actions={
        <>
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
        </>
      }
    >
      <span class="webhook-trouble">{stopped ?? failing?.attempts.at(-1)?.hint?.title}</span>
      {failing_since !== null && (
        <>
          {' · '}
          first failed <Ago time={failing_since} />
        </>
      )}
      {waiting > 0 && ` · ${grouped(waiting)} waiting`}
      <FailureNote failure={retry.failure} />
    </ToDoRow>
  )
}
