// Messages of all lines, with filters in the address.

import { useSignal, type Signal } from '@preact/signals'
import type { ComponentType } from 'preact'

import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import type { Api, CallOf } from '../api.ts'
import { Button } from '../components/button.tsx'
import { ConfirmButton } from '../components/dialog.tsx'
import { Field, FilterFold, SelectField, optionsOf, bindTo } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { FeedList } from '../components/long-list.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, Skeleton } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { type FeedSource, HEAD_MAX } from '../feed.ts'
import { endOfDay, startOfDay } from '../figure-words.ts'
import { counterpart } from '../people.ts'
import { useLines, useSite, useTimeZone } from '../sources.ts'
import { isoTime } from '../time-words.ts'
import { useFeed } from '../use-feed.ts'
import { messageExcerpt } from '../words/attachments.ts'
import { lineOption } from '../words/line-states.ts'
import { isEndedOnPurpose, statusWords, whyNot } from '../words/message-states.ts'
import {
  ApprovalActions,
  CancelButton,
  ResolveButtons,
  SentAgain,
  useSendAgain,
} from './message-actions.tsx'
import { BulkBar, canPick } from './message-bulk.tsx'
import { SiteFilter } from './site-filter.tsx'

const MESSAGE = lazyDialog(async () => (await import('./message.tsx')).MessageView)

const SHOWN_MAX = 1_000
/** Rows shown at first, and added near the end: on a busy relay the list grows at its head. */
const ROWS = 30
const DAY_MS = 86_400_000

const STATUSES = 'failed expired uncertain queued sending sent delivered read received'.split(' ')
const QUEUED_FOR = {
  scheduled: 'Queued: scheduled',
  approval: 'Queued: needs approval',
  quiet_hours: 'Queued: quiet hours',
}
const STATUS_OPTIONS = [
  { value: '', text: 'All statuses' },
  ...STATUSES.map((value) => ({ value, text: statusWords(value).text })),
  { value: 'ended', text: 'Canceled or denied' },
  ...optionsOf(QUEUED_FOR),
]
const TITLES: Readonly<Record<string, string>> = {
  '': 'Messages',
  ended: 'Messages that were canceled, denied or marked as failed',
  uncertain: 'Messages that may not have arrived',
  scheduled: 'Scheduled messages',
  approval: 'Messages to approve',
  quiet_hours: 'Messages that wait for quiet hours to end',
}
const SERVICES = optionsOf({ '': 'All services', iMessage: 'iMessage', SMS: 'SMS', RCS: 'RCS' })

type Filters = Readonly<Record<'site' | 'status' | 'line' | 'service' | 'day' | 'days', string>>

export function MessagesPage() {
  const { router } = useDashboard()
  const { path, query } = router.route.value
  const site = useSite()
  const { status = '', line = '', service = '', day = '', days = '' } = query
  const filters = { site, status, line, service, day, days }
  const [id] = path
  const timeZone = useTimeZone()
  const close = () => router.replace(href('messages', [], filters))
  return (
    <>
      <PageHead title={TITLES[status] ?? `${statusWords(status).text} messages`}>
        Newest first.
      </PageHead>
      <FilterBar filters={filters} />
      {timeZone === null ? (
        <Skeleton kind="list" count={6} />
      ) : (
        <List key={JSON.stringify([filters, timeZone])} {...{ filters, timeZone }} />
      )}
      {id !== undefined && <MESSAGE.View key={id} id={id} onClose={close} />}
    </>
  )
}

type FilterProps = { readonly filters: Filters }

function FilterBar({ filters }: FilterProps) {
  const { router } = useDashboard()
  const lines = useLines().value?.data ?? []
  const set = (change: Partial<Filters>) =>
    router.replace(href('messages', [], { ...filters, ...change }))
  const bind = (name: keyof Filters) => bindTo(filters[name], (value) => set({ [name]: value }))
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <FilterFold of={Object.values(filters)} class="filters">
      <SiteFilter page="messages" />
      <SelectField label="Status" bind={bind('status')} options={STATUS_OPTIONS} />
      <SelectField
        label="Line"
        bind={bind('line')}
        options={[{ value: '', text: 'All lines' }, ...lines.map(lineOption)]}
      />
      <SelectField label="Service" bind={bind('service')} options={SERVICES} />
      <SelectField
        label="Period"
        bind={bindTo(filters.days, (days) => set({ days, day: '' }))}
        options={[
          { value: '', text: 'Any time' },
          { value: '7', text: 'Last 7 days' },
        ]}
      />
      <Field label="Day">
        {(box) => (
          <input
            {...box}
            class="input"
            type="date"
            value={filters.day}
            onChange={(event) => set({ day: event.currentTarget.value, days: '' })}
          />
        )}
      </Field>
      {isFiltered && (
        <Button variant="quiet" onClick={() => router.replace(href('messages'))}>
          Clear filters
        </Button>
      )}
    </FilterFold>
  )
}

