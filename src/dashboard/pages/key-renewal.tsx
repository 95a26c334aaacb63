// Makes a key from another one: one that takes its place, or one with the same permissions under a new name.

import { useSignal } from '@preact/signals'

import type { CreatedKey, Key, RotatedKey } from '../../api/keys.ts'
import { limitsLike } from '../../domain/permissions.ts'
import { fieldError } from '../api.ts'
import { ActionDialog, ShownOnce } from '../components/dialog.tsx'
import { SelectField, TextField } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction, useDashboard } from '../dashboard.ts'
import { useLatestConversations, useLines, useSites } from '../sources.ts'
import { isoTime, momentWords } from '../time-words.ts'
import { EXPIRY_CHOICES, KEYS as WORDS, keyName, keySentence } from '../words/keys.ts'
import { KeyAndSecret } from './key-form.tsx'

type Props = { readonly of: Key; readonly onClose: () => void }

const OVERLAPS = [
  { value: '86400', text: 'For a day' },
  { value: '3600', text: 'For an hour' },
  { value: '604800', text: 'For a week' },
  { value: '0', text: 'Not at all: it ends now' },
]

export function RotateKey({ of: key, onClose }: Props) {
  const { api } = useDashboard()
  const overlap = useSignal('86400')
  const made = useSignal<RotatedKey | null>(null)
  const action = useAction(
    () => {
      const body = { overlap: Number(overlap.value) }
      return api.call('rotateKey', { params: { id: key.id }, body })
    },
    (rotated) => (made.value = rotated),
  )
  if (made.value !== null)
    return <Made of={made} title="Save the new key and secret" {...{ onClose }} />
  return (
    <ActionDialog title="Rotate this key?" confirm="Rotate" {...{ action, onClose }}>
      <p>
        You get a new key with the same name and permissions as{' '}
        <strong>
          <PersonText>{keyName(key)}</PersonText>
        </strong>
        . Give it to the app before the old key ends.
      </p>
      <SelectField label="The old key goes on working" bind={overlap} options={OVERLAPS} />
    </ActionDialog>
  )
}

const DAY_MS = 86_400_000

export function DuplicateKey({ of: key, onClose }: Props) {
  const { api, clock } = useDashboard()
  const lines = useLines().value?.data ?? []
  const isOfConversations = key.conversation_ids !== undefined
  const latest = useLatestConversations(isOfConversations).value?.data ?? []
  const name = useSignal('')
  const expiry = useSignal('30')
  const made = useSignal<CreatedKey | null>(null)
  const { expires_at: end, ...limits } = limitsLike(key)
  const action = useAction(
    () => {
      const isEnding = end !== undefined && expiry.value !== ''
      const until = isEnding && {
        expires_at: isoTime(clock.time() + Number(expiry.value) * DAY_MS),
      }
      return api.call('createKey', { body: { name: name.value.trim(), ...limits, ...until } })
    },
    (created) => (made.value = created),
  )
  if (made.value !== null) return <Made of={made} title={WORDS.save} {...{ onClose }} />
  const { expires_at: _, ...lasting } = key
  return (
    <ActionDialog
      title="Duplicate this key"
      confirm="Create key"
      but={['name']}
      isReady={name.value.trim() !== ''}
      {...{ action, onClose }}
    >
      <TextField
        label={WORDS.name}
        hint="The app that uses the new key."
        isFirst
        maxLength={100}
        bind={name}
        error={fieldError(action.failure, 'name')}
      />
      <p>
        The same permissions as{' '}
        <strong>
          <PersonText>{keyName(key)}</PersonText>
        </strong>
        : <PersonText>{keySentence(lasting, lines, latest, useSites())}</PersonText>.
      </p>
      {end !== undefined && <SelectField label="Validity" bind={expiry} options={EXPIRY_CHOICES} />}
    </ActionDialog>
  )
}

type MadeProps<K> = Pick<Props, 'onClose'> & {
  readonly of: { value: K | null }
  readonly title: string
}

/** Nothing else in the page holds the secret, which goes with the dialog. */
function Made<K extends CreatedKey | RotatedKey>({ of: made, title, onClose }: MadeProps<K>) {
  const key = made.value
  if (key === null) return null
  const done = () => {
    made.value = null
    onClose()
  }
  return (
    <ShownOnce title={title} onDone={done}>
      <KeyAndSecret created={key} />
      {'old_key_expires_at' in key && (
        <p class="field-hint">The old key works until {momentWords(key.old_key_expires_at)}.</p>
      )}
    </ShownOnce>
  )
}
