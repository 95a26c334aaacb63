// The form for a contact, opened from People and from a thread.

import { useSignal } from '@preact/signals'

import type { Contact } from '../../api/contacts.ts'
import {
  CONTACT_FIELDS,
  CONTACT_FIELD_NAMES,
  contactFields,
  textsIn,
  typedTexts,
  type ContactField,
} from '../../domain/contact-fields.ts'
import { fieldError } from '../api.ts'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { TextArea, TextField, bindTo } from '../components/form.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { useLines } from '../sources.ts'
import { COMMON } from '../words/common.ts'
import { PEOPLE } from '../words/conversations.ts'

type Props = {
  /** Null for a new contact, whose handle is typed. */
  readonly handle: string | null
  readonly isKnown: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Waits for the stored contact: saving an empty form would overwrite it. */
export function ContactDialog(props: Props) {
  const call = props.handle !== null && props.isKnown ? { params: { handle: props.handle } } : null
  const read = useRead('getContact', call)
  const isGone = read.now.state === 'failed' && read.now.failure.status === 404
  if (call !== null && read.value === null && !isGone) return <ReadFailure of={read} />
  return <ContactForm {...props} known={read.value} />
}

function ContactForm(props: Props & { readonly known: Contact | null }) {
  const { handle, known, onClose, onChanged } = props
  const { api, notices } = useDashboard()
  const lines = useLines().value?.data ?? []
  const typed = useSignal('')
  const changed = useSignal<Partial<Record<ContactField, string>>>({})
  const textOf = (field: ContactField) => changed.value[field] ?? textsIn(known?.[field]).join(', ')
  const end = (words: string) => () => {
    notices.done(words)
    onChanged()
    onClose()
  }
  const saving = useAction(() => {
    const body = contactFields((row, field) => typedTexts(row, textOf(field)))
    return api.call('putContact', {
      params: { handle: handle ?? typedHandle(typed.value, lines) },
      body,
    })
  }, end('Saved.'))
  const errorOf = (field: string) => fieldError(saving.failure, field)
  return (
    <ActionDialog
      title={known === null ? PEOPLE.add : PEOPLE.edit}
      confirm="Save"
      action={saving}
      but={['handle', ...CONTACT_FIELD_NAMES.filter(hasOwnError)]}
      isReady={textOf('name').trim() !== '' && (handle ?? typed.value.trim()) !== ''}
      onClose={onClose}
    >
      {handle === null ? (
        <TextField label="Number or email" isFirst bind={typed} error={errorOf('handle')} />
      ) : (
        <p class="row quiet">
          {numberWords(handle)}
          {known?.opted_out && <span class="chip">{PEOPLE.optedOut}</span>}
        </p>
      )}
      {CONTACT_FIELD_NAMES.map((field) => (
        <ContactInput
          key={field}
          field={field}
          bind={bindTo(textOf(field), (text) => {
            changed.value = { ...changed.value, [field]: text }
          })}
          error={hasOwnError(field) ? errorOf(field) : null}
        />
      ))}
      {known !== null && <RemoveButton handle={known.handle} onDone={end(COMMON.deleted)} />}
    </ActionDialog>
  )
}

/** False for list fields: their errors name one entry, so they are shown below the form. */
function hasOwnError(field: ContactField): boolean {
  return CONTACT_FIELDS[field].kind !== 'list'
}

type InputProps = {
  readonly field: ContactField
  readonly bind: { value: string }
  readonly error: string | null
}

function ContactInput({ field, ...props }: InputProps) {
  const { kind, label, lengthMax } = CONTACT_FIELDS[field]
  if (kind === 'text') return <TextArea label={label} {...props} />
  if (kind === 'list') return <TextField label={label} hint="Separated by commas" {...props} />
  return <TextField label={label} maxLength={lengthMax} {...props} />
}

type RemoveProps = { readonly handle: string; readonly onDone: () => void }

function RemoveButton({ handle, onDone }: RemoveProps) {
  const { api } = useDashboard()
  return (
    <div class="actions">
      <ConfirmButton
        icon="trash"
        text="Delete contact…"
        title="Delete this contact?"
        confirm={COMMON.delete}
        call={() => api.call('deleteContact', { params: { handle } })}
        onDone={onDone}
      >
        Conversations and messages stay.
      </ConfirmButton>
    </div>
  )
}
