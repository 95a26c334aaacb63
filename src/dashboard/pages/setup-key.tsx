import { useSignal } from '@preact/signals'

import type { List } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { CreateKey } from './keys-create.tsx'
import type { Key } from './keys-resources.ts'
import { keyName, makerWords } from './keys-words.ts'
import { StepFrame } from './setup-frame.tsx'

/** The first key, and a call with it. */
export function KeyStep() {
  const { api } = useDashboard()
  const isAsking = useSignal(false)
  const { now } = useLive({
    key: 'keys',
    load: (signal) => api.get<List<Key>>('keys?limit=200', signal),
    on: ['key'],
  })
  const keys = now.state === 'ready' ? now.value.data : []
  const good = keys.filter(({ revoked_at }) => revoked_at === null)
  return (
    <StepFrame
      name="key"
      title="A key for your program"
      lead="Whatever sends by the API does so with a key."
      isDone={good.length > 0}
    >
      <Card>
        <p>
          You get a key and its secret, this once, and a command that sends a first message with
          both.
        </p>
        <div class="actions">
          <Button
            look={good.length > 0 ? 'plain' : 'main'}
            icon="plus"
            onClick={() => (isAsking.value = true)}
          >
            {good.length > 0 ? 'Make another key' : 'Make a key'}
          </Button>
        </div>
        <KeysThere keys={good} />
      </Card>
      {isAsking.value && <CreateKey onClose={() => (isAsking.value = false)} />}
    </StepFrame>
  )
}

function KeysThere({ keys }: { readonly keys: readonly Key[] }) {
  const [latest] = keys
  if (latest === undefined) return null
  return (
    <Callout
      tone="ok"
      title={keys.length === 1 ? 'There is a key' : `There are ${keys.length} keys`}
    >
      <p>
        The latest is <PersonText>{keyName(latest)}</PersonText>, made by{' '}
        <PersonText>{makerWords(latest, keys)}</PersonText>.
      </p>
    </Callout>
  )
}
