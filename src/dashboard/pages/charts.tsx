// The charts of lines and webhooks, and the figures of Home.

import type { PhoneLine } from '../../api/phone-lines.ts'
import type { HomeChartData, LineChartData } from '../../api/stats.ts'
import { href } from '../address.ts'
import { AreaChart, DayBars, ShareStrip } from '../components/charts.tsx'
import { Badge } from '../components/icon.tsx'
import { Card, MoreLink } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { WhenReady, EmptyState } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { dayName, durationWords, hourWords, shareWords } from '../figure-words.ts'
import { numberWords } from '../numbers.ts'
import { useHomeCharts, useLineCharts, useSite } from '../sources.ts'
import { isoTime, momentWords, shortTime } from '../time-words.ts'
import { grouped } from '../words/common.ts'
import { lineName, isReady, lineState } from '../words/line-states.ts'

const NO_ATTEMPTS = 'No attempts'
const MESSAGES = 'Messages, last 14 days'
const MESSAGES_HEAD = ['Day', 'Sent', 'Received', 'Failed', 'Uncertain'] as const

/** The lengths of the queues, for those who look for the cause of a delay. */
export function QueueCard() {
  return (
    <WhenReady of={useHomeCharts('')} kind="card">
      {(charts) => (
        <Card title="Queue, last 24 hours">
          <Queue samples={charts.queue} />
        </Card>
      )}
    </WhenReady>
  )
}

export function LineCharts({ line }: { readonly line: PhoneLine }) {
  return (
    <WhenReady of={useLineCharts(line.id)} kind="card" count={2}>
      {(charts) => (
        <>
          <Card title="Uptime by hour, last 7 days">
            <Uptime cells={charts.uptime} of={line} />
          </Card>
          <Card title={MESSAGES}>
            <MessageDays days={charts.days} line={line.id} />
            <Latency charts={charts} />
          </Card>
          <Card title="New contacts, last 14 days">
            <ContactDays charts={charts} />
          </Card>
        </>
      )}
    </WhenReady>
  )
}

/** The last 30 days of a line in a list. */
export function LineUptime({ line }: { readonly line: PhoneLine }) {
  const uptime = useHomeCharts().value?.uptime ?? []
  const found = uptime.find(({ phone_line_id }) => phone_line_id === line.id)
  return <Uptime cells={found?.cells ?? []} of={line} />
}

type Cells = HomeChartData['uptime'][number]['cells']

function Uptime({ cells, of: line }: { readonly cells: Cells; readonly of: PhoneLine }) {
  const known = cells.flatMap(({ online_share }) => online_share ?? [])
  const now = useDashboard().clock.now.value
  const first = cells.find(({ online_share }) => online_share !== null)
  const share = known.reduce((sum, each) => sum + each, 0) / known.length
  const points = cells.map(({ from, online_share, reasons }) => {
    const online = online_share === null ? 'No data' : `${shareWords(online_share)} online`
    const why = reasons.map(
      ({ reason, seconds }) => `${reason.replaceAll('_', ' ')} ${durationWords(seconds * 1_000)}`,
    )
    const start = momentWords(from)
    return {
      share: online_share,
      words: `${start}: ${[online, ...why].join(', ')}`,
      row: [start, online, why.join(', ')],
    }
  })
  const gray = known.length < cells.length ? ' (gray: no data)' : ''
  const summary = first
    ? `${shareWords(share)} online since ${shortTime(first.from, now)}${gray}`
    : 'No data yet'
  return (
    <ShareStrip
      label={`Uptime of ${lineName(line)}: ${summary}`}
      summary={summary}
      head={['From', 'Online', 'Reasons']}
      points={points}
    />
  )
}

type Figures = Readonly<Record<'sent' | 'received' | 'failed' | 'uncertain', number>>
type DayFigures = Figures & { readonly day: string }

