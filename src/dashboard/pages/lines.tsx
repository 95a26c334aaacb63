// The lines: which phone, and why is it red.

import { href } from '../address.ts'
import { Ago } from '../components/ago.tsx'
import { Badge } from '../components/badge.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { useNewView } from '../components/use-new-view.ts'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { lineName, lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useLines } from '../sources.ts'
import { useLineChecks } from './lines-checks.tsx'
import { LineContacts } from './lines-contacts.tsx'
import { LineView } from './lines-detail.tsx'
import { LineKind } from './lines-kind.tsx'
import { LineTraffic } from './lines-traffic.tsx'

export function LinesPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  return id === '' ? <LineList /> : <LineView key={id} id={id} />
}

function LineList() {
  const skeleton = (
    <div class="cards">
      <Skeleton kind="card" count={2} />
    </div>
  )
  return (
    <>
      <PageHead title="Lines">The phones and Macs that send and receive for the relay.</PageHead>
      <WhenReady of={useLines()} skeleton={skeleton}>
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
      actions={<Badge of={lineState(line)} />}
    >
      <LineAbout line={line} />
      <LineContacts line={line} />
      <LineTraffic line={line} />
    </Card>
  )
}

/** The number and the kind of device; of a line that is down, since when, and what is to be done. */
function LineAbout({ line }: { readonly line: PhoneLine }) {
  const since = useLineChecks(line)?.offline_since ?? null
  return (
    <div class="line-about">
      <p class="small quiet">
        <LineKind line={line} />
      </p>
      {line.status_hint !== null && <p class="small">{line.status_hint}</p>}
      {line.status === 'offline' && (
        <p class="small quiet">Offline since: {since === null ? '…' : <Ago time={since} />}</p>
      )}
    </div>
  )
}

function NoLines() {
  return (
    <Card>
      <EmptyState
        icon="lines"
        title="No phone line yet"
        action={<CodeBlock what="Command" text="hookline serve --simulated-lines 2" />}
      >
        On a Mac that is signed in to Messages the line comes by itself; Home says what is missing.
        To try everything without one, start the relay with
      </EmptyState>
    </Card>
  )
}
