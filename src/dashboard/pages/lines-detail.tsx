// One line: what keeps it from working, whether it really does, and what the owner decides about it.

import { href } from '../address.ts'
import { BackLink } from '../components/back-link.tsx'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Icon } from '../components/icon.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { lineName } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { healthSource, linesSource } from '../sources.ts'
import { AdoptLine } from './lines-adopt.tsx'
import { LineBadge } from './lines-badge.tsx'
import { LineChecks } from './lines-checks.tsx'
import { LineContacts } from './lines-contacts.tsx'
import { DeleteLine } from './lines-delete.tsx'
import { LineSettings } from './lines-settings.tsx'
import { LineTest } from './lines-test.tsx'
import { LineTraffic } from './lines-traffic.tsx'
import { CAPABILITIES, driverWords } from './lines-words.ts'

export function LineView({ id }: { readonly id: string }) {
  const { api } = useDashboard()
  const lines = useLive(linesSource(api))
  // What the checks say decides how long they are: nothing is drawn that would be pushed down by them.
  const isChecking = useLive(healthSource(api)).now.state === 'loading'
  const all = lines.now.state === 'ready' ? lines.now.value.data : []
  const line = all.find((one) => one.id === id)
  return (
    <>
      <div>
        <BackLink href={href('lines')}>Lines</BackLink>
        <LineHead line={line} />
      </div>
      <WhenReady
        loaded={isChecking ? { state: 'loading' } : lines.now}
        skeleton={<Skeleton kind="card" count={2} />}
        onRetry={lines.refresh}
      >
        {() => (line === undefined ? <NoLine /> : <LineParts line={line} lines={all} />)}
      </WhenReady>
    </>
  )
}

function LineHead({ line }: { readonly line: PhoneLine | undefined }) {
  if (line === undefined) return <PageHead title="Line">{'\u00A0'}</PageHead>
  return (
    <PageHead title={<PersonText>{lineName(line)}</PersonText>} actions={<LineBadge line={line} />}>
      {line.label !== null && <span class="figures">{line.phone_number} · </span>}
      {driverWords(line)}
    </PageHead>
  )
}

type PartsProps = { readonly line: PhoneLine; readonly lines: readonly PhoneLine[] }

function LineParts({ line, lines }: PartsProps) {
  return (
    <>
      <AdoptLine line={line} lines={lines} />
      <div class="columns">
        <div class="stack">
          <LineChecks line={line} />
          <LineTest line={line} />
        </div>
        <div class="stack">
          <Card title="Today">
            <LineContacts line={line} />
            <LineTraffic line={line} />
          </Card>
          <LineSettings line={line} />
          <Capabilities line={line} />
          <DeleteLine line={line} />
        </div>
      </div>
    </>
  )
}

function Capabilities({ line }: { readonly line: PhoneLine }) {
  return (
    <Card title="What it can do">
      {line.status === 'offline' ? (
        <p class="quiet">Known when the line is online.</p>
      ) : (
        <dl class="facts">
          {CAPABILITIES.map(([name, words]) => (
            <div key={name}>
              <dt>{words}</dt>
              <dd class="yes-no">
                <Icon name={line.capabilities[name] ? 'check' : 'cross'} />
                {line.capabilities[name] ? 'Yes' : 'No'}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}

function NoLine() {
  return (
    <Card>
      <EmptyState
        icon="lines"
        title="There is no such line"
        action={<LinkButton href={href('lines')}>All lines</LinkButton>}
      >
        <p>It was deleted, or another line took it over.</p>
      </EmptyState>
    </Card>
  )
}
