// Home: the relay's state in one sentence, its figures, what is to do, and who waits for an answer.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { Attention, RelayState } from '../../api/dashboard.ts'
import type { Conversation } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { lazyPage } from '../components/lazy-page.tsx'
import { Card, MoreLink, PageHead } from '../components/page.tsx'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { loadNumbers } from '../numbers.ts'
import {
  useAbout,
  useAttention,
  useLines,
  useRelayState,
  useSite,
  useWebhookDays,
  useWebhooks,
} from '../sources.ts'
import { combine } from '../store.ts'
import { grouped } from '../words/common.ts'
import { lineNameIn } from '../words/line-states.ts'
import { stateSentence } from '../words/message-states.ts'
import { ConversationRow } from './conversation-row.tsx'
import { SiteFilter } from './site-filter.tsx'

const TO_DO = lazyPage(null, async () => (await import('./to-do.tsx')).ToDo)
const FIGURES = lazyPage(null, async () => {
  const [{ HomeFigures }] = await Promise.all([import('./charts.tsx'), loadNumbers()])
  return HomeFigures
})

const LISTED = { limit: 5, type: 'all' }
const CHANGES = ['conversation', 'message', 'contact', 'site'] as const

export function HomePage() {
  const { session } = useDashboard()
  // Loads the scripts together with the data, so that everything appears at once.
  const isLoaded = useSignal(false)
  useEffect(() => {
    void Promise.all([TO_DO.fetch(), FIGURES.fetch()]).then(() => (isLoaded.value = true))
  }, [])
  const site = useSite()
  const days = useRead('getStats', { query: { days: 1, site_id: site } }, 'message', 'site')
  const query = { ...LISTED, site_id: site }
  const unanswered = { ...query, unanswered: 'true' }
  const all = combine({
    state: useRelayState(site),
    lines: useLines(),
    about: useAbout(),
    webhooks: useWebhooks(),
    webhookDays: useWebhookDays(),
    attention: useAttention(site),
    unanswered: useRead('listConversations', { query: unanswered }, ...CHANGES),
    latest: useRead('listConversations', { query }, ...CHANGES),
  })
  return (
    <WhenReady
      of={isLoaded.value && session.now.value ? all : { ...all, now: { state: 'loading' } }}
      skeleton={<Opening />}
    >
      {({ state, attention, lines: { data }, unanswered, latest }) => {
        const lines = data.filter(({ site_id }) => site === '' || site_id === site)
        return (
          <>
            <PageHead title={titleOf(state, attention)} actions={<Actions />}>
              {stateSentence(state, days.value?.data.at(-1) ?? null)}{' '}
              <a href={href('night', [], { site })}>Last night</a>
            </PageHead>
            <TO_DO.View lines={lines} />
            <FIGURES.View lines={lines} />
            <Waiting {...{ site, lines }} unanswered={unanswered.data} latest={latest.data} />
          </>
        )
      }}
    </WhenReady>
  )
}

/** The title says "Everything works" only if nothing needs attention; its number is that of the list "To do". */
function titleOf({ tone, title, findings, snoozed }: RelayState, attention: Attention): string {
  const { failed, expired, uncertain, approval } = attention
  const lists = [failed, expired, uncertain, approval].filter((count) => count > 0).length
  if (tone === 'ok') return snoozed.length + lists > 0 ? 'The relay works' : title
  const isCounted = findings.length > 1 && lists > 0
  return isCounted ? `${grouped(findings.length + lists)} things need attention` : title
}

function Actions() {
  return (
    <>
      <SiteFilter page="home" />
      <LinkButton variant="main" icon="plus" href={href('conversations', [], { write: 'new' })}>
        New message
      </LinkButton>
    </>
  )
}

function Opening() {
  return (
    <>
      <PageHead title="Home">{'\u00A0'}</PageHead>
      <div class="home-figures">
        <Skeleton kind="card" count={2} />
      </div>
      <Skeleton kind="card" />
    </>
  )
}

type WaitingProps = Readonly<Record<'unanswered' | 'latest', readonly Conversation[]>> & {
  readonly site: string
  readonly lines: readonly PhoneLine[]
}

/** The conversations whose people wrote last; without any, the latest. */
function Waiting({ site, unanswered, latest, lines }: WaitingProps) {
  const isWaiting = unanswered.length > 0
  const listed = isWaiting ? unanswered : latest
  const more = href('conversations', [], { site, state: isWaiting ? 'unanswered' : null })
  return (
    <Card
      kind="list"
      title={isWaiting ? 'Waiting for your answer' : 'Latest conversations'}
      actions={<MoreLink href={more}>View all conversations</MoreLink>}
    >
      {listed.length === 0 ? (
        <EmptyState icon="conversations" title="No messages yet">
          Send one from here, or text one of your lines from a phone.
        </EmptyState>
      ) : (
        <ul class="home-conversations">
          {listed.map((conversation) => (
            <li key={conversation.id}>
              <ConversationRow
                conversation={conversation}
                line={lines.length > 1 ? lineNameIn(lines, conversation) : null}
                href={href('conversations', [conversation.id], { site })}
              />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
