import { Icon } from '../components/icon.tsx'
import { LongText } from '../components/person-text.tsx'
import { Ago } from '../components/time.tsx'
import type { Webhook } from '../resources.ts'
import { hintFor } from './webhooks-hints.ts'
import type { Attempt } from './webhooks-resources.ts'
import { durationWords, triggerWords } from './webhooks-words.ts'

type Props = { readonly webhook: Webhook; readonly attempts: readonly Attempt[] }

/** Every try, the newest first. */
export function AttemptList({ webhook, attempts }: Props) {
  if (attempts.length === 0) return <p class="small quiet">It was not tried yet.</p>
  return (
    <div class="stack stack-tight">
      <h3>Attempts</h3>
      <ol class="attempts">
        {attempts.toReversed().map((attempt, place) => (
          <li key={attempt.number}>
            <AttemptItem webhook={webhook} attempt={attempt} isNewest={place === 0} />
          </li>
        ))}
      </ol>
    </div>
  )
}

type ItemProps = {
  readonly webhook: Webhook
  readonly attempt: Attempt
  readonly isNewest: boolean
}

function AttemptItem({ webhook, attempt, isNewest }: ItemProps) {
  const hint = hintFor(attempt, webhook.url)
  const { number, started_at, status_code, response_excerpt } = attempt
  return (
    <>
      <p class={`attempt tone-${hint === null ? 'ok' : 'bad'}`}>
        <Icon name={hint === null ? 'check' : 'cross'} />
        <span class="grow">
          <strong>
            {number}. {hint === null ? `Taken (${status_code})` : hint.title}
          </strong>{' '}
          <span class="small quiet figures">
            {durationWords(attempt)}, {triggerWords(attempt)}
          </span>
        </span>
        <Ago time={started_at} />
      </p>
      {response_excerpt !== null && (
        <details class="answer small" open={isNewest}>
          <summary>What it answered</summary>
          <div class="mono">
            <LongText text={response_excerpt} />
          </div>
        </details>
      )}
    </>
  )
}
