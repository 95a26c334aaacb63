// Is it working, and if not, what is to be done: the page that one opens in the morning.

import { useMemo } from 'preact/hooks'

import { href } from '../address.ts'
import { Card } from '../components/card.tsx'
import { Icon } from '../components/icon.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { createDayCount } from '../day-count.ts'
import { relayState } from '../relay-state.ts'
import { healthSource, linesSource, webhooksSource } from '../sources.ts'
import { FindingList } from './home-findings.tsx'
import { HomeLines } from './home-lines.tsx'
import { QuickSend } from './home-quick-send.tsx'
import { RecentMessages } from './home-recent.tsx'

export function HomePage() {
  const { api } = useDashboard()
  const lines = useLive(linesSource(api))
  const health = useLive(healthSource(api))
  return (
    <>
      <StateHead />
      {health.now.state === 'ready' && <FindingList findings={health.now.value.data} />}
      <div class="home">
        <div class="stack home-main">
          <Card
            kind="list"
            title="Lines"
            actions={
              <a class="more-link" href={href('lines')}>
                All about the lines
                <Icon name="forward" />
              </a>
            }
          >
            <WhenReady
              loaded={lines.now}
              skeleton={<Skeleton kind="row" count={2} />}
              onRetry={lines.refresh}
            >
              {({ data }) => <HomeLines lines={data} />}
            </WhenReady>
          </Card>
          <RecentMessages />
        </div>
        <QuickSend lines={lines.now.state === 'ready' ? lines.now.value.data : []} />
      </div>
    </>
  )
}

/** The state of the relay as the heading of the page. */
function StateHead() {
  const { api, clock } = useDashboard()
  const lines = useLive(linesSource(api)).now
  const health = useLive(healthSource(api)).now
  const webhooks = useLive(webhooksSource(api)).now
  const count = useMemo(() => createDayCount({ api, clock }), [api, clock])
  const today = useLive({ key: 'messages of today', load: count, on: ['message'] }).now
  if (lines.state !== 'ready' || health.state !== 'ready' || webhooks.state !== 'ready') {
    return <PageHead title="Home">{'\u00A0'}</PageHead>
  }
  const { tone, title, sentence } = relayState({
    lines: lines.value.data,
    findings: health.value.data,
    webhooks: webhooks.value.data,
    today: today.state === 'ready' ? today.value : null,
  })
  return (
    <div class={`home-state tone-${tone}`}>
      <span class="home-state-sign">
        <Icon name={tone === 'ok' ? 'check' : 'warning'} />
      </span>
      <PageHead title={title}>{sentence}</PageHead>
    </div>
  )
}
