// All lines, each with its state and the reason for it.

import { href } from '../address.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Badge } from '../components/icon.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { trialCommand } from '../line-kinds.ts'
import { lineName, lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useAbout, useKinds, useLineChecks, useLines } from '../sources.ts'
import { combine } from '../store.ts'
import { LineSubtitle, LineTraffic, NewContacts } from './line-figures.tsx'
import { LineView } from './line.tsx'

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
  const all = combine({ lines: useLines(), about: useAbout() })
  return (
    <>
      <PageHead title="Lines">The Macs and iPhones that send and receive for the relay.</PageHead>
      <WhenReady of={all} skeleton={skeleton}>
        {({ lines: { data } }) =>
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
  const since = useLineChecks(line)?.offline_since ?? null
  return (
    <Card
      title={
        <a class="line-name" href={href('lines', [line.id])}>
          <PersonText>{lineName(line)}</PersonText>
        </a>
      }
      actions={<Badge of={lineState(line)} />}
    >
      <div class="line-about">
        <p class="small quiet">
          <LineSubtitle line={line} />
        </p>
        {line.status_hint !== null && <p class="small">{line.status_hint}</p>}
        {line.status === 'offline' && (
          <p class="small quiet">Offline since: {since === null ? '…' : <Ago time={since} />}</p>
        )}
      </div>
      <NewContacts line={line} />
      <LineTraffic line={line} />
    </Card>
  )
}

function NoLines() {
  return (
    <Card>
      <EmptyState
        icon="lines"
        title="No phone line yet"
        action={<CodeBlock what="Command" text={trialCommand(useKinds())} />}
      >
        On a Mac that is signed in to Messages, the line appears automatically. If it doesn't, Home
        shows what's missing. To try Hookline without one, start the relay with:
      </EmptyState>
    </Card>
  )
}
