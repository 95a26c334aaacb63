// The lines: which phone, and why is it red.

import { href } from '../address.ts'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/copy-button.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { Ago } from '../components/time.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { lineName } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { healthSource, linesSource } from '../sources.ts'
import { LineBadge } from './lines-badge.tsx'
import { LineContacts } from './lines-contacts.tsx'
import { LineView } from './lines-detail.tsx'
import { LineTraffic } from './lines-traffic.tsx'
import { driverWords } from './lines-words.ts'
import { useNewView } from './new-view.ts'

export function LinesPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  return id === '' ? <LineList /> : <LineView key={id} id={id} />
}

function LineList() {
  const { api } = useDashboard()
  const lines = useLive(linesSource(api))
  const skeleton = (
    <div class="cards">
      <Skeleton kind="card" count={2} />
    </div>
  )
  return (
    <>
      <PageHead title="Lines">The phones and Macs that send and receive for the relay.</PageHead>
      <WhenReady loaded={lines.now} skeleton={skeleton} onRetry={lines.refresh}>
        {({ data }) =>
          data.length === 0 ? (
            <NoLines />
          ) : (
            <div class="cards">
              {data.map((line) => (
                <LineCard key={line.id} line={line} />
              ))}
            </div>
          )
        }
      </WhenReady>
    </>
  )
}

function LineCard({ line }: { readonly line: PhoneLine }) {
  return (
    <Card
      title={
        <a class="line-name" href={href('lines', [line.id])}>
          <PersonText>{lineName(line)}</PersonText>
        </a>
      }
      actions={<LineBadge line={line} />}
    >
      <LineAbout line={line} />
      <LineContacts line={line} />
      <LineTraffic line={line} />
    </Card>
  )
}

/** The number and the kind of device; of a line that is down, since when, and what is to be done. */
function LineAbout({ line }: { readonly line: PhoneLine }) {
  const { api } = useDashboard()
  const health = useLive(healthSource(api)).now
  const findings = health.state === 'ready' ? health.value.data : []
  const offline = findings.find(
    ({ code, line_id }) => code === 'line_offline' && line_id === line.id,
  )
  return (
    <div class="line-about">
      <p class="small quiet">
        {line.label !== null && <span class="figures">{line.phone_number} · </span>}
        {driverWords(line)}
      </p>
      {line.status_hint !== null && <p class="small">{line.status_hint}</p>}
      {line.status === 'offline' && (
        <p class="small quiet">
          Offline since: {offline === undefined ? '…' : <Ago time={offline.since} />}
        </p>
      )}
    </div>
  )
}

function NoLines() {
  return (
    <Card>
      <EmptyState icon="lines" title="No phone line yet">
        <p>
          On a Mac that is signed in to Messages the line comes by itself; Home says what is
          missing. To try everything without one, start the relay with simulated lines:
        </p>
        <CodeBlock what="Command" text="hookline serve --simulated-lines 2" />
      </EmptyState>
    </Card>
  )
}