function List({ filters, timeZone }: FilterProps & { readonly timeZone: string }) {
  const { api, clock } = useDashboard()
  const shown = useSignal(ROWS)
  const feed = useFeed('messages', {
    ...messageSource(api, { ...queryOf(filters), ...periodOf(filters, timeZone, clock.time()) }),
    // Until the reader scrolls, many new messages cost no more than the first page.
    headMax: () => (shown.peek() > ROWS ? HEAD_MAX : ROWS),
  })
  // A message may have changed since the list was read.
  const isShown = (message: Message) => {
    const status = isEndedOnPurpose(message) ? 'ended' : message.status
    return ['', status, message.queued_reason].includes(filters.status)
  }
  const add = (message: Message) => feed.add(message)
  const now = feed.now.value
  const picked = useSignal<ReadonlySet<string>>(NOTHING_PICKED)
  const messages = now.state === 'ready' ? now.entries.filter(isShown).slice(0, shown.value) : []
  const pickable = messages.filter((message) => canPick(filters.status, message))
  const isPickable = pickable.length > 1
  return (
    <Card kind="list">
      {isPickable && (
        <BulkBar status={filters.status} messages={pickable} onChanged={add} picked={picked} />
      )}
      <FeedList
        feed={feed}
        label="Messages"
        class="recent message-list"
        isShown={isShown}
        max={shown.value}
        onMore={(count) => (shown.value = count + ROWS)}
        empty={
          <EmptyState icon="search" title="No messages match">
            Change or clear the filters.
          </EmptyState>
        }
        row={(message) => (
          <li key={message.id} class={isPickable ? 'is-pickable' : undefined}>
            {isPickable && <Pick {...{ message, picked }} isAble={pickable.includes(message)} />}
            <Row {...{ message, filters }} />
            <Remedies message={message} onChanged={add} />
          </li>
        )}
      />
      {now.state === 'ready' && now.entries.length >= SHOWN_MAX && (
        <p class="list-end small quiet">
          Older messages aren't shown here. Narrow the filters to find them.
        </p>
      )}
    </Card>
  )
}

/** The API's bounds are exclusive. */
function periodOf({ day, days }: Filters, timeZone: string, now: number) {
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) {
    return {
      created_after: isoTime(startOfDay(day, timeZone) - 1),
      created_before: isoTime(endOfDay(day, timeZone)),
    }
  }
  return Number(days) > 0 ? { created_after: isoTime(now - Number(days) * DAY_MS) } : {}
}

function queryOf({ site: site_id, status, line: phone_line_id, service }: Filters) {
  const ended = { status: 'failed', ended_on_purpose: String(status === 'ended') }
  const queued = status in QUEUED_FOR ? { queued_reason: status } : { status }
  const state = status === 'failed' || status === 'ended' ? ended : queued
  return { ...state, site_id, phone_line_id, service, type: 'all', contact_names: 'true' }
}

function messageSource(api: Api, query: CallOf<'listMessages'>['query']): FeedSource<Message> {
  return {
    page: (cursor, limit, signal) =>
      api.call('listMessages', { query: { ...query, cursor, limit }, signal }),
    entry: (id, signal) =>
      api.call('getMessage', { params: { id }, query: { contact_names: 'true' }, signal }),
    idIn: ({ what, id }) => (what === 'message' ? id : null),
    countMax: SHOWN_MAX,
  }
}

const NOTHING_PICKED: ReadonlySet<string> = new Set()

type MessageProps = { readonly message: Message }
type PickProps = MessageProps & {
  readonly picked: Signal<ReadonlySet<string>>
  readonly isAble: boolean
}

function Pick({ message, picked, isAble }: PickProps) {
  const { id } = message
  if (!isAble) return <span class="pick" />
  return (
    <label class="pick">
      <input
        type="checkbox"
        aria-label={`Pick the message to ${counterpart(message)}`}
        checked={picked.value.has(id)}
        onChange={() => (picked.value = picked.value.symmetricDifference(new Set([id])))}
      />
    </label>
  )
}

function Row({ message, filters }: MessageProps & FilterProps) {
  const isInbound = message.direction === 'inbound'
  const why = whyNot(message)
  return (
    <a class="recent-row" href={href('messages', [message.id], filters)}>
      <span class={`recent-sign ${isInbound ? 'recent-in' : ''}`}>
        <Icon name={isInbound ? 'arrow-in' : 'send'} />
        <span class="visually-hidden">{isInbound ? 'From' : 'To'}</span>
      </span>
      <span class="recent-words">
        <PersonText in="one-line recent-handle">{counterpart(message)}</PersonText>
        <PersonText in="one-line quiet">{messageExcerpt(message)}</PersonText>
        {why !== null && <span class="small">{why}</span>}
      </span>
      <span class="recent-end">
        <Ago time={message.created_at} isInside />
        <Badge of={statusWords(message.status, message.error)} />
      </span>
    </a>
  )
}

type RemedyProps = MessageProps & { readonly onChanged: (message: Message) => void }

/** Actions for a message that waits for the owner, or was not sent. */
function Remedies(props: RemedyProps) {
  const { message } = props
  const { words, ...again } = useSendAgain(props)
  const isUnsent = message.status === 'failed' || message.status === 'expired'
  const Act = ACTS[message.queued_reason ?? message.status]
  if (!isUnsent && Act === undefined) return null
  return (
    <div class="actions remedies">
      {Act && <Act {...props} />}
      <SentAgain message={message} />
      {isUnsent && message.sent_again === undefined && (
        <ConfirmButton
          icon="again"
          text={`${words}…`}
          title={`${words}?`}
          confirm={words}
          variant="main"
          {...again}
        >
          It will be sent as a new message, to the same recipient from the same line.
        </ConfirmButton>
      )}
    </div>
  )
}

/** By the reason why a message waits, or its status. */
const ACTS: Readonly<Record<string, ComponentType<RemedyProps>>> = {
  approval: ApprovalActions,
  scheduled: CancelButton,
  quiet_hours: CancelButton,
  uncertain: ResolveButtons,
}
