// The figures of Home.

import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Badge } from '../components/icon.tsx'
import { Card, MoreLink } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState } from '../components/when-ready.tsx'
import { numberWords } from '../numbers.ts'
import { useHomeCharts, useSite } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { isReady, lineName, lineState } from '../words/line-states.ts'
import { type Cells, MessageDays, MESSAGES, sumOf, Uptime } from './charts.tsx'

/** The messages of all lines by day, and the uptime of each line. */
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
