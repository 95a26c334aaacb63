// Activity: the audit log in sentences with filters in the address, and the latest lines of the relay's log.

import { useSignal } from '@preact/signals'

import type { AuditEntry } from '../../api/audit.ts'
import type { RecentLog } from '../../api/owner.ts'
import { webhookName } from '../../domain/webhook-url.ts'
import { href } from '../address.ts'
import { type Api, UNREACHABLE } from '../api.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { SelectField, optionsOf, bindTo } from '../components/form.tsx'
import { FeedList } from '../components/long-list.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import { useBoxes, useKeys, useLines, useSites, useWebhooks } from '../sources.ts'
import { isoTime } from '../time-words.ts'
import { useFeed } from '../use-feed.ts'
import {
  ACTIONS,
  actionName,
  actionWords,
  actorWords,
  changeWords,
  lineWords,
  type NameOf,
  placeOf,
} from '../words/activity.ts'
import { lineName } from '../words/line-states.ts'
import { SHELL } from '../words/shell.ts'
import { QueueCard } from './charts.tsx'

const DAY_MS = 86_400_000
const PERIODS = optionsOf({
  1: 'Last 24 hours',
  7: 'Last 7 days',
  30: 'Last 30 days',
  '': 'All',
})
const ACTORS = ['dashboard', 'member', 'cli', 'relay'] as const

export function ActivityPage() {
  return (
    <>
      <PageHead title="Activity">Who changed what, and from where. Kept for 400 days.</PageHead>
      <ActivityTabs current="activity" />
      <Changes />
      <QueueCard />
      <LogCard />
    </>
  )
}

function Changes() {
  const { router } = useDashboard()
  const keys = useKeys().value?.data ?? []
  const nameOf = useNames()
  const { actor = '', action = '', days = '' } = router.route.value.query
  const filter = { actor, action, days }
  const bind = (name: keyof Filter) =>
    bindTo(filter[name], (value) =>
      router.replace(href('activity', [], { ...filter, [name]: value })),
    )
  const actors = [
    { value: '', text: 'Anyone' },
    ...ACTORS.map((kind) => ({ value: kind, text: actorWords({ kind, id: null }, nameOf) })),
    ...keys.map(({ id }) => ({ value: id, text: nameOf(id) ?? '' })),
  ]
  const actions = [
    { value: '', text: 'Anything' },
    ...ACTIONS.map((value) => ({ value, text: actionName(value) })),
  ]
  return (
    <Card kind="list">
      <div class="activity-filters">
        <SelectField label="By" bind={bind('actor')} options={actors} />
        <SelectField label="Action" bind={bind('action')} options={actions} />
        <SelectField label="Since" bind={bind('days')} options={PERIODS} />
      </div>
      <Entries key={JSON.stringify(filter)} filter={filter} nameOf={nameOf} />
    </Card>
  )
}

/** Looks up names of existing keys, webhooks, lines, boxes, members and sites. */
function useNames(): NameOf {
  const boxes = listed(useBoxes().value)
  const members = listed(useRead('listMembers', {}, 'member').value)
  const named = new Map<string | null, string>()
  for (const { id, name, key_hint } of listed(useKeys().value))
    named.set(id, name?.trim() || key_hint)
  for (const webhook of listed(useWebhooks().value)) named.set(webhook.id, webhookName(webhook))
  for (const line of listed(useLines().value)) named.set(line.id, lineName(line))
  for (const { id, name } of [...boxes, ...members, ...useSites()]) named.set(id, name)
  return (id) => named.get(id) ?? null
}

function listed<T>(read: { readonly data: readonly T[] } | null): readonly T[] {
  return read?.data ?? []
}

type Filter = Readonly<Record<'actor' | 'action' | 'days', string>>

function Entries({ filter, nameOf }: { readonly filter: Filter; readonly nameOf: NameOf }) {
  const { api } = useDashboard()
  const feed = useFeed(JSON.stringify(filter), sourceOf(api, filter))
  return (
    <FeedList
      feed={feed}
      label="Changes"
      class="activity"
      // As high as the window, so that the log below doesn't move.
      waiting={14}
      empty={
        <EmptyState icon="search" title="Nothing found">
          No change fits these filters.
        </EmptyState>
      }
      row={(entry) => <Entry key={entry.id} entry={entry} nameOf={nameOf} />}
    />
  )
}

function sourceOf(api: Api, { actor, action, days }: Filter): FeedSource<AuditEntry> {
  const since = days === '' ? null : isoTime(Date.now() - Number(days) * DAY_MS)
  return {
    page: (cursor, limit, signal) =>
      api.call('listAudit', { query: { actor, action, since, cursor, limit }, signal }),
    entry: () => Promise.resolve({ ok: false, failure: UNREACHABLE }),
    // Entries never change, except the count of wrong passwords.
    idIn: () => null,
    countMax: 2_000,
  }
}

function Entry({ entry, nameOf }: { readonly entry: AuditEntry; readonly nameOf: NameOf }) {
  const { address } = entry
  return (
    <li>
      <p>
        <SentenceLink href={placeOf(entry.action, entry.about.id)}>
          {actionWords(entry, nameOf)}
        </SentenceLink>
      </p>
      <p class="small quiet">
        <PersonText>{actorWords(entry.actor, nameOf)}</PersonText>
        {address !== null && ` from ${address}`} · <Ago time={entry.last_at} />
      </p>
      {changeWords(entry, nameOf).map((words) => (
        <p key={words} class="small">
          <PersonText>{words}</PersonText>
        </p>
      ))}
    </li>
  )
}

function LogCard() {
  const log = useRead('getLog', {})
  const nameOf = useNames()
  return (
    <Card title="Log">
      <WhenReady of={log} kind="line" count={6}>
        {(recent) => <LogLines recent={recent} nameOf={nameOf} />}
      </WhenReady>
    </Card>
  )
}

type LogProps = { readonly recent: RecentLog; readonly nameOf: NameOf }

function LogLines({ recent: { data, place }, nameOf }: LogProps) {
  const level = useSignal('info')
  const least = LEVELS.indexOf(level.value)
  const lines = data.filter((line) => LEVELS.indexOf(line.level) >= least)
  const text = lines.toReversed().map((line) => lineWords(line, nameOf))
  return (
    <>
      <p class="small quiet">{`The latest lines since the relay started. ${place}`}</p>
      <SelectField label="Level" bind={level} options={optionsOf(LEVEL_WORDS)} />
      {lines.length === 0 ? (
        <p class="quiet">No lines at this level.</p>
      ) : (
        <div class="activity-log">
          <CodeBlock what="Log" text={text.join('\n')} />
        </div>
      )}
    </>
  )
}

/** From the lowest level to the highest. */
const LEVEL_WORDS = { info: 'Everything', warn: 'Warnings and errors', error: 'Errors' }
const LEVELS = Object.keys(LEVEL_WORDS)

const TABS = [
  ['night', SHELL.names.night],
  ['activity', 'Changes and log'],
] as const

/** The two pages that the navigation lists as Activity. */
export function ActivityTabs({ current }: { readonly current: 'night' | 'activity' }) {
  return (
    <nav class="tabs" aria-label={SHELL.names.activity}>
      {TABS.map(([page, name]) => (
        <a key={page} href={href(page)} aria-current={page === current ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}

/** A sentence that leads to what it is about; `href` is null if that has no page. */
export function SentenceLink(props: { readonly href: string | null; readonly children: string }) {
  const words = <PersonText>{props.children}</PersonText>
  return props.href === null ? words : <a href={props.href}>{words}</a>
}
