// The charts of Home and of a line, from the figures of the relay.

import type { PhoneLine } from '../../api/phone-lines.ts'
import type { HomePictures, LinePictures } from '../../api/stats.ts'
import { href } from '../address.ts'
import { AreaChart, DayBars, ShareStrip } from '../components/charts.tsx'
import { Card } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { dayName, durationWords, hourWords, shareWords } from '../figure-words.ts'
import { useHomePictures, useLinePictures, useLines } from '../sources.ts'
import { momentWords } from '../time-words.ts'
import { CHARTS as WORDS } from '../words/charts.ts'
import { grouped } from '../words/common.ts'
import { lineName } from '../words/line-states.ts'

export function HomeCharts() {
  const lines = useLines().value?.data ?? []
  return (
    <WhenReady of={useHomePictures()} kind="card" count={2}>
      {(pictures) => (
        <div class="cards charts">
          <Card title={WORDS.messages}>
            <MessageDays days={pictures.days} line={null} />
          </Card>
          <Card title={WORDS.uptime}>
            {lines.map((line) => {
              const found = pictures.uptime.find(({ phone_line_id }) => phone_line_id === line.id)
              return (
                <div key={line.id}>
                  <p class="small">
                    <PersonText>{lineName(line)}</PersonText>
                  </p>
                  <Uptime cells={found?.cells ?? []} label={WORDS.uptimeOf(lineName(line))} />
                </div>
              )
            })}
          </Card>
          <Card title={WORDS.queue}>
            <Queue samples={pictures.queue} />
          </Card>
          <Card title={WORDS.webhooks}>
            <Attempts webhooks={pictures.webhooks} />
          </Card>
        </div>
      )}
    </WhenReady>
  )
}

export function LineCharts({ line }: { readonly line: PhoneLine }) {
  return (
    <WhenReady of={useLinePictures(line.id)} kind="card" count={2}>
      {(pictures) => (
        <>
          <Card title={WORDS.uptimeHours}>
            <Uptime cells={pictures.uptime} label={WORDS.uptimeOf(lineName(line))} />
          </Card>
          <Card title={WORDS.messages}>
            <MessageDays days={pictures.days} line={line.id} />
            <Latency pictures={pictures} />
          </Card>
          <Card title={WORDS.contacts}>
            <ContactDays pictures={pictures} />
          </Card>
        </>
      )}
    </WhenReady>
  )
}

/** Messages of a line on each of 14 days, for its card. */
export function LineSparkline({ line }: { readonly line: PhoneLine }) {
  const days = useHomePictures().value?.days ?? []
  const points = days.map(({ day, lines }) => {
    const found = lines.find(({ phone_line_id }) => phone_line_id === line.id)
    const { sent = 0, received = 0, failed = 0, uncertain = 0 } = found ?? {}
    return { day, sent, received, failed, uncertain }
  })
  return (
    <AreaChart
      label={WORDS.traffic(lineName(line))}
      summary={points.length === 0 ? '' : WORDS.total(countsOf(sumOf(points)))}
      head={WORDS.messagesHead}
      points={points.map((day) => ({ ...dayPoint(day), value: day.sent + day.received }))}
    />
  )
}

type Cells = HomePictures['uptime'][number]['cells']

function Uptime({ cells, label }: { readonly cells: Cells; readonly label: string }) {
  const known = cells.flatMap(({ online_share }) => online_share ?? [])
  const share = known.reduce((sum, each) => sum + each, 0) / known.length
  const points = cells.map(({ from, online_share, reasons }) => {
    const online = online_share === null ? WORDS.noData : WORDS.online(shareWords(online_share))
    const why = reasons.map(({ reason, seconds }) =>
      WORDS.offlineFor(reason.replaceAll('_', ' '), durationWords(seconds * 1_000)),
    )
    const start = momentWords(from)
    return {
      share: online_share,
      words: WORDS.cell(start, [online, ...why].join(', ')),
      row: [start, online, why.join(', ')],
    }
  })
  const summary = known.length === 0 ? WORDS.noDataYet : WORDS.online(shareWords(share))
  return <ShareStrip label={label} summary={summary} head={WORDS.uptimeHead} points={points} />
}

type Figures = Readonly<Record<'sent' | 'received' | 'failed' | 'uncertain', number>>
type DayFigures = Figures & { readonly day: string }

