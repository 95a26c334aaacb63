// Revoking a key, which cannot be undone: its name is typed. Then, what it made and still lives.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { ActionDialog } from '../components/action-dialog.tsx'
import { Button, LinkButton } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { Key, RevokedKey } from '../resources.ts'
import { useWebhooks } from '../sources.ts'
import { keyName } from './keys-words.ts'

type Made = NonNullable<RevokedKey['created']>

type Props = {
  readonly revoked: Key
  readonly keys: readonly Key[]
  readonly onClose: () => void
}

export function RevokeKey({ revoked, keys, onClose }: Props) {
  const { api, notices } = useDashboard()
  const typed = useSignal('')
  const made = useSignal<Made | null>(null)
  const name = keyName(revoked)
  const action = useAction(
    () => api.remove<RevokedKey>(`keys/${revoked.id}`),
    ({ created = null }) => {
      notices.done('The key is revoked.')
      made.value = created
      if (created === null) onClose()
    },
  )
  if (made.value !== null) return <StillThere made={made.value} keys={keys} onClose={onClose} />
  return (
    <ActionDialog
      title="Revoke this key?"
      confirm="Revoke"
      look="danger"
      action={action}
      // A name that nobody can type has a key whose beginning one can.
      isReady={[name.trim(), revoked.key_hint].includes(typed.value.trim())}
      onClose={onClose}
    >
      <p>
        Programs that use it are refused at once, and for good. To go on, type{' '}
        <strong>
          <PersonText>{name}</PersonText>
        </strong>
        :
      </p>
      <TextField
        label="Name of the key"
        hint={`Or the beginning of the key itself: ${revoked.key_hint}`}
        isFirst
        bind={typed}
      />
    </ActionDialog>
  )
}

type StillThereProps = {
  readonly made: Made
  readonly keys: readonly Key[]
  readonly onClose: () => void
}

function StillThere({ made, keys, onClose }: StillThereProps) {
  const known = useWebhooks().value?.data ?? []
  const keyNames = made.keys.map((id) => {
    const key = keys.find((one) => one.id === id)
    return key === undefined ? id : keyName(key)
  })
  const urls = made.webhooks.map((id) => known.find((one) => one.id === id)?.url ?? id)
  return (
    <Dialog
      title="The key is revoked. What it made is not."
      onClose={onClose}
      actions={
        <>
          {urls.length > 0 && <LinkButton href={href('webhooks')}>Look at the webhooks</LinkButton>}
          <Button look="main" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <p>Whoever had this key made these, and they go on working. Look whether you know them.</p>
      <MadeList title="Keys" names={keyNames} />
      <MadeList title="Webhooks" names={urls} />
    </Dialog>
  )
}

type MadeListProps = { readonly title: string; readonly names: readonly string[] }

function MadeList({ title, names }: MadeListProps) {
  if (names.length === 0) return null
  return (
    <div>
      <h3>{title}</h3>
      <ul class="made-list">
        {names.map((name, place) => (
          <li key={place}>
            <PersonText>{name}</PersonText>
          </li>
        ))}
      </ul>
    </div>
  )
}