/** Each day links to its messages; `line` is an id, or null for all lines. */
function MessageDays(props: {
  readonly days: readonly DayFigures[]
  readonly line: string | null
  /** A legend above has the sums, so they aren't repeated below. */
  readonly hasLegend?: true
}) {
  const { days, line, hasLegend = false } = props
  return (
    <DayBars
      label={MESSAGES}
      summary={hasLegend ? '\u00A0' : `${countsOf(sumOf(days))} in 14 days`}
      head={MESSAGES_HEAD}
      points={days.map((day) => ({
        ...dayPoint(day),
        href: href('messages', [], { day: day.day, line }),
        up: day.sent,
        down: day.received,
        failed: day.failed,
        uncertain: day.uncertain,
      }))}
    />
  )
}

function dayPoint(figures: DayFigures) {
  const { sent, received, failed, uncertain } = figures
  const day = dayName(figures.day)
  return {
    words: `${day}: ${countsOf(figures)}`,
    row: [day, ...[sent, received, failed, uncertain].map(grouped)],
  }
}

/** "40 sent, 38 received, 1 failed"; failed and uncertain only if there are any. */
function countsOf(figures: Figures): string {
  return (['sent', 'received', 'failed', 'uncertain'] as const)
    .filter((name) => name === 'sent' || name === 'received' || figures[name] > 0)
    .map((name) => `${grouped(figures[name])} ${name}`)
    .join(', ')
}

function sumOf(days: readonly Figures[]): Figures {
  const sum = (name: keyof Figures) => days.reduce((all, day) => all + day[name], 0)
  return {
    sent: sum('sent'),
    received: sum('received'),
    failed: sum('failed'),
    uncertain: sum('uncertain'),
  }
}

function Queue({ samples }: { readonly samples: HomeChartData['queue'] }) {
  const points = samples.map(({ at, messages, deliveries }) => {
    const figures = [grouped(messages), grouped(deliveries)] as const
    return {
      value: messages + deliveries,
      words: `${hourWords(at)}: ${figures[0]} messages, ${figures[1]} webhook deliveries`,
      row: [momentWords(at), ...figures],
    }
  })
  const most = Math.max(0, ...points.map(({ value }) => value))
  return (
    <AreaChart
      label="Queue, last 24 hours"
      summary={`At most ${grouped(most)} waiting`}
      head={['Time', 'Messages', 'Deliveries']}
      points={points}
    />
  )
}

const HALF_HOUR_MS = 1_800_000

type AttemptsProps = Pick<HomeChartData, 'webhooks'> & { readonly label?: string | undefined }

/** The sum of these webhooks' attempts. */
export function Attempts({ webhooks, label = 'Webhook attempts, last 24 hours' }: AttemptsProps) {
  const first = webhooks[0]
  if (first === undefined) return <p class="small quiet">{NO_ATTEMPTS}</p>
  const cells = first.cells.map((_, place) => {
    const sum = (name: 'ok' | 'failed') =>
      webhooks.reduce((all, { cells: own }) => all + (own[place]?.[name] ?? 0), 0)
    return { ok: sum('ok'), failed: sum('failed') }
  })
  const points = cells.map(({ ok, failed }, place) => {
    const from = momentWords(isoTime(Date.parse(first.from) + place * HALF_HOUR_MS))
    const counts = [grouped(ok), grouped(failed)] as const
    const words = ok + failed === 0 ? NO_ATTEMPTS : `${counts[0]} delivered, ${counts[1]} failed`
    const share = ok + failed === 0 ? null : ok / (ok + failed)
    return { share, words: `${from}: ${words}`, row: [from, ...counts] }
  })
  const ok = cells.reduce((sum, cell) => sum + cell.ok, 0)
  const all = cells.reduce((sum, cell) => sum + cell.ok + cell.failed, 0)
  const summary = all === 0 ? NO_ATTEMPTS : `${shareWords(ok / all)} of attempts delivered`
  return (
    <ShareStrip
      label={label}
      summary={summary}
      head={['From', 'Delivered', 'Failed']}
      points={points}
    />
  )
}

type LineProps = { readonly charts: LineChartData }

