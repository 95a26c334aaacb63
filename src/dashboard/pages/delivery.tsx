// The details of a delivery: failure, attempts and request.

import type { SeenAttempt, SeenDelivery } from '../../api/dashboard.ts'
import type { Delivery, Webhook } from '../../api/webhooks.ts'
import { href } from '../address.ts'
import type { Failure } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { Facts } from '../components/page.tsx'
import { Ago, LongText } from '../components/text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { DELIVERIES, isTest, nextTryWords, refusalWords } from '../words/deliveries.ts'

type Props = { readonly webhook: Webhook; readonly delivery: SeenDelivery }

export function DeliveryDetail({ webhook, delivery }: Props) {
  const { status, attempts } = delivery
  const hint = attempts.at(-1)?.hint
  return (
    <div class="delivery-detail">
      {hint && status !== 'succeeded' && (
        <Callout tone={status === 'exhausted' ? 'bad' : 'warn'} title={hint.title}>
          {hint.advice}
        </Callout>
      )}
      <Redeliver delivery={delivery} />
      <DeliveryFacts webhook={webhook} delivery={delivery} />
      <AttemptList attempts={attempts} />
      {attempts.length > 0 && <Request delivery={delivery} />}
    </div>
  )
}

function Redeliver({ delivery }: Pick<Props, 'delivery'>) {
  const { api, notices } = useDashboard()
  const { isBusy, failure, start } = useAction(
    () => api.call('redeliverWebhookDelivery', { params: { id: delivery.id } }),
    () => notices.done(DELIVERIES.sendingAgain),
  )
  return (
    <div class="row">
      <Button icon="again" isBusy={isBusy} onClick={start}>
        Redeliver
      </Button>
      <Refusal failure={failure} />
    </div>
  )
}

/** The reason for a failure, beside its button. */
export function Refusal({ failure }: { readonly failure: Failure | null }) {
  return (
    <span role="alert" class="refusal small">
      {failure !== null && refusalWords(failure)}
    </span>
  )
}

function DeliveryFacts({ webhook, delivery }: Props) {
  const { clock } = useDashboard()
  const { status, created_at, completed_at, event_id } = delivery
  return (
    <Facts
      of={[
        ['Created', <Ago time={created_at} />],
        [
          status === 'succeeded' ? 'Delivered' : 'Failed',
          completed_at !== null && <Ago time={completed_at} />,
        ],
        ['Retry', nextTryWords(delivery, webhook, clock.now.value) ?? false],
        ['Event ID (webhook-id header)', <span class="mono">{event_id}</span>],
      ]}
    />
  )
}

function AttemptList({ attempts }: { readonly attempts: readonly SeenAttempt[] }) {
  if (attempts.length === 0) return <p class="small quiet">No attempts yet.</p>
  return (
    <div class="stack-tight">
      <h3>Attempts</h3>
      <ol class="attempts">
        {attempts.toReversed().map((attempt, index) => (
          <AttemptItem key={attempt.number} attempt={attempt} isNewest={index === 0} />
        ))}
      </ol>
    </div>
  )
}

type ItemProps = { readonly attempt: SeenAttempt; readonly isNewest: boolean }

function AttemptItem({ attempt, isNewest }: ItemProps) {
  const { number, hint, duration, cause, started_at, status_code, response_excerpt } = attempt
  return (
    <li>
      <p class={`attempt tone-${hint === null ? 'ok' : 'bad'}`}>
        <Icon name={hint === null ? 'check' : 'cross'} />
        <span class="grow">
          <strong>
            {number}. {hint?.title ?? DELIVERIES.accepted(status_code)}
          </strong>{' '}
          <span class="small quiet figures">
            {duration}, {cause}
          </span>
        </span>
        <Ago time={started_at} />
      </p>
      {response_excerpt !== null && (
        <details class="answer small" open={isNewest}>
          <summary>Response</summary>
          <div class="mono">
            <LongText text={response_excerpt} />
          </div>
        </details>
      )}
    </li>
  )
}

function Request({ delivery }: { readonly delivery: Delivery }) {
  const { id, event } = delivery
  const sent = useRead('getSentRequest', { params: { id } }, id)
  return (
    <div class="stack-tight">
      <h3>Request</h3>
      <WhenReady of={sent}>
        {({ headers, body, conversation_id }) => (
          <>
            <CodeBlock what="Headers" text={headers} />
            {body !== null && <CodeBlock what="Body" text={body} />}
            <p class="small quiet">
              {isTest(delivery) && `Test event: the body is a sample of ${event}.`}
              {!isTest(delivery) &&
                (body === null
                  ? DELIVERIES.notKept
                  : 'The body is formatted here, and sent on one line.')}{' '}
              {conversation_id !== null && (
                <a href={href('conversations', [conversation_id])}>Open conversation</a>
              )}
            </p>
          </>
        )}
      </WhenReady>
    </div>
  )
}
