// Messages of all lines by their status, line, service and time: the filters are in the address. A message
// has a view of its own, with the times of its steps and its deliveries to webhooks.

import { href, withQuery } from '../address.ts'
import type { Api } from '../api.ts'
import { messageExcerpt } from '../attachment-words.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { ConfirmButton, Dialog } from '../components/dialog.tsx'
import { Field, SelectField } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { NearView } from '../components/long-list.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, LongText, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useFeed, useRead } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import { durationWords, endOfDay, momentWords, startOfDay } from '../figure-words.ts'
import { lineName, lineOption } from '../line-words.ts'
import { statusWords, whyNot } from '../message-words.ts'
import { draftOf, sendOnce } from '../outbox.ts'
import { counterpart } from '../people.ts'
import type { Message, MessageTimes, SeenDelivery } from '../resources.ts'
import { useLines, useTimeZone } from '../sources.ts'
import { deliveryState } from '../webhook-words.ts'
import { COMMON } from '../words/common.ts'
import { MESSAGES as WORDS } from '../words/messages.ts'

const SHOWN_MAX = 1_000
const DAY_MS = 86_400_000

const STATUSES =
  'failed expired uncertain queued sending sent delivered read received'.split(' ')
const SERVICES = ['iMessage', 'SMS', 'RCS']

type Filters = Readonly<Record<'status' | 'line' | 'service' | 'day' | 'days', string>>

export function MessagesPage() {
  const { router } = useDashboard()
  const { path, query } = router.route.value
  const { status = '', line = '', service = '', day = '', days = '' } = query
  const filters = { status, line, service, day, days }
  const [id] = path
  const timeZone = useTimeZone()
  return (
    <>
      <PageHead title={WORDS.title}>{WORDS.lead}</PageHead>
      <FilterBar filters={filters} />
      {timeZone === null ? (
        <Skeleton kind="list" count={6} />
      ) : (
        <List key={JSON.stringify([filters, timeZone])} {...{ filters, timeZone }} />
      )}
      {id !== undefined && <MessageView key={id} id={id} filters={filters} />}
    </>
  )
}

type FilterProps = { readonly filters: Filters }

function FilterBar({ filters }: FilterProps) {
  const { router } = useDashboard()
  const lines = useLines().value?.data ?? []
  const set = (change: Partial<Filters>) =>
    router.replace(href('messages', [], { ...filters, ...change }))
  const named = (value: string) => ({ value, text: value })
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <div class="filters" role="group" aria-label={WORDS.filters}>
      <SelectField
        label={WORDS.status}
        value={filters.status}
        options={[
          { value: '', text: WORDS.allStatuses },
          ...STATUSES.map((value) => ({ value, text: statusWords(value).text })),
        ]}
        onChange={(status) => set({ status })}
      />
      <SelectField
        label={WORDS.line}
        value={filters.line}
        options={[{ value: '', text: WORDS.allLines }, ...lines.map(lineOption)]}
        onChange={(line) => set({ line })}
      />
      <SelectField
        label={WORDS.service}
        value={filters.service}
        options={[{ value: '', text: WORDS.allServices }, ...SERVICES.map(named)]}
        onChange={(service) => set({ service })}
      />
      <SelectField
        label={WORDS.period}
        value={filters.days}
        options={[
          { value: '', text: WORDS.anyTime },
          { value: '7', text: WORDS.last7 },
        ]}
        onChange={(days) => set({ days, day: '' })}
      />
      <Field label={WORDS.day}>
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
      <Button look="quiet" isDisabled={!isFiltered} onClick={() => router.replace(href('messages'))}>
        {WORDS.clear}
      </Button>
    </div>
  )
}

type ListProps = FilterProps & { readonly timeZone: string }

