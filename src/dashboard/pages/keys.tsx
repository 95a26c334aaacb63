// API keys: list, create, rotate, duplicate and revoke.

import { useSignal } from '@preact/signals'

import type { Key, RevokedKey } from '../../api/keys.ts'
import type { Conversation } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import type { Site } from '../../api/sites.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { ActionDialog } from '../components/dialog.tsx'
import type { IconName } from '../components/drawings.ts'
import { TextField } from '../components/form.tsx'
import { Card, PageHead } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useKeys, useLatestConversations, useLines, useSites, useWebhooks } from '../sources.ts'
import { grouped } from '../words/common.ts'
import { KEYS as WORDS, creatorWords, keyName, keySentence } from '../words/keys.ts'
import { CreateKey, DuplicateKey, RotateKey } from './key-form.tsx'

export function KeysPage() {
  const keys = useKeys()
  const asked = useSignal<{ readonly deed: Deed; readonly of: Key } | 'new' | null>(null)
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
        {() => (
          <KeyLists
            keys={all}
            create={create}
            onDeed={(deed, of) => (asked.value = { deed, of })}
          />
        )}
      </WhenReady>
      {asked.value === 'new' && <CreateKey onClose={close} />}
      {asked.value !== null && asked.value !== 'new' && (
        <DeedDialog {...asked.value} keys={all} onClose={close} />
      )}
    </>
  )
}

const DEEDS = { rotate: 'Rotate', duplicate: 'Duplicate', revoke: 'Revoke' } as const
type Deed = keyof typeof DEEDS

function DeedDialog({ deed, of, keys, onClose }: DialogProps & { readonly deed: Deed }) {
  switch (deed) {
    case 'rotate':
      return <RotateKey {...{ of, onClose }} />
    case 'duplicate':
      return <DuplicateKey {...{ of, onClose }} />
    case 'revoke':
      return <RevokeKey {...{ of, keys, onClose }} />
  }
}

type ListsProps = {
  readonly keys: readonly Key[]
  readonly create: preact.VNode
  readonly onDeed: (deed: Deed, key: Key) => void
}

function KeyLists({ keys, create, onDeed }: ListsProps) {
  const lines = useLines().value?.data ?? []
  const isNamed = keys.some(({ conversation_ids }) => conversation_ids !== undefined)
  const latest = useLatestConversations(isNamed).value?.data ?? []
  const sites = useSites()
  const { clock } = useDashboard()
  const now = clock.now.value
  const revoked = keys.filter(isRevoked)
  const active = keys.filter((key) => !isRevoked(key))
  const table = (caption: string, rows: readonly Key[], last: Column<Key>) => (
    <Card kind="list">
      <DataTable
        caption={caption}
        rows={rows}
        columns={[...columnsFor(keys, { lines, latest, sites, now }), last]}
      />
    </Card>
  )
  return (
    <>
      {active.length > 0 ? (
        table('API keys', active, deedColumn(onDeed, now))
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
  {
    lines,
    latest,
    sites,
    now,
  }: {
    readonly lines: readonly PhoneLine[]
    readonly latest: readonly Conversation[]
    readonly sites: readonly Site[]
    readonly now: number
  },
): readonly Column<Key>[] {
  return [
    {
      title: WORDS.name,
      cell: (key) => <PersonText in="key-name">{keyName(key)}</PersonText>,
    },
    { title: WORDS.key, cell: (key) => <span class="mono key-hint">{key.key_hint}…</span> },
    {
      title: WORDS.permissions,
      cell: (key) => (
        <span class="small key-permissions">
          {isExpired(key, now) && <strong>Expired · </strong>}
          <PersonText>{keySentence(key, lines, latest, sites)}</PersonText>
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

function deedColumn(onDeed: ListsProps['onDeed'], now: number): Column<Key> {
  const icon = (name: IconName, deed: Deed, key: Key) => (
    <Button variant="quiet" icon={name} isIconOnly onClick={() => onDeed(deed, key)}>
      {`${DEEDS[deed]} ${keyName(key)}`}
    </Button>
  )
  return {
    title: 'Actions',
    isTitleHidden: true,
    isFigure: true,
    cell: (key) => (
      <div class="actions key-actions">
        {/* A key that has expired can't be rotated. */}
        {!isExpired(key, now) && icon('again', 'rotate', key)}
        {icon('copy', 'duplicate', key)}
        <Button onClick={() => onDeed('revoke', key)}>
          {DEEDS.revoke}
          <span class="visually-hidden"> {keyName(key)}</span>
        </Button>
      </div>
    ),
  }
}

function AgoOrNever({ time }: { readonly time: string | null }) {
  return time === null ? <span class="small quiet">Never</span> : <Ago time={time} />
}

type Made = NonNullable<RevokedKey['created']>

type DialogProps = { readonly of: Key; readonly keys: readonly Key[]; readonly onClose: () => void }

/** Revokes a key after its name was typed, then lists what the key created and still works. */
function RevokeKey({ of: revoked, keys, onClose }: DialogProps) {
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
  if (made.value !== null)
    return <StillThere of={revoked} made={made.value} {...{ keys, onClose }} />
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
      <p class="quiet">
        Last used: <AgoOrNever time={revoked.last_used_at} />
      </p>
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

function StillThere({ of, made, keys, onClose }: DialogProps & { readonly made: Made }) {
  const { api, notices } = useDashboard()
  const webhooks = useWebhooks().value?.data ?? []
  const keyNames = made.keys.map((id) => {
    const key = keys.find((each) => each.id === id)
    return key === undefined ? id : keyName(key)
  })
  const urls = made.webhooks.map((id) => webhooks.find((each) => each.id === id)?.url ?? id)
  const waiting = made.messages.length
  const action = useAction(
    () => api.call('revokeKey', { params: { id: of.id }, query: { all: 'true' } }),
    () => {
      notices.done('All of it has ended.')
      onClose()
    },
  )
  return (
    <ActionDialog
      title="Key revoked. What it created still works."
      confirm="End all of it"
      cancel="Keep it"
      variant="danger"
      {...{ action, onClose }}
    >
      <p>These were created with this key and are still active. Check that you recognize them.</p>
      <MadeList title="Keys" names={keyNames} />
      <MadeList title="Webhooks" names={urls} />
      <MadeList title="iPhones (Shortcuts)" names={made.bridges} />
      {waiting > 0 && <p>{`Messages that wait to be sent: ${grouped(waiting)}.`}</p>}
    </ActionDialog>
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
