import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'
import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import type { Key } from '../resources.ts'
import { useKeys } from '../sources.ts'
import { CreateKey } from './keys-create.tsx'
import { keyName, makerWords } from './keys-words.ts'
import { StepFrame } from './setup-frame.tsx'
import type { Steps } from './setup-step-names.ts'

/** The first key, and a call with it. */
export function KeyStep({ steps }: { readonly steps: Steps }) {
  const isAsking = useSignal(false)
  const keys = useKeys()
  const good = (keys.value?.data ?? []).filter(({ revoked_at }) => revoked_at === null)
  return (
    <StepFrame
      name="key"
      steps={steps}
      title="A key for your program"
      lead="Use a separate key for each app, so you can revoke them individually."
      isDone={good.length > 0}
    >
      <WhenReady of={keys}>
        {() => (
          <>
            <KeysThere keys={good} />
            <Card>
              <p>You get a key, its secret, and a command that sends a first message with both.</p>
              <div class="actions">
                <Button
                  look={good.length > 0 ? 'plain' : 'main'}
                  icon="plus"
                  onClick={() => (isAsking.value = true)}
                >
                  {good.length > 0 ? 'Make another key' : 'Make a key'}
                </Button>
              </div>
            </Card>
          </>
        )}
      </WhenReady>
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
      title={`You already have ${keys.length === 1 ? 'a key' : `${grouped(keys.length)} keys`}`}
    >
      The newest is <PersonText>{keyName(latest)}</PersonText>, made by{' '}
      <PersonText>{makerWords(latest, keys)}</PersonText>.
    </Callout>
  )
}