function ContactDays({ charts: { days, daily_contact_limit } }: LineProps) {
  const limit = grouped(daily_contact_limit)
  const most = Math.max(0, ...days.map(({ new_contacts }) => new_contacts))
  const points = days.map(({ day, new_contacts }) => ({
    up: new_contacts,
    down: 0,
    failed: 0,
    uncertain: 0,
    words: `${dayName(day)}: ${grouped(new_contacts)} of ${limit} new contacts`,
    row: [dayName(day), grouped(new_contacts)],
  }))
  return (
    <DayBars
      size="small"
      label="New contacts, last 14 days"
      summary={`At most ${grouped(most)} of ${limit} on one day`}
      head={['Day', 'New contacts']}
      points={points}
      limit={daily_contact_limit}
    />
  )
}

function Latency({ charts: { days, send_p50_ms, send_p95_ms } }: LineProps) {
  if (days.every(({ sent }) => sent === 0)) return null
  // Unicode isolates keep Arabic digits and units from reordering the sentence.
  const within = (ms: number | null) =>
    ms === null ? 'more than 5 min' : `\u2068${durationWords(ms)}\u2069`
  return (
    <p class="small quiet">{`Half were sent within ${within(send_p50_ms)}, 95% within ${within(send_p95_ms)}.`}</p>
  )
}

export function HomeFigures({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const site = useSite()
  const { value: charts } = useHomeCharts(site)
  const days = charts?.days ?? []
  const sum = sumOf(days)
  return (
    <div class="home-figures">
      <Card
        title={MESSAGES}
        actions={<MoreLink href={href('messages', [], { site })}>View all messages</MoreLink>}
      >
        <ul class="legend small" aria-hidden="true">
          <Key of="down" count={sum.received}>
            Received
          </Key>
          <Key of="up" count={sum.sent}>
            Sent
          </Key>
          {sum.failed > 0 && (
            <Key of="bad" count={sum.failed}>
              Failed
            </Key>
          )}
          {sum.uncertain > 0 && (
            <Key of="unsure" count={sum.uncertain}>
              Uncertain
            </Key>
          )}
        </ul>
        {charts === null ? (
          <span class="skeleton skeleton-chart" />
        ) : (
          <MessageDays days={days} line={null} hasLegend />
        )}
      </Card>
      <Card
        kind="list"
        title="Lines"
        actions={
          <MoreLink href={href('lines', [], { site })}>
            {lines.length === 0 ? "See what's missing" : 'View all lines'}
          </MoreLink>
        }
      >
        {lines.length === 0 && (
          <EmptyState icon="lines" title="No phone line yet">
            A line is a Mac or an iPhone that sends and receives for the relay.
          </EmptyState>
        )}
        <ul class="home-lines">
          {lines.map((line) => {
            const found = charts?.uptime.find(({ phone_line_id }) => phone_line_id === line.id)
            return <LineFigures key={line.id} line={line} cells={found?.cells ?? []} />
          })}
        </ul>
      </Card>
    </div>
  )
}

function Key(props: {
  readonly of: 'up' | 'down' | 'bad' | 'unsure'
  readonly count: number
  readonly children: string
}) {
  return (
    <li>
      <span class={`legend-mark legend-${props.of}`} />
      {props.children} <strong class="figures">{grouped(props.count)}</strong>
    </li>
  )
}

function LineFigures({ line, cells }: { readonly line: PhoneLine; readonly cells: Cells }) {
  const { new_contacts_today: today, daily_contact_limit: limit, label, status_hint: hint } = line
  return (
    <li class="home-line">
      <div class="home-line-words">
        <a class="home-line-name" href={href('lines', [line.id])}>
          <PersonText>{lineName(line)}</PersonText>
        </a>
        {isReady(line) ? (
          <span class="small quiet figures">
            {label !== null && numberWords(line.phone_number)}
          </span>
        ) : (
          <Badge of={lineState(line)} />
        )}
      </div>
      {!isReady(line) && hint !== null && <p class="small quiet">{hint}</p>}
      <Uptime cells={cells} of={line} />
      <p class={`small figures home-line-contacts tone-${contactsTone(line)}`}>
        {`${grouped(today)} of ${grouped(limit)} new contacts today`}
      </p>
    </li>
  )
}

const NEAR_LIMIT = 0.8

function contactsTone({ new_contacts_today: today, daily_contact_limit: limit }: PhoneLine) {
  if (today >= limit) return 'bad'
  return today >= limit * NEAR_LIMIT ? 'warn' : 'plain'
}
