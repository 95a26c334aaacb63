// The form of a person in the address book: on the page of people, and in the head of a thread.

import { useSignal } from '@preact/signals'

import type { Contact } from '../../api/contacts.ts'
import { fieldError } from '../api.ts'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { TextArea, TextField } from '../components/form.tsx'
import { useAction } from '../components/use-action.ts'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { useLines } from '../sources.ts'
import { COMMON } from '../words/common.ts'
import { PEOPLE } from '../words/people.ts'

type Props = {
  /** Null where it is to be typed. */
  readonly handle: string | null
  readonly isKnown: boolean
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Waits for what is known of the person: an empty form, saved, would overwrite it. */
export function ContactDialog(props: Props) {
  const call = props.handle !== null && props.isKnown ? { params: { handle: props.handle } } : null
  const read = useRead('getContact', call)
  const isGone = read.now.state === 'failed' && read.now.failure.status === 404
  if (call !== null && read.value === null && !isGone) return <ReadFailure of={read} />
  return <ContactForm {...props} known={read.value} />
}

/** Texts as they are typed. */
function useFields(known: Contact | null) {
  return {
    typed: useSignal(''),
    name: useSignal(known === null ? '' : known.name),
    note: useSignal(known?.note ?? ''),
    tags: useSignal(known === null ? '' : known.tags.join(', ')),
  }
}

function ContactForm(props: Props & { readonly known: Contact | null }) {
  const { handle, known, onClose, onChanged } = props
  const { api, notices } = useDashboard()
  const lines = useLines().value?.data ?? []
  const { typed, name, note, tags } = useFields(known)
  const end = (words: string) => () => {
    notices.done(words)
    onChanged()
    onClose()
  }
  const saving = useAction(() => {
    const body = {
      name: name.value.trim(),
      note: note.value.trim() === '' ? null : note.value,
      tags: tags.value.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()])),
    }
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
      but={['handle', 'name', 'note']}
      isReady={name.value.trim() !== '' && (handle ?? typed.value.trim()) !== ''}
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
      <TextField label="Name" maxLength={200} bind={name} error={errorOf('name')} />
      <TextArea label="Note" bind={note} error={errorOf('note')} />
      <TextField label="Tags" hint="Separated by commas" bind={tags} />
      {known !== null && <RemoveButton handle={known.handle} onDone={end(COMMON.deleted)} />}
    </ActionDialog>
  )
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
        look="danger"
        call={() => api.call('deleteContact', { params: { handle } })}
        onDone={onDone}
      >
        Conversations and messages stay.
      </ConfirmButton>
    </div>
  )
}
