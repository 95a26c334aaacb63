// Home: the relay's state, issues, lines, and latest messages.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Form } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { lazyPage } from '../components/lazy-page.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { counterpart } from '../people.ts'
import {
  useAbout,
  useKinds,
  useLines,
  useRelayState,
  useSite,
  useWebhookDays,
  useWebhooks,
} from '../sources.ts'
import { combine } from '../store.ts'
import { messageExcerpt } from '../words/attachments.ts'
import { kindName, lineName, lineState } from '../words/line-states.ts'
import { isSettled, stateSentence, statusWords, whyNot } from '../words/message-states.ts'
import { NewContactsMeter } from './new-contacts-meter.tsx'
import { SendButton, SendFields, useSendForm } from './send-form.tsx'

const ISSUES = lazyPage(null, async () => (await import('./issues.tsx')).Issues)
const CHARTS = lazyPage(null, async () => (await import('./charts.tsx')).HomeCharts)

const RECENT = { limit: 10, type: 'all', contact_names: 'true' }

export function HomePage() {
  const { session } = useDashboard()
  // Loads the script together with the data, so that issues appear with the rest.
  const isLoaded = useSignal(false)
  useEffect(() => void ISSUES.fetch().then(() => (isLoaded.value = true)), [])
  const site = useSite()
  const days = useRead('getStats', { query: { days: 1, site_id: site } }, 'message', 'site')
  const all = combine({
    state: useRelayState(site),
    lines: useLines(),
    about: useAbout(),
    webhooks: useWebhooks(),
    webhookDays: useWebhookDays(),
    recent: useRead(
      'listMessages',
      { query: { ...RECENT, site_id: site } },
      'message',
      'contact',
      'site',
    ),
  })
  return (
    <WhenReady
      of={isLoaded.value && session.now.value ? all : { ...all, now: { state: 'loading' } }}
      skeleton={<Opening />}
    >
      {({ state, lines: { data: all }, recent }) => {
        const lines = all.filter(({ site_id }) => site === '' || site_id === site)
        return (
          <>
            <div class={`home-state tone-${state.tone}`}>
              <span class="home-state-sign">
                <Icon name={state.tone === 'ok' ? 'check' : 'warning'} />
              </span>
              <PageHead title={state.title}>
                {stateSentence(state, days.value?.data.at(-1) ?? null)}
              </PageHead>
            </div>
            <ISSUES.View lines={lines} recent={recent.data} />
            <MoreLink href={href('night')}>Last night</MoreLink>
            <div class="home">
              <Card
                kind="list"
                title="Lines"
                actions={<MoreLink href={href('lines', [], { site })}>View all lines</MoreLink>}
              >
                <LineList lines={lines} />
              </Card>
              <QuickSend lines={lines} />
              <RecentMessages messages={recent.data} />
            </div>
            <CHARTS.View />
          </>
        )
      }}
    </WhenReady>
  )
}

function MoreLink(props: { readonly href: string; readonly children: string }) {
  return (
    <a class="more-link" href={props.href}>
      {props.children}
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

function LineList({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  if (lines.length === 0) {
    return (
      <EmptyState
        icon="lines"
        title="No phone line yet"
        action={<LinkButton href={href('lines')}>See what's missing</LinkButton>}
      >
        A line is a Mac or an iPhone that sends and receives for the relay.
      </EmptyState>
    )
  }
  return (
    <ul class="home-lines">
      {lines.map((line) => (
        <li key={line.id} class="home-line">
          <div class="home-line-words">
            <a class="home-line-name" href={href('lines', [line.id])}>
              <PersonText>{lineName(line)}</PersonText>
            </a>
            <Badge of={lineState(line)} />
          </div>
          <p class="small quiet home-line-about">
            {line.label !== null && (
              <span class="figures">{numberWords(line.phone_number)} · </span>
            )}
            {line.status_hint ?? kindName(line, kinds)}
          </p>
          <NewContactsMeter line={line} />
        </li>
      ))}
    </ul>
  )
}

function QuickSend({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const sent = useSignal<Message | null>(null)
  const form = useSendForm((message) => (sent.value = message))
  return (
    <Card title="Send a message">
      <Form onSubmit={form.submit}>
        <SendFields form={form} lines={lines} />
        <SendButton {...form.button} />
      </Form>
      {sent.value !== null && <Outcome key={sent.value.id} sent={sent.value} />}
    </Card>
  )
}

function Outcome({ sent }: { readonly sent: Message }) {
  const call = { params: { id: sent.id }, query: { contact_names: 'true' } }
  const message = useRead('getMessage', call, sent.id).value ?? sent
  const why = whyNot(message)
  return (
    <div class="outcome" role="status" aria-busy={!isSettled(message)}>
      <p class="row">
        <Badge of={statusWords(message.status)} />
        <a href={href('conversations', [message.conversation_id])}>
          <PersonText>{counterpart(message)}</PersonText>
        </a>
      </p>
      {why !== null && <p class="small">{why}</p>}
    </div>
  )
}

function RecentMessages({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <Card
      kind="list"
      title="Latest messages"
      actions={<MoreLink href={href('messages')}>View all messages</MoreLink>}
    >
      {messages.length === 0 ? (
        <EmptyState icon="conversations" title="No messages yet">
          Send one from here, or text one of your lines from a phone.
        </EmptyState>
      ) : (
        <ul class="recent">
          {messages.map((message) => (
            <li key={message.id}>
              <RecentRow message={message} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function RecentRow({ message }: { readonly message: Message }) {
  const isInbound = message.direction === 'inbound'
  return (
    <a class="recent-row" href={href('conversations', [message.conversation_id])}>
      <span class={`recent-sign ${isInbound ? 'recent-in' : ''}`}>
        <Icon name={isInbound ? 'arrow-in' : 'send'} />
        <span class="visually-hidden">{isInbound ? 'Incoming from' : 'Outgoing to'}</span>
      </span>
      <span class="recent-words">
        <span class="one-line recent-handle">
          {message.conversation_type === 'group' && <Icon name="people" />}
          <PersonText>{counterpart(message)}</PersonText>
        </span>
        <span class="one-line quiet">
          <PersonText>{messageExcerpt(message)}</PersonText>
        </span>
      </span>
      <span class="recent-end">
        <Ago time={message.created_at} isInside />
        {!isInbound && <Badge of={statusWords(message.status)} />}
      </span>
    </a>
  )
}
