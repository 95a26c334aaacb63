// A new key: first its name, then key and secret, this once.

import { useSignal } from '@preact/signals'

import { ActionDialog } from '../components/action-dialog.tsx'
import { TextField } from '../components/field.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError } from '../field-error.ts'
import type { CreatedKey } from '../resources.ts'
import { KeyShownOnce } from './keys-shown-once.tsx'

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { api } = useDashboard()
  const name = useSignal('')
  // Lives as long as the dialog: nothing else of the page ever holds the secret.
  const created = useSignal<CreatedKey | null>(null)
  const action = useAction(
    () => api.post<CreatedKey>('keys', { name: name.value.trim() || null }),
    (key) => (created.value = key),
  )
  if (created.value !== null) {
    const stored = () => {
      created.value = null
      onClose()
    }
    return (
      <ShownOnce title="Store the key and its secret now" onStored={stored}>
        <KeyShownOnce created={created.value} />
      </ShownOnce>
    )
  }
  return (
    <ActionDialog
      title="New key"
      confirm="Make the key"
      action={action}
      but={['name']}
      onClose={onClose}
    >
      <TextField
        label="Name"
        placeholder="Booking system"
        hint="Which program uses it. You type this name when you revoke the key."
        isFirst
        maxLength={100}
        bind={name}
        error={fieldError(action.failure, 'name')}
      />
    </ActionDialog>
  )
}
