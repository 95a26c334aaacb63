import { Ago } from '../components/ago.tsx'
import { Icon } from '../components/icon.tsx'
import { LongText } from '../components/person-text.tsx'
import type { Attempt } from './webhooks-resources.ts'

/** Every try, the newest first. */
export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <p class="small quiet">It was not tried yet.</p>
  return (
    <div class="stack-tight">
      <h3>Attempts</h3>
      <ol class="attempts">
        {attempts.toReversed().map((attempt, place) => (
          <li key={attempt.number}>
            <AttemptItem attempt={attempt} isNewest={place === 0} />
          </li>
        ))}
      </ol>
    </div>
  )
}

type ItemProps = { readonly attempt: Attempt; readonly isNewest: boolean }

function AttemptItem({ attempt, isNewest }: ItemProps) {
  const { number, hint, duration, cause, started_at, status_code, response_excerpt } = attempt
  return (
    <>
      <p class={`attempt tone-${hint === null ? 'ok' : 'bad'}`}>
        <Icon name={hint === null ? 'check' : 'cross'} />
        <span class="grow">
          <strong>
            {number}. {hint?.title ?? `Taken (${status_code})`}
          </strong>{' '}
          <span class="small quiet figures">
            {duration}, {cause}
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
