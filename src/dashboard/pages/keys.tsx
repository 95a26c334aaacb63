// API keys: list, create and revoke.

import { useSignal } from '@preact/signals'

import type { Key, RevokedKey } from '../../api/keys.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { ActionDialog, Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/form.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useKeys, useLines, useWebhooks } from '../sources.ts'
import { COMMON, grouped } from '../words/common.ts'
import { KEYS as WORDS, creatorWords, keyName, keySentence } from '../words/keys.ts'
import { CreateKey } from './key-form.tsx'

export function KeysPage() {
  const keys = useKeys()
  /** The key to revoke, or `new` while the form for a new key is open. */
  const asked = useSignal<Key | 'new' | null>(null)
  const all = keys.value?.data ?? []
  const isEmpty = keys.value !== null && all.every(isRevoked)
  const close = () => (asked.value = null)
  const create = (
    <Button variant="main" icon="plus" onClick={() => (asked.value = 'new')}>
      {WORDS.newKey}
    </Button>
  )
  return (
    <>
      <PageHead title="Keys" actions={!isEmpty && create}>
        Use a separate key for each app so you can revoke them individually.{' '}
        <a href={href('connect')}>Connect</a> makes the keys of known programs.
      </PageHead>
      <WhenReady of={keys} kind="list" count={3}>
        {() => <KeyLists keys={all} create={create} onRevoke={(key) => (asked.value = key)} />}
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
  readonly create: preact.VNode
  readonly onRevoke: (key: Key) => void
}

function KeyLists({ keys, create, onRevoke }: ListsProps) {
  const lines = useLines().value?.data ?? []
  const { clock } = useDashboard()
  const now = clock.now.value
  const revoked = keys.filter(isRevoked)
  const active = keys.filter((key) => !isRevoked(key))
  const table = (caption: string, rows: readonly Key[], last: Column<Key>) => (
    <Card kind="list">
      <DataTable caption={caption} rows={rows} columns={[...columnsFor(keys, lines, now), last]} />
    </Card>
  )
  return (
    <>
      {active.length > 0 ? (
        table('API keys', active, revokeColumn(onRevoke))
      ) : (
        <Card kind="list">
          <EmptyState icon="keys" title="No keys yet" action={create}>
            Apps need a key to send and receive. Create one, and run the command that comes with it.
          </EmptyState>
        </Card>
      )}
      {revoked.length > 0 && (
        <details class="revoked-keys">
          <summary>{`Revoked keys (${grouped(revoked.length)})`}</summary>
          {table('Revoked keys', revoked, REVOKED)}
        </details>
      )}
    </>
  )
}

function isRevoked({ revoked_at }: Key): boolean {
  return revoked_at !== null
}

function columnsFor(
  keys: readonly Key[],
  lines: readonly PhoneLine[],
  now: number,
): readonly Column<Key>[] {
  return [
    {
      title: WORDS.name,
      cell: (key) => (
        <span class="key-name">
          <PersonText>{keyName(key)}</PersonText>
        </span>
      ),
    },
    { title: WORDS.key, cell: (key) => <span class="mono key-hint">{key.key_hint}…</span> },
    {
      title: WORDS.permissions,
      cell: (key) => (
        <span class="small key-permissions">
          {isExpired(key, now) && <strong>Expired · </strong>}
          <PersonText>{keySentence(key, lines)}</PersonText>
        </span>
      ),
    },
    { title: 'Last used', cell: ({ last_used_at }) => <AgoOrNever time={last_used_at} /> },
    {
      title: 'Created',
      cell: (key) => (
        <span class="small">
          <Ago time={key.created_at} />
          <span class="quiet">
            {' '}
            by <PersonText>{creatorWords(key, keys)}</PersonText>
          </span>
        </span>
      ),
    },
  ]
}

function isExpired({ expires_at: end }: Key, now: number): boolean {
  return end !== undefined && Date.parse(end) <= now
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
        Revoke
        <span class="visually-hidden"> {keyName(key)}</span>
      </Button>
    ),
  }
}

function AgoOrNever({ time }: { readonly time: string | null }) {
  return time === null ? <span class="small quiet">Never</span> : <Ago time={time} />
}

type Made = NonNullable<RevokedKey['created']>

type RevokeProps = {
  readonly revoked: Key
  readonly keys: readonly Key[]
  readonly onClose: () => void
}

/** Revokes a key after its name was typed, then lists what the key created and still works. */
function RevokeKey({ revoked, keys, onClose }: RevokeProps) {
  const { api, notices } = useDashboard()
  const typed = useSignal('')
  const made = useSignal<Made | null>(null)
  const name = keyName(revoked)
  const action = useAction(
    () => api.call('revokeKey', { params: { id: revoked.id } }),
    ({ created = null }) => {
      notices.done('Key revoked.')
      made.value = created
      if (created === null) onClose()
    },
  )
  if (made.value !== null) return <StillThere made={made.value} keys={keys} onClose={onClose} />
  return (
    <ActionDialog
      title="Revoke this key?"
      confirm="Revoke"
      variant="danger"
      action={action}
      // A name may be impossible to type; the start of the key never is.
      isReady={[name.trim(), revoked.key_hint].includes(typed.value.trim())}
      onClose={onClose}
    >
      <p>
        Apps that use it will lose access immediately. This can't be undone. To confirm, type{' '}
        <strong>
          <PersonText>{name}</PersonText>
        </strong>
        :
      </p>
      <TextField
        label="Key name"
        hint={`Or the start of the key: ${revoked.key_hint}`}
        isFirst
        bind={typed}
      />
    </ActionDialog>
  )
}

function StillThere({
  made,
  keys,
  onClose,
}: Omit<RevokeProps, 'revoked'> & { readonly made: Made }) {
  const webhooks = useWebhooks().value?.data ?? []
  const keyNames = made.keys.map((id) => {
    const key = keys.find((each) => each.id === id)
    return key === undefined ? id : keyName(key)
  })
  const urls = made.webhooks.map((id) => webhooks.find((each) => each.id === id)?.url ?? id)
  return (
    <Dialog
      title="Key revoked. What it created still works."
      onClose={onClose}
      actions={
        <>
          {urls.length > 0 && <LinkButton href={href('webhooks')}>Review webhooks</LinkButton>}
          <Button variant="main" onClick={onClose}>
            {COMMON.done}
          </Button>
        </>
      }
    >
      <p>These were created with this key and are still active. Check that you recognize them.</p>
      <MadeList title="Keys" names={keyNames} />
      <MadeList title="Webhooks" names={urls} />
    </Dialog>
  )
}

function MadeList({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <div>
      <h3>{title}</h3>
      <ul class="made-list">
        {names.map((name, index) => (
          <li key={index}>
            <PersonText>{name}</PersonText>
          </li>
        ))}
      </ul>
    </div>
  )
}
