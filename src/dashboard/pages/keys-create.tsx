// A new key: first its name, then key and secret, this once.

import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError, otherFailure } from '../field-error.ts'
import type { CreatedKey } from './keys-resources.ts'
import { KeyShownOnce } from './keys-shown-once.tsx'

type Props = { readonly onClose: () => void }

export function CreateKey({ onClose }: Props) {
  // Lives as long as the dialog: nothing else of the page ever holds the secret.
  const created = useSignal<CreatedKey | null>(null)
  const stored = () => {
    created.value = null
    onClose()
  }
  if (created.value === null) {
    return <NameKey onClose={onClose} onCreated={(key) => (created.value = key)} />
  }
  return (
    <Dialog
      title="Store the key and its secret now"
      canClose={false}
      onClose={stored}
      actions={
        <Button look="main" onClick={stored}>
          I stored it
        </Button>
      }
    >
      <KeyShownOnce created={created.value} />
    </Dialog>
  )
}

type NameProps = Props & { readonly onCreated: (created: CreatedKey) => void }

function NameKey({ onClose, onCreated }: NameProps) {
  const { api } = useDashboard()
  const name = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => api.post<CreatedKey>('keys', { name: name.value.trim() || null }),
    onCreated,
  )
  const rest = otherFailure(failure, ['name'])
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      onSubmit={start}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" isBusy={isBusy}>
            Make the key
          </Button>
        </>
      }
    >
      <TextField
        label="Name"
        placeholder="Booking system"
        hint="Which program uses it. You type this name when you revoke the key."
        isFirst
        maxLength={100}
        value={name.value}
        error={fieldError(failure, 'name')}
        onInput={(text) => (name.value = text)}
      />
      {rest !== null && <FailureNote failure={rest} />}
    </Dialog>
  )
}
