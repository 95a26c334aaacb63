import type { Check, LineChecks } from '../../api/dashboard.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { Icon } from '../components/icon.tsx'
import { useAction } from '../components/use-action.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import type { PhoneLine } from '../resources.ts'
import type { Read } from '../store.ts'

const PATH = '/dashboard/checks'

const SIGNS = {
  ok: ['ok', 'check', 'Passed'],
  info: ['wait', 'info', 'Good to know'],
  warn: ['warn', 'warning', 'Look at this'],
  bad: ['bad', 'cross', 'Failed'],
  unknown: ['plain', 'question', 'Not known yet'],
} as const

export function useChecks(): Read<{ readonly data: readonly LineChecks[] }> {
  return useRead(PATH, 'health', 'line')
}

/** What there is to check of a line; null while nobody knows. */
export function useLineChecks({ id }: PhoneLine): LineChecks | null {
  return useChecks().value?.data.find(({ line_id }) => line_id === id) ?? null
}

type Props = {
  readonly title: string
  /** Null for the Mac on which the relay runs. */
  readonly lineId: string | null
}

/** Everything that is needed, each with whether it is so, and what to do where it is not. */
export function CheckCard({ title, lineId }: Props) {
  return (
    <Card title={title} actions={<CheckAgain />}>
      <WhenReady of={useChecks()} kind="row" count={4}>
        {({ data }) => {
          const found = data.find(({ line_id }) => line_id === lineId)
          return found && <CheckList {...found} />
        }}
      </WhenReady>
    </Card>
  )
}

/** Has the relay look now, which takes as long as the devices need to answer. */
function CheckAgain() {
  const { api, notices } = useDashboard()
  const { refresh } = useChecks()
  const { isBusy, start } = useAction(
    () => api.get(PATH),
    () => {
      refresh()
      notices.done('Checked just now.')
    },
    (failure) => notices.failed(failure.message),
  )
  return (
    <Button icon="again" isBusy={isBusy} onClick={start}>
      Check again
    </Button>
  )
}

function CheckList({ summary, checks }: LineChecks) {
  return (
    <>
      <p role="status">{summary}</p>
      <ol class="checks">
        {checks.map((check, place) => (
          <CheckItem key={place} {...check} />
        ))}
      </ol>
    </>
  )
}

function CheckItem({ state, title, why, fix }: Check) {
  const [tone, icon, word] = SIGNS[state]
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