function List({ filters, timeZone }: ListProps) {
  const { api, clock } = useDashboard()
  const period = periodOf(filters, timeZone, clock.time())
  const feed = useFeed('messages', messageSource(api, filters, period))
  const now = feed.now.value
  if (now.state === 'loading') return <Skeleton kind="list" count={6} />
  if (now.state === 'failed') {
    return <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
  }
  // A message that changed after the list was read may no longer match.
  const rows = now.entries.filter(({ status }) => ['', status].includes(filters.status))
  const add = (message: Message) => feed.add(message)
  return (
    <Card kind="list">
      {rows.length === 0 && now.nextCursor === null && (
        <EmptyState icon="search" title={WORDS.none}>
          {WORDS.noneHint}
        </EmptyState>
      )}
      <ul class="recent" aria-label={WORDS.title}>
        {rows.map((message) => (
          <li key={message.id}>
            <Row message={message} filters={filters} onChanged={add} />
          </li>
        ))}
      </ul>
      {now.nextCursor !== null && (
        <NearView again={now} onSeen={() => void feed.readMore()}>
          <Skeleton kind="row" count={2} />
        </NearView>
      )}
      {now.entries.length >= SHOWN_MAX && <p class="list-end small quiet">{WORDS.end}</p>}
    </Card>
  )
}

type Period = {
  readonly created_after?: string | undefined
  readonly created_before?: string | undefined
}

/** The bounds of the API, both exclusive. */
function periodOf({ day, days }: Filters, timeZone: string, now: number): Period {
  const iso = (time: number) => new Date(time).toISOString()
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) {
    return {
      created_after: iso(startOfDay(day, timeZone) - 1),
      created_before: iso(endOfDay(day, timeZone)),
    }
  }
  return Number(days) > 0 ? { created_after: iso(now - Number(days) * DAY_MS) } : {}
}

function messageSource(api: Api, filters: Filters, period: Period): FeedSource<Message> {
  const { status, line: phone_line_id, service } = filters
  const wanted = { status, phone_line_id, service, type: 'all', ...period }
  return {
    page: (cursor, limit, signal) =>
      api.get(withQuery('messages', { ...wanted, cursor, limit }), signal),
    entry: (id, signal) => api.get(`messages/${id}`, signal),
    idIn: ({ what, id }) => (what === 'message' ? id : null),
    movesUp: () => false,
    countMax: SHOWN_MAX,
  }
}

type MessageProps = { readonly message: Message; readonly onChanged: (message: Message) => void }

function Row({ message, filters, onChanged }: MessageProps & FilterProps) {
  const isInbound = message.direction === 'inbound'
  const why = whyNot(message)
  return (
    <>
      <a class="recent-row" href={href('messages', [message.id], filters)}>
        <span class={`recent-sign ${isInbound ? 'recent-in' : ''}`}>
          <Icon name={isInbound ? 'arrow-in' : 'send'} />
          <span class="visually-hidden">{isInbound ? WORDS.from : WORDS.to}</span>
        </span>
        <span class="recent-words">
          <span class="one-line recent-handle">
            <PersonText>{counterpart(message)}</PersonText>
          </span>
          <span class="one-line quiet">
            <PersonText>{messageExcerpt(message)}</PersonText>
          </span>
          {why !== null && <span class="small">{why}</span>}
        </span>
        <span class="recent-end">
          <Ago time={message.created_at} isInside />
          <Badge of={statusWords(message.status)} />
        </span>
      </a>
      <Remedies message={message} onChanged={onChanged} />
    </>
  )
}

/** What the owner can do about a message that failed or is uncertain; nothing for all others. */
function Remedies({ message, onChanged }: MessageProps) {
  const { api, notices } = useDashboard()
  const { isBusy, start } = useAction(
    (status: 'sent' | 'failed') => api.post<Message>(`messages/${message.id}/resolve`, { status }),
    (changed) => {
      onChanged(changed)
      notices.done(WORDS.saved)
    },
    (failure) => notices.failed(failure.message),
  )
  if (message.status === 'uncertain') {
    return (
      <div class="actions remedies">
        <Button icon="check" isBusy={isBusy} onClick={() => start('sent')}>
          {WORDS.markSent}
        </Button>
        <Button icon="cross" isBusy={isBusy} onClick={() => start('failed')}>
          {WORDS.markFailed}
        </Button>
      </div>
    )
  }
  if (message.status !== 'failed' && message.status !== 'expired') return null
  return (
    <div class="actions remedies">
      <ConfirmButton
        icon="again"
        text={WORDS.sendAgainAsk}
        title={WORDS.sendAgainTitle}
        confirm={WORDS.sendAgain}
        look="main"
        // The key comes from the message, which is sent again once, however many pages are open.
        call={() => sendOnce(api, draftOf(message), `again-${message.id}`)}
        onDone={(sent) => {
          onChanged(sent)
          notices.done(WORDS.sentAgain)
        }}
      >
        {WORDS.sendAgainText}
      </ConfirmButton>
    </div>
  )
}

