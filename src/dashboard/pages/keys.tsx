// API keys: who may use the relay.

import { useSignal } from '@preact/signals'

import type { List } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { Ago } from '../components/time.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { CreateKey } from './keys-create.tsx'
import type { Key } from './keys-resources.ts'
import { RevokeKey } from './keys-revoke.tsx'
import { keyName, makerWords } from './keys-words.ts'

type Ask = { readonly ask: 'create' } | { readonly ask: 'revoke'; readonly key: Key } | null

export function KeysPage() {
  const { api } = useDashboard()
  const keys = useLive({
    key: 'keys',
    load: (signal) => api.get<List<Key>>('keys?limit=200', signal),
    on: ['key'],
  })
  const ask = useSignal<Ask>(null)
  const create = (
    <Button look="main" icon="plus" onClick={() => (ask.value = { ask: 'create' })}>
      New key
    </Button>
  )
  const all = keys.now.state === 'ready' ? keys.now.value.data : []
  const isEmpty = keys.now.state === 'ready' && all.every(isRevoked)
  const close = () => (ask.value = null)
  return (
    <>
      <PageHead title="Keys" actions={!isEmpty && create}>
        Each program gets a key of its own, so that one can be revoked alone.
      </PageHead>
      <WhenReady
        loaded={keys.now}
        skeleton={
          <Card kind="list">
            <Skeleton kind="row" count={3} />
          </Card>
        }
        onRetry={keys.refresh}
      >
        {({ data }) => (
          <KeyLists keys={data} onRevoke={(key) => (ask.value = { ask: 'revoke', key })}>
            {create}
          </KeyLists>
        )}
      </WhenReady>
      {ask.value?.ask === 'create' && <CreateKey onClose={close} />}
      {ask.value?.ask === 'revoke' && (
        <RevokeKey revoked={ask.value.key} keys={all} onClose={close} />
      )}
    </>
  )
}

type ListsProps = {
  readonly keys: readonly Key[]
  readonly onRevoke: (key: Key) => void
  /** The button that makes one. */
  readonly children: preact.VNode
}

function KeyLists({ keys, onRevoke, children }: ListsProps) {
  const good = keys.filter((key) => !isRevoked(key))
  const revoked = keys.filter(isRevoked)
  return (
    <>
      <Card kind="list">
        {good.length === 0 ? (
          <EmptyState icon="keys" title="No key yet" action={children}>
            <p>
              A program needs a key to send and receive. Make one, and paste the line that comes
              with it.
            </p>
          </EmptyState>
        ) : (
          <DataTable
            caption="API keys"
            rows={good}
            keyOf={({ id }) => id}
            columns={[...columnsFor(keys), revokeColumn(onRevoke)]}
          />
        )}
      </Card>
      {revoked.length > 0 && (
        <details class="revoked-keys">
          <summary>Revoked keys ({revoked.length})</summary>
          <Card kind="list">
            <DataTable
              caption="Revoked keys"
              rows={revoked}
              keyOf={({ id }) => id}
              columns={[...columnsFor(keys), REVOKED]}
            />
          </Card>
        </details>
      )}
    </>
  )
}

function isRevoked({ revoked_at }: Key): boolean {
  return revoked_at !== null
}

function columnsFor(keys: readonly Key[]): readonly Column<Key>[] {
  return [
    { title: 'Name', cell: (key) => <PersonText>{keyName(key)}</PersonText> },
    { title: 'Key', cell: (key) => <span class="mono key-hint">{key.key_hint}…</span> },
    { title: 'Last used', cell: ({ last_used_at }) => <AgoOrNever time={last_used_at} /> },
    {
      title: 'Made',
      cell: (key) => (
        <span class="small">
          <Ago time={key.created_at} />
          <span class="quiet">
            {' by '}
            <PersonText>{makerWords(key, keys)}</PersonText>
          </span>
        </span>
      ),
    },
  ]
}

const REVOKED: Column<Key> = {
  title: 'Revoked',
  cell: ({ revoked_at }) => <AgoOrNever time={revoked_at} />,
}

function revokeColumn(onRevoke: (key: Key) => void): Column<Key> {
  return {
    title: 'Revoke',
    isTitleHidden: true,
    isFigure: true,
    cell: (key) => (
      <Button onClick={() => onRevoke(key)}>
        Revoke<span class="visually-hidden"> {keyName(key)}</span>
      </Button>
    ),
  }
}

function AgoOrNever({ time }: { readonly time: string | null }) {
  return time === null ? <span class="small quiet">never</span> : <Ago time={time} />
}