/** A day leads to its messages; `line` limits them to one line. */
function MessageDays(props: {
  readonly days: readonly DayFigures[]
  readonly line: string | null
}) {
  const { days, line } = props
  return (
    <DayBars
      label={WORDS.messages}
      summary={WORDS.total(countsOf(sumOf(days)))}
      head={WORDS.messagesHead}
      points={days.map((day) => ({
        ...dayPoint(day),
        href: href('messages', [], { day: day.day, line }),
        up: day.sent + day.uncertain,
        down: day.received,
        failed: day.failed,
      }))}
    />
  )
}

function dayPoint(figures: DayFigures) {
  const { sent, received, failed, uncertain } = figures
  const day = dayName(figures.day)
  return {
    words: WORDS.perDay(day, countsOf(figures)),
    row: [day, ...[sent, received, failed, uncertain].map(grouped)],
  }
}

/** "40 sent, 38 received, 1 failed"; of the last two only what there is. */
function countsOf(figures: Figures): string {
  return (['sent', 'received', 'failed', 'uncertain'] as const)
    .filter((name) => name === 'sent' || name === 'received' || figures[name] > 0)
    .map((name) => `${grouped(figures[name])} ${WORDS[name]}`)
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

function Queue({ samples }: { readonly samples: HomePictures['queue'] }) {
  const points = samples.map(({ at, messages, deliveries }) => {
    const figures = [grouped(messages), grouped(deliveries)] as const
    return {
      value: messages + deliveries,
      words: WORDS.cell(hourWords(at), WORDS.waiting(...figures)),
      row: [momentWords(at), ...figures],
    }
  })
  const most = Math.max(0, ...points.map(({ value }) => value))
  return (
    <AreaChart
      label={WORDS.queue}
      summary={WORDS.mostWaiting(grouped(most))}
      head={WORDS.queueHead}
      points={points}
    />
  )
}

const HALF_HOUR_MS = 1_800_000

type AttemptsProps = Pick<HomePictures, 'webhooks'> & { readonly label?: string | undefined }

/** The attempts of these webhooks together. */
export function Attempts({ webhooks, label = WORDS.webhooks }: AttemptsProps) {
  const first = webhooks[0]
  if (first === undefined) return <p class="small quiet">{WORDS.noAttempts}</p>
  const cells = first.cells.map((_, place) => {
    const sum = (name: 'ok' | 'failed') =>
      webhooks.reduce((all, { cells: own }) => all + (own[place]?.[name] ?? 0), 0)
    return { ok: sum('ok'), failed: sum('failed') }
  })
  const points = cells.map(({ ok, failed }, place) => {
    const from = momentWords(new Date(Date.parse(first.from) + place * HALF_HOUR_MS).toISOString())
    const counts = [grouped(ok), grouped(failed)] as const
    const words = ok + failed === 0 ? WORDS.noAttempts : WORDS.attempts(...counts)
    const share = ok + failed === 0 ? null : ok / (ok + failed)
    return { share, words: WORDS.cell(from, words), row: [from, ...counts] }
  })
  const ok = cells.reduce((sum, cell) => sum + cell.ok, 0)
  const all = cells.reduce((sum, cell) => sum + cell.ok + cell.failed, 0)
  const summary = all === 0 ? WORDS.noAttempts : WORDS.delivered(shareWords(ok / all))
  return <ShareStrip label={label} summary={summary} head={WORDS.webhooksHead} points={points} />
}

type LineProps = { readonly pictures: LinePictures }

function ContactDays({ pictures: { days, daily_contact_limit } }: LineProps) {
  const limit = grouped(daily_contact_limit)
  const most = Math.max(0, ...days.map(({ new_contacts }) => new_contacts))
  const points = days.map(({ day, new_contacts }) => ({
    up: new_contacts,
    down: 0,
    failed: 0,
    words: WORDS.perDay(dayName(day), WORDS.contactsOf(grouped(new_contacts), limit)),
    row: [dayName(day), grouped(new_contacts)],
  }))
  return (
    <DayBars
      size="small"
      label={WORDS.contacts}
      summary={WORDS.contactsMost(grouped(most), limit)}
      head={WORDS.contactsHead}
      points={points}
      limit={daily_contact_limit}
    />
  )
}

/** Time until messages were sent; nothing where none was. */
function Latency({ pictures: { days, send_p50_ms, send_p95_ms } }: LineProps) {
  if (days.every(({ sent }) => sent === 0)) return null
  // Isolated: Arabic words would turn what stands between two of them.
  const within = (ms: number | null) =>
    ms === null ? WORDS.over : `\u2068${durationWords(ms)}\u2069`
  return <p class="small quiet">{WORDS.latency(within(send_p50_ms), within(send_p95_ms))}</p>
}