type ViewProps = FilterProps & { readonly id: string }

function MessageView({ id, filters }: ViewProps) {
  const { router } = useDashboard()
  const read = useRead<Message>(`messages/${encodeURIComponent(id)}`, id)
  const close = () => router.replace(href('messages', [], filters))
  const conversation = read.value?.conversation_id
  return (
    <Dialog
      title={WORDS.details}
      onClose={close}
      actions={
        <>
          {conversation !== undefined && (
            <LinkButton href={href('conversations', [conversation], { message: id })}>
              {WORDS.open}
            </LinkButton>
          )}
          <Button look="main" onClick={close}>
            {COMMON.done}
          </Button>
        </>
      }
    >
      {read.now.state === 'failed' && read.now.failure.status === 404 ? (
        <EmptyState icon="search" title={WORDS.gone}>
          {WORDS.goneHint}
        </EmptyState>
      ) : (
        <WhenReady of={read} kind="row" count={4}>
          {(message) => <MessageParts message={message} />}
        </WhenReady>
      )}
    </Dialog>
  )
}

function MessageParts({ message }: { readonly message: Message }) {
  const line = useLines().value?.data.find(({ id }) => id === message.phone_line_id)
  const why = whyNot(message)
  return (
    <>
      <p class="row">
        <Badge of={statusWords(message.status)} />
        <strong>
          <PersonText>{counterpart(message)}</PersonText>
        </strong>
        <span class="quiet">
          {WORDS.via} <PersonText>{line ? lineName(line) : message.phone_number}</PersonText> ·{' '}
          {message.service}
        </span>
      </p>
      <div>
        <LongText text={message.text || messageExcerpt(message)} />
      </div>
      {why !== null && <p class="small">{why}</p>}
      <Timeline message={message} />
      <DeliveriesOf id={message.id} />
    </>
  )
}

type Step = readonly [name: string, at: string | null]

function stepsOf(message: Message, handedOver: string | null): readonly Step[] {
  if (message.direction === 'inbound') {
    return [
      [WORDS.sentBySender, message.sent_at],
      [WORDS.recorded, message.created_at],
    ]
  }
  const hasEnded = ['failed', 'expired', 'uncertain'].includes(message.status)
  return [
    [WORDS.accepted, message.created_at],
    [WORDS.handedOver, handedOver],
    [WORDS.sent, message.sent_at],
    [WORDS.delivered, message.delivered_at],
    [WORDS.read, message.read_at],
    [statusWords(message.status).text, hasEnded ? message.updated_at : null],
  ]
}

/** The steps that were made, each with the time since the one before. */
function Timeline({ message }: { readonly message: Message }) {
  const times = useRead<MessageTimes>(`/dashboard/messages/${message.id}/times`, message.id)
  const steps = stepsOf(message, times.value?.handed_over_at ?? null).flatMap(([name, at]) =>
    at === null ? [] : [{ name, at }],
  )
  return (
    <section aria-label={WORDS.timeline}>
      <ol class="timeline">
        {steps.map(({ name, at }, place) => {
          const before = steps[place - 1]?.at ?? at
          const ms = Math.max(Date.parse(at) - Date.parse(before), 0)
          return (
            <li key={name}>
              <span>{name}</span>
              <span class="small quiet figures">
                <time dateTime={at}>{momentWords(at)}</time>
                {place > 0 && ` · ${WORDS.later(durationWords(ms))}`}
              </span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** Events of the message on their way to webhooks. */
function DeliveriesOf({ id }: { readonly id: string }) {
  const path = `/dashboard/messages/${id}/deliveries`
  const read = useRead<{ readonly data: readonly SeenDelivery[] }>(path, 'delivery')
  return (
    <section class="stack-tight">
      <h3>{WORDS.deliveries}</h3>
      <WhenReady of={read} kind="row" count={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="small quiet">{WORDS.noDeliveries}</p>
          ) : (
            <ul class="stack-tight">
              {data.map((delivery) => (
                <li key={delivery.id} class="row">
                  <Badge of={deliveryState(delivery)} />
                  <a href={href('webhooks', [delivery.webhook_id, 'deliveries', delivery.id])}>
                    <code>{delivery.event}</code>
                  </a>
                  <Ago time={delivery.created_at} />
                </li>
              ))}
            </ul>
          )
        }
      </WhenReady>
    </section>
  )
}
