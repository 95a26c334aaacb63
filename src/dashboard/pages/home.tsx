// Is it working, and if not, what is to be done: the page that one opens in the morning.

import { useMemo } from 'preact/hooks'

import { href } from '../address.ts'
import type { List } from '../api.ts'
import { Card } from '../components/card.tsx'
import { Icon } from '../components/icon.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { createDayCount } from '../day-count.ts'
import { relayState, type RelayState } from '../relay-state.ts'
import type { Message } from '../resources.ts'
import { healthSource, linesSource, webhooksSource } from '../sources.ts'
import { together } from '../store.ts'
import { FindingList } from './home-findings.tsx'
import { HomeLines } from './home-lines.tsx'
import { QuickSend } from './home-quick-send.tsx'
import { RecentMessages } from './home-recent.tsx'
import { SetupCallout } from './setup-callout.tsx'

const RECENT = 10

export function HomePage() {
  const { api, clock } = useDashboard()
  const count = useMemo(() => createDayCount({ api, clock }), [api, clock])
  const today = useLive({ key: 'messages of today', load: count, on: ['message'] }).now
  const lines = useLive(linesSource(api))
  const health = useLive(healthSource(api))
  const webhooks = useLive(webhooksSource(api))
  const recent = useLive({
    key: 'recent messages',
    load: (signal) => api.get<List<Message>>(`messages?limit=${RECENT}`, signal),
    on: ['message'],
  })
  const all = [lines, health, webhooks, recent]
  return (
    <WhenReady
      loaded={together({
        lines: lines.now,
        health: health.now,
        webhooks: webhooks.now,
        recent: recent.now,
      })}
      skeleton={<Opening />}
      onRetry={() => all.forEach((each) => each.refresh())}
    >
      {({ lines, health, webhooks, recent }) => (
        <>
          <StateHead
            {...relayState({
              lines: lines.data,
              findings: health.data,
              webhooks: webhooks.data,
              today: today.state === 'ready' ? today.value : null,
            })}
          />
          <SetupCallout />
          <FindingList findings={health.data} />
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

/** The state of the relay as the heading of the page. */
function StateHead({ tone, title, sentence }: RelayState) {
  return (
    <div class={`home-state tone-${tone}`}>
      <span class="home-state-sign">
        <Icon name={tone === 'ok' ? 'check' : 'warning'} />
      </span>
      <PageHead title={title}>{sentence}</PageHead>
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
