import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import type { IconName } from '../components/drawings.ts'
import { Icon } from '../components/icon.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import type { Tone } from '../components/tone.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import { healthSource } from '../sources.ts'
import { checklist, type Check } from './lines-checklist.ts'

type Sign = { readonly tone: Tone; readonly icon: IconName; readonly word: string }

const SIGNS: Readonly<Record<Check['state'], Sign>> = {
  ok: { tone: 'ok', icon: 'check', word: 'Passed' },
  info: { tone: 'wait', icon: 'info', word: 'Good to know' },
  warn: { tone: 'warn', icon: 'warning', word: 'Look at this' },
  bad: { tone: 'bad', icon: 'cross', word: 'Failed' },
  unknown: { tone: 'plain', icon: 'question', word: 'Not known yet' },
}

/** Everything that a line needs, each with whether it is so, and what to do where it is not. */
export function LineChecks({ line }: { readonly line: PhoneLine }) {
  const { api } = useDashboard()
  const health = useLive(healthSource(api))
  return (
    <Card title="Checks" actions={<CheckAgain />}>
      <WhenReady
        loaded={health.now}
        skeleton={<Skeleton kind="row" count={3} />}
        onRetry={health.refresh}
      >
        {({ data }) => <CheckList checks={checklist(line, data)} line={line} />}
      </WhenReady>
    </Card>
  )
}

/** Has the relay look now, which takes as long as the devices need to answer. */
export function CheckAgain() {
  const { api, notices } = useDashboard()
  const health = useLive(healthSource(api))
  const isBusy = useSignal(false)
  async function checkAgain() {
    isBusy.value = true
    const answer = await api.get('health')
    isBusy.value = false
    health.refresh()
    if (answer.ok) notices.done('Checked just now.')
    else notices.failed(answer.failure.message)
  }
  return (
    <Button icon="again" isBusy={isBusy.value} onClick={() => void checkAgain()}>
      Check again
    </Button>
  )
}

type ListProps = { readonly checks: readonly Check[]; readonly line: PhoneLine }

function CheckList({ checks, line }: ListProps) {
  return (
    <>
      <p role="status">{summaryOf(checks, line)}</p>
      <ol class="checks">
        {checks.map((check, place) => (
          <CheckItem key={place} {...check} />
        ))}
      </ol>
    </>
  )
}

function summaryOf(checks: readonly Check[], { status }: PhoneLine): string {
  if (checks.some(({ state }) => state === 'bad')) {
    return 'Mend what failed, from the top down; the list follows by itself.'
  }
  if (status === 'offline') return 'The line is offline.'
  if (checks.some(({ state }) => state === 'warn')) return 'It works. Look at what is marked.'
  return 'All is well: nothing keeps this line from sending and receiving.'
}

export function CheckItem({ state, title, why, fix }: Check) {
  const { tone, icon, word } = SIGNS[state]
  return (
    <li class={`check tone-${tone}`}>
      <span class="check-sign">
        <Icon name={icon} />
      </span>
      <p class="check-title">{title}</p>
      <span class="check-word small">{word}</span>
      {why !== null && <p class="check-more small quiet">{why}</p>}
      {fix !== null && <p class="check-more small">{fix}</p>}
    </li>
  )
}
