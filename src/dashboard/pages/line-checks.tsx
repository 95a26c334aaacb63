import type { Check } from '../../api/dashboard.ts'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Card } from '../components/page.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { useChecks } from '../sources.ts'

const SIGNS = {
  ok: ['ok', 'check', 'Passed'],
  info: ['wait', 'info', 'Info'],
  warn: ['warn', 'warning', 'Warning'],
  bad: ['bad', 'cross', 'Failed'],
  unknown: ['plain', 'question', 'Not checked yet'],
} as const

type Props = {
  readonly title: string
  /** Null for the relay's own Mac. */
  readonly lineId: string | null
}

/** Each requirement of a line with its result, and a fix if it failed. */
export function CheckCard({ title, lineId }: Props) {
  return (
    <Card title={title} actions={<CheckAgain />}>
      <WhenReady of={useChecks()} kind="row" count={4}>
        {({ data }) => {
          const found = data.find(({ line_id }) => line_id === lineId)
          return (
            found && (
              <>
                <p role="status">{found.summary}</p>
                <ol>
                  {found.checks.map((check, index) => (
                    <CheckItem key={index} {...check} />
                  ))}
                </ol>
              </>
            )
          )
        }}
      </WhenReady>
    </Card>
  )
}

/** The relay's answer takes as long as the devices need to respond. */
function CheckAgain() {
  const { api, notices } = useDashboard()
  const { refresh } = useChecks()
  const { isBusy, start } = useQuickAction(
    () => api.call('listChecks'),
    () => {
      refresh()
      notices.done('Checks updated.')
    },
  )
  return (
    <Button icon="again" isBusy={isBusy} onClick={start}>
      Check again
    </Button>
  )
}

function CheckItem({ state, title, why, fix }: Check) {
  const [tone, icon, word] = SIGNS[state]
  return (
    <li class={`check tone-${tone}`}>
      <span class="check-sign">
        <Icon name={icon} />
      </span>
      <p>{title}</p>
      <span class="check-word small">{word}</span>
      {why !== null && <p class="check-more small quiet">{why}</p>}
      {fix !== null && <p class="check-more small">{fix}</p>}
    </li>
  )
}
