// One line: what keeps it from working, whether it really does, and what the owner decides about it.

import { href } from '../address.ts'
import { BackLink } from '../components/back-link.tsx'
import { Badge } from '../components/badge.tsx'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { lineName, lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useLines } from '../sources.ts'
import { AdoptLine } from './lines-adopt.tsx'
import { LineCapabilities } from './lines-capabilities.tsx'
import { CheckCard, useChecks } from './lines-checks.tsx'
import { LineContacts } from './lines-contacts.tsx'
import { DeleteLine } from './lines-delete.tsx'
import { LineKind } from './lines-kind.tsx'
import { LineSettings } from './lines-settings.tsx'
import { LineTest } from './lines-test.tsx'
import { LineTraffic } from './lines-traffic.tsx'

export function LineView({ id }: { readonly id: string }) {
  const lines = useLines()
  // What the checks say decides how long they are: nothing is drawn that would be pushed down by them.
  const isChecking = useChecks().now.state === 'loading'
  const all = lines.value?.data ?? []
  const line = all.find((one) => one.id === id)
  return (
    <>
      <div>
        <BackLink href={href('lines')}>Lines</BackLink>
        <LineHead line={line} />
      </div>
      <WhenReady of={isChecking ? { ...lines, now: { state: 'loading' } } : lines} count={2}>
        {() => (line === undefined ? <NoLine /> : <LineParts line={line} lines={all} />)}
      </WhenReady>
    </>
  )
}

function LineHead({ line }: { readonly line: PhoneLine | undefined }) {
  if (line === undefined) return <PageHead title="Line">{'\u00A0'}</PageHead>
  return (
    <PageHead
      title={<PersonText>{lineName(line)}</PersonText>}
      actions={<Badge of={lineState(line)} />}
    >
      <LineKind line={line} />
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
          <CheckCard title="Checks" lineId={line.id} />
          <LineTest line={line} />
        </div>
        <div class="stack">
          <Card title="Today">
            <LineContacts line={line} />
            <LineTraffic line={line} />
          </Card>
          <LineSettings line={line} />
          <LineCapabilities line={line} />
          <DeleteLine line={line} />
        </div>
      </div>
    </>
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
        It was deleted, or another line took it over.
      </EmptyState>
    </Card>
  )
}
