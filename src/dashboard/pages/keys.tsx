// API keys: who may use the relay.

import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'
import { Ago } from '../components/ago.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'
import { PersonText } from '../components/person-text.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import type { Key } from '../resources.ts'
import { useKeys } from '../sources.ts'
import { CreateKey } from './keys-create.tsx'
import { RevokeKey } from './keys-revoke.tsx'
import { keyName, makerWords } from './keys-words.ts'

export function KeysPage() {
  const keys = useKeys()
  /** The key that is to be revoked, or whether a new one is to be made. */
  const asked = useSignal<Key | 'new' | null>(null)
  const all = keys.value?.data ?? []
  const isEmpty = keys.value !== null && all.every(isRevoked)
  const close = () => (asked.value = null)
  const create = (
    <Button look="main" icon="plus" onClick={() => (asked.value = 'new')}>
      New key
    </Button>
  )
  return (
    <>
      <PageHead title="Keys" actions={!isEmpty && create}>
        Each program gets a key of its own, so that one can be revoked alone.
      </PageHead>
      <WhenReady of={keys} kind="list" count={3}>
        {() => (
          <KeyLists keys={all} onRevoke={(key) => (asked.value = key)}>
            {create}
          </KeyLists>
        )}
      </WhenReady>
      {asked.value === 'new' && <CreateKey onClose={close} />}
      {asked.value !== null && asked.value !== 'new' && (
        <RevokeKey revoked={asked.value} keys={all} onClose={close} />
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
  const revoked = keys.filter(isRevoked)
  const table = (caption: string, rows: readonly Key[], last: Column<Key>) => (
    <Card kind="list">
      <DataTable caption={caption} rows={rows} columns={[...columnsFor(keys), last]} />
    </Card>
  )
  return (
    <>
      {revoked.length === keys.length ? (
        <Card kind="list">
          <EmptyState icon="keys" title="No key yet" action={children}>
            A program needs a key to send and receive. Make one, and paste the command that comes
            with it.
          </EmptyState>
        </Card>
      ) : (
        table(
          'API keys',
          keys.filter((key) => !isRevoked(key)),
          revokeColumn(onRevoke),
        )
      )}
      {revoked.length > 0 && (
        <details class="revoked-keys">
          <summary>Revoked keys ({grouped(revoked.length)})</summary>
          {table('Revoked keys', revoked, REVOKED)}
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
