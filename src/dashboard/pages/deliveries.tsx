// The deliveries of a webhook, newest first, with filters in the address.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { SeenDelivery } from '../../api/dashboard.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { href } from '../address.ts'
import type { Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { ConfirmButton } from '../components/dialog.tsx'
import { bindTo, SelectField, TextField, useSettled } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { lazyDialog, lazyPage } from '../components/lazy-page.tsx'
import { FeedList } from '../components/long-list.tsx'
import { Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction, useRead } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import { typedHandle } from '../numbers.ts'
import { useDelivery } from '../sources.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { useFeed } from '../use-feed.ts'
import { COMMON, grouped, countWords } from '../words/common.ts'
import {
  DELIVERIES,
  deliveryState,
  nextTryWords,
  personWords,
  refusalWords,
  REPLAY,
  hostAndPathOf,
} from '../words/deliveries.ts'
import { EVENT_NAMES, EVENT_OPTIONS } from '../words/webhook-form.ts'

const DETAIL = lazyPage(null, async () => (await import('./delivery.tsx')).DeliveryDetail)
const RETRY_FAILED = lazyDialog(async () => (await import('./replay.tsx')).RetryFailed)
const SEND_PAST = lazyDialog(async () => (await import('./replay.tsx')).SendPastEvents)

type Props = { readonly webhook: Webhook; readonly open: string | null }

const STATUSES = { '': 'All', pending: 'Pending', succeeded: 'Delivered', exhausted: 'Failed' }
/** Query parameters of the API's list, with the same names in the address. */
const FILTERS = [
  'status',
  'event',
  'handle',
  'message_id',
  'created_after',
  'created_before',
] as const
type Filter = Readonly<Record<(typeof FILTERS)[number], string>>

export function Deliveries({ webhook, open }: Props) {
  const asking = useSignal<'retry' | 'past' | null>(null)
  const close = () => (asking.value = null)
  const filter = useFilter()
  return (
    <>
      <h2 class="visually-hidden">Deliveries</h2>
      <div class="delivery-tools">
        <StatusFilter webhook={webhook} filter={filter} />
        <div class="actions">
          <Button icon="again" onClick={() => (asking.value = 'retry')}>
            {`${REPLAY.retry}…`}
          </Button>
          <Button onClick={() => (asking.value = 'past')}>{`${REPLAY.past}…`}</Button>
        </div>
      </div>
      <MoreFilters webhook={webhook} filter={filter} />
      <PendingReplay webhook={webhook} />
      <DeliveryList key={JSON.stringify(filter)} webhook={webhook} open={open} filter={filter} />
      {asking.value === 'retry' && <RETRY_FAILED.View webhook={webhook} onClose={close} />}
      {asking.value === 'past' && <SEND_PAST.View webhook={webhook} onClose={close} />}
    </>
  )
}

/** Reads the filter from the address, without unknown statuses and events. */
function useFilter(): Filter {
  const { query } = useDashboard().router.route.value
  const known = (name: string, values: readonly string[]) =>
    values.includes(query[name] ?? '') ? query[name] : ''
  return {
    ...(Object.fromEntries(FILTERS.map((name) => [name, query[name] ?? ''])) as Filter), // It has all names.
    status: known('status', Object.keys(STATUSES)) ?? '',
    event: known('event', EVENT_NAMES) ?? '',
  }
}

type FilterProps = { readonly webhook: Webhook; readonly filter: Filter }

function useFilterChange({ webhook, filter }: FilterProps) {
  const { router } = useDashboard()
  return (part: Partial<Filter>) =>
    router.replace(href('webhooks', [webhook.id, 'deliveries'], { ...filter, ...part }))
}

function StatusFilter({ webhook, filter }: FilterProps) {
  const change = useFilterChange({ webhook, filter })
  return (
    <div class="segments" role="group" aria-label="Status">
      {Object.entries(STATUSES).map(([status, words]) => (
        <button
          key={status}
          type="button"
          aria-pressed={status === filter.status}
          onClick={() => change({ status })}
        >
          {words}
        </button>
      ))}
    </div>
  )
}

function MoreFilters({ webhook, filter }: FilterProps) {
  const change = useFilterChange({ webhook, filter })
  const { status: _status, ...rest } = filter
  const isSet = Object.values(rest).some((value) => value !== '')
  const isOpen = useSignal(false)
  const none = Object.fromEntries(FILTERS.map((name) => [name, '']))
  return (
    <details
      class="delivery-filters"
      open={isSet || isOpen.value}
      onToggle={(event) => (isOpen.value = event.currentTarget.open)}
    >
      <summary>More filters</summary>
      <div class="delivery-filter-fields" role="group" aria-label="Filter deliveries">
        <SelectField
          label={DELIVERIES.event}
          bind={bindTo(filter.event, (event) => change({ event }))}
          options={EVENT_OPTIONS}
        />
        <SettledField
          label="Number or email"
          value={filter.handle}
          onSettle={(typed) => change({ handle: typedHandle(typed, []) })}
        />
        <SettledField
          label="Message ID"
          value={filter.message_id}
          onSettle={(message_id) => change({ message_id })}
        />
        <MomentField
          label="From"
          value={filter.created_after}
          onChange={(created_after) => change({ created_after })}
        />
        <MomentField
          label="To"
          value={filter.created_before}
          onChange={(created_before) => change({ created_before })}
        />
        <Button onClick={() => change(none)}>Clear filters</Button>
      </div>
    </details>
  )
}

type SettledProps = {
  readonly label: string
  readonly value: string
  readonly onSettle: (value: string) => void
}

/** Calls `onSettle` after a pause in typing. */
function SettledField({ label, value, onSettle }: SettledProps) {
  const typed = useSignal(value)
  const settled = useSettled(typed.value).trim()
  useEffect(() => {
    if (settled !== value) onSettle(settled)
  }, [settled])
  useEffect(() => {
    if (settled !== value) typed.value = value
  }, [value])
  return <TextField label={label} bind={typed} />
}

type TimeProps = {
  readonly label: string
  /** ISO 8601, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
}

function MomentField({ label, value, onChange }: TimeProps) {
  const known = Date.parse(value)
  const bind = bindTo(Number.isNaN(known) ? '' : pickerTime(known), (text) => {
    const time = pickedTime(text)
    onChange(time === null ? '' : isoTime(time))
  })
  return <TextField type="datetime-local" label={label} bind={bind} />
}

function DeliveryList({ webhook, open, filter }: Props & { readonly filter: Filter }) {
  const { api } = useDashboard()
  const feed = useFeed(webhook.id, deliverySource(api, webhook.id, filter))
  // A delivery that changed after the list was read may no longer match the filter.
  const isShown = ({ status }: SeenDelivery) => filter.status === '' || filter.status === status
  const now = feed.now.value
  const isElsewhere =
    now.state === 'ready' && !now.entries.some((one) => one.id === open && isShown(one))
  return (
    <>
      {open !== null && isElsewhere && <LoneDelivery webhook={webhook} id={open} />}
      <Card kind="list">
        <FeedList
          feed={feed}
          label="Deliveries"
          isShown={isShown}
          empty={<NoDeliveries webhook={webhook} filter={filter} />}
          row={(delivery) => (
            <DeliveryRow
              key={delivery.id}
              webhook={webhook}
              delivery={delivery}
              isOpen={delivery.id === open}
              filter={filter}
            />
          )}
        />
      </Card>
    </>
  )
}

function deliverySource(api: Api, webhookId: string, filter: Filter): FeedSource<SeenDelivery> {
  const params = { id: webhookId }
  return {
    page: (cursor, limit, signal) =>
      api.call('listSeenDeliveries', { params, query: { ...filter, cursor, limit }, signal }),
    entry: (id, signal) => api.call('getSeenDelivery', { params: { id }, signal }),
    idIn: ({ what, id }) => (what === 'delivery' ? id : null),
    // Filters find older ones.
    countMax: 500,
  }
}

function NoDeliveries({ webhook, filter }: FilterProps) {
  if (Object.values(filter).some((value) => value !== '')) {
    return (
      <EmptyState icon="webhooks" title="No matching deliveries">
        No delivery of the last 30 days fits these filters.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="webhooks"
      title="No deliveries yet"
      action={
        <LinkButton href={href('webhooks', [webhook.id, 'test'])}>Send test event</LinkButton>
      }
    >
      Events appear here as they are sent.
    </EmptyState>
  )
}

function LoneDelivery({ webhook, id }: { readonly webhook: Webhook; readonly id: string }) {
  const close = <a href={href('webhooks', [webhook.id, 'deliveries'])}>{COMMON.close}</a>
  return (
    <Card kind="list" title="Delivery" actions={close}>
      <WhenReady of={useDelivery(id)} kind="row" count={2}>
        {(delivery) =>
          delivery.webhook_id === webhook.id ? (
            <DETAIL.View webhook={webhook} delivery={delivery} />
          ) : (
            <p class="delivery-detail">This delivery belongs to another webhook.</p>
          )
        }
      </WhenReady>
    </Card>
  )
}

type RowProps = FilterProps & { readonly delivery: SeenDelivery; readonly isOpen: boolean }

function DeliveryRow({ webhook, delivery, isOpen, filter }: RowProps) {
  const path = [webhook.id, 'deliveries', ...(isOpen ? [] : [delivery.id])]
  return (
    <li class="delivery">
      <div class="delivery-line">
        <a class="delivery-row" href={href('webhooks', path, filter)} aria-expanded={isOpen}>
          <span class="delivery-state">
            <Badge of={deliveryState(delivery)} />
          </span>
          <span class="delivery-event">
            <code>{delivery.event}</code>
            <PersonText in="small quiet">{personWords(delivery)}</PersonText>
          </span>
          <Result webhook={webhook} delivery={delivery} />
          <span class="delivery-time">
            <Ago time={delivery.created_at} isInside />
            <Icon name={isOpen ? 'down' : 'forward'} />
          </span>
        </a>
        {!isOpen && webhook.is_active && delivery.status !== 'succeeded' && (
          <RetryNow delivery={delivery} />
        )}
      </div>
      {isOpen && <DETAIL.View webhook={webhook} delivery={delivery} />}
    </li>
  )
}

function RetryNow({ delivery }: Pick<RowProps, 'delivery'>) {
  const { api, notices } = useDashboard()
  const { isBusy, start } = useAction(
    () => api.call('redeliverWebhookDelivery', { params: { id: delivery.id } }),
    () => notices.done(DELIVERIES.sendingAgain),
    (failure) => notices.failed(refusalWords(failure)),
  )
  return (
    <Button variant="quiet" icon="again" isBusy={isBusy} onClick={start}>
      Retry now
    </Button>
  )
}

function Result({ webhook, delivery }: Pick<RowProps, 'webhook' | 'delivery'>) {
  const { clock } = useDashboard()
  const { status, attempts, attempt_count, schedule } = delivery
  const last = attempts.at(-1)
  const made =
    status === 'succeeded'
      ? countWords(attempt_count, 'attempt')
      : schedule.made > 0 && `Attempt ${grouped(schedule.made)} of ${grouped(schedule.of)}`
  const parts = [last?.duration, made, nextTryWords(delivery, webhook, clock.now.value)]
  return (
    <span class="delivery-result small">
      {last === undefined
        ? 'No attempt yet'
        : (last.hint?.title ?? DELIVERIES.accepted(last.status_code))}
      <span class="quiet figures"> · {parts.filter(Boolean).join(' · ')}</span>
    </span>
  )
}

/** The pending events of a replay or retry, with a button to stop them. */
export function PendingReplay({ webhook }: { readonly webhook: Webhook }) {
  const { api, notices } = useDashboard()
  const call = { params: { id: webhook.id } }
  const state = useRead('getReplay', call, 'delivery', 'webhook')
  const waiting = state.value?.waiting ?? 0
  /** The highest count since the view opened, or since the previous replay ended. */
  const most = useSignal(0)
  useEffect(() => {
    most.value = waiting === 0 ? 0 : Math.max(most.value, waiting)
  }, [waiting])
  if (waiting === 0) return null
  const stop = (
    <ConfirmButton
      text="Stop…"
      title="Stop sending these?"
      confirm="Stop"
      call={() => api.call('stopReplay', call)}
      onDone={({ stopped }) => {
        notices.done(`Stopped ${countWords(stopped, 'event')}.`)
        state.refresh()
      }}
    >
      Pending events won't be sent. Events already sent aren't affected.
    </ConfirmButton>
  )
  return (
    <Callout tone="wait" title={`${countWords(waiting, 'past event')} pending`} actions={stop}>
      {`Sending to ${hostAndPathOf(webhook.url)}.`}
      <progress aria-label="Past events sent" max={most.value} value={most.value - waiting} />
    </Callout>
  )
}
