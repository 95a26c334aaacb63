// The form for a message to any recipient.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'

import type { Contact } from '../../api/contacts.ts'
import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { fieldError } from '../api.ts'
import { FailureNote } from '../components/callout.tsx'
import { bindTo, Field, SelectField, TextArea, useSettled } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useRead } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { isWhole } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { lineOption } from '../words/line-states.ts'
import {
  AttachButton,
  AttachedFiles,
  useFileTarget,
  LaterButton,
  LaterField,
  useComposition,
} from './composer.tsx'

type SendForm = ReturnType<typeof useSendForm>

export function useSendForm(onAccepted: (message: Message) => void, recipient = '') {
  const lines = useLines().value?.data ?? []
  const to = useSignal(recipient)
  const composition = useComposition((message) => {
    to.value = ''
    onAccepted(message)
  })
  const { isBusy, isReady, send } = composition
  const asked = useSignal('')
  const lineId = useSignal<string | null>(null)
  const chosen = lines.filter(({ id }) => lineId.value === null || id === lineId.value)
  const people = useSuggestions(to.value.trim())
  const handle = namedHandle(to.value.trim(), people) ?? typedHandle(to.value, chosen)
  const isDisabled = to.value.trim() === '' || !isReady
  const submit = () => {
    if (isDisabled) return
    asked.value = handle
    send({ to: handle, lineId: lineId.value })
  }
  // The refusal is about the recipient that was sent.
  const refusal = asked.value === handle ? fieldError(composition.failure, NOBODY) : null
  return {
    ...composition,
    to,
    isKnown: recipient !== '',
    people,
    handle,
    refusal,
    lineId,
    submit,
    button: { isBusy, isDisabled, isLater: composition.later.value !== null },
  }
}

type FieldsProps = {
  readonly form: SendForm
  readonly lines: readonly PhoneLine[]
  readonly isFirst?: boolean | undefined
}

export function SendFields({ form, lines, isFirst }: FieldsProps) {
  const { handle, text, later, lineId, uploads, failure } = form
  const { isOver, handlers } = useFileTarget(uploads)
  const automatic = { value: '', text: 'Automatic (usual or least used line)' }
  return (
    <>
      <RecipientField form={form} isFirst={isFirst === true && !form.isKnown} />
      {lines.length > 1 && (
        <SelectField
          label="Line"
          bind={bindTo(lineId.value ?? '', (id) => (lineId.value = id === '' ? null : id))}
          options={[automatic, ...lines.map(lineOption)]}
        />
      )}
      <div class={isOver ? 'stack-tight is-drop-target' : 'stack-tight'} {...handlers}>
        <TextArea label="Text" bind={text} isFirst={isFirst === true && form.isKnown} />
        <AttachedFiles uploads={uploads} />
        <LaterField later={later} />
        <div class="actions">
          <AttachButton uploads={uploads} />
          <LaterButton later={later} />
        </div>
      </div>
      <ContactLimitNote to={handle} lineId={lineId.value} />
      <FailureNote failure={failure} but={[NOBODY]} />
    </>
  )
}

/** The error code that is shown beside the recipient field. */
const NOBODY = 'invalid_recipient'

/** Contacts that match the typed name. */
function useSuggestions(typed: string): readonly Contact[] {
  const q = useSettled(typed)
  const isName = q.length >= 2 && !isWhole(q)
  const call = isName ? { query: { q, limit: 8 } } : null
  return useRead('listContacts', call).value?.data ?? []
}

/** The handle of the only person with that name; null if there is none or more than one. */
function namedHandle(typed: string, people: readonly Contact[]): string | null {
  const isTyped = ({ name }: Contact) =>
    name.localeCompare(typed, undefined, { sensitivity: 'base' }) === 0
  const [person, another] = people.filter(isTyped)
  return person === undefined || another !== undefined ? null : person.handle
}

function RecipientField({ form, isFirst }: Pick<FieldsProps, 'form' | 'isFirst'>) {
  const { to, people, handle, refusal } = form
  const listId = useId()
  const words = numberWords(handle)
  return (
    <Field
      label="To"
      error={
        refusal &&
        (isWhole(handle)
          ? refusal.replace(/^to /, 'This ')
          : 'Enter a number with its country code, such as +1 202 555 0123, the name of a contact, or an email address.')
      }
      hint={isWhole(handle) && words !== to.value.trim() ? `→ ${words}` : 'Name, number or email'}
    >
      {(box) => (
        <>
          <input
            {...box}
            class="input"
            dir="auto"
            list={listId}
            placeholder="+12025550147"
            autoComplete="off"
            autoFocus={isFirst}
            value={to.value}
            onInput={(event) => (to.value = event.currentTarget.value)}
          />
          <datalist id={listId}>
            {people.map((person) => (
              <option key={person.handle} value={person.handle} label={person.name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

type NoteProps = { readonly to: string; readonly lineId: string | null }

/** The message's effect on the daily contact limit; empty until the recipient is complete. */
function ContactLimitNote({ to, lineId }: NoteProps) {
  const settled = useSettled(to)
  return (
    <p class="contact-cost small quiet">
      {isWhole(settled) && <Cost to={settled} lineId={lineId} />}
    </p>
  )
}

function Cost({ to, lineId }: NoteProps) {
  const query = { to, phone_line_id: lineId }
  const { now, value } = useRead('getContactCost', { query }, 'conversation', 'line')
  if (now.state === 'failed') return <>{now.failure.message}</>
  return (
    value && (
      <>
        {value.before}
        {value.name !== null && <PersonText>{value.name}</PersonText>}
        {value.after}
      </>
    )
  )
}
