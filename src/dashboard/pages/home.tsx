// Is it working, and if not, what is to be done: the page that one opens in the morning.

import type { RelayState } from '../../api/dashboard.ts'
import { href } from '../address.ts'
import type { List } from '../api.ts'
import { Card } from '../components/card.tsx'
import { Icon } from '../components/icon.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useRead } from '../dashboard.ts'
import { stateSentence } from '../relay-state.ts'
import type { DayStats, Message, PhoneLine } from '../resources.ts'
import { useLines, useRelayState, useStats } from '../sources.ts'
import { together } from '../store.ts'
import { FindingList } from './home-findings.tsx'
import { HomeLines } from './home-lines.tsx'
import { QuickSend } from './home-quick-send.tsx'
import { RecentMessages } from './home-recent.tsx'
import { SetupCallout } from './setup-callout.tsx'

type Shown = {
  readonly state: RelayState
  readonly lines: List<PhoneLine>
  readonly recent: List<Message>
}

export function HomePage() {
  const today = useStats(1).value?.data.at(-1) ?? null
  const all = together<Shown>({
    state: useRelayState(),
    lines: useLines(),
    recent: useRead('messages?limit=10', 'message'),
  })
  return (
    <WhenReady of={all} skeleton={<Opening />}>
      {({ state, lines, recent }) => (
        <>
          <StateHead state={state} today={today} />
          <SetupCallout lines={lines.data} recent={recent.data} />
          <FindingList findings={state.findings} />
          <div class="home">
            <Card kind="list" title="Lines" actions={<ToLines />}>
              <HomeLines lines={lines.data} />
            </Card>
            <QuickSend lines={lines.data} />
            <RecentMessages messages={recent.data} />
          </div>
        </>
      )}
    </WhenReady>
  )
}

type StateProps = { readonly state: RelayState; readonly today: DayStats | null }

/** The state of the relay as the heading of the page. */
function StateHead({ state, today }: StateProps) {
  const { tone, title } = state
  return (
    <div class={`home-state tone-${tone}`}>
      <span class="home-state-sign">
        <Icon name={tone === 'ok' ? 'check' : 'warning'} />
      </span>
      <PageHead title={title}>{stateSentence(state, today)}</PageHead>
    </div>
  )
}

function ToLines() {
  return (
    <a class="more-link" href={href('lines')}>
      All about the lines
      <Icon name="forward" />
    </a>
  )
}

function Opening() {
  return (
    <>
      <PageHead title="Home">{'\u00A0'}</PageHead>
      <div class="home">
        <Skeleton kind="card" count={3} />
      </div>
    </>
  )
}
