import { href } from '../address.ts'
import { Badge } from '../components/badge.tsx'
import { LinkButton } from '../components/button.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Meter } from '../components/meter.tsx'
import { PersonText } from '../components/person-text.tsx'
import { driverWords, lineName, lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'

/** Each line with its state and how many new contacts it may still write to today. */
export function HomeLines({ lines }: { readonly lines: readonly PhoneLine[] }) {
  if (lines.length === 0) return <NoLines />
  return (
    <ul class="home-lines">
      {lines.map((line) => (
        <li key={line.id} class="home-line">
          <HomeLine line={line} />
        </li>
      ))}
    </ul>
  )
}

function HomeLine({ line }: { readonly line: PhoneLine }) {
  return (
    <>
      <div class="home-line-words">
        <a class="home-line-name" href={href('lines', [line.id])}>
          <PersonText>{lineName(line)}</PersonText>
        </a>
        <Badge of={lineState(line)} />
      </div>
      <p class="small quiet home-line-about">
        {line.label !== null && <span class="figures">{line.phone_number} · </span>}
        {line.status_hint ?? driverWords(line)}
      </p>
      <Meter
        label="New contacts today"
        value={line.new_contacts_today}
        max={line.daily_contact_limit}
      />
    </>
  )
}

function NoLines() {
  return (
    <EmptyState
      icon="lines"
      title="No phone line yet"
      action={<LinkButton href={href('lines')}>See what is missing</LinkButton>}
    >
      A line is a Mac or an iPhone that sends and receives for the relay.
    </EmptyState>
  )
}
