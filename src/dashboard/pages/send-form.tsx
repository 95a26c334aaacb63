// Forms that send a message: on Home, for a new conversation, and the composer of a thread.

import { useSignal } from '@preact/signals'
import { useEffect, useId, useMemo, useRef } from 'preact/hooks'

import type { Contact } from '../../api/contacts.ts'
import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import {
  bindTo,
  Field,
  Form,
  SelectField,
  TextArea,
  TextField,
  useSettled,
} from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { createOutbox, isWhole, type Draft } from '../outbox.ts'
import { conversationName, isGroup } from '../people.ts'
import { useLines } from '../sources.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { lineOption } from '../words/line-states.ts'
import { groupRefusal } from '../words/message-states.ts'
import { AttachButton, AttachedFiles, useFileTarget, useUploads } from './attach.tsx'

type Composition = ReturnType<typeof useComposition>

export function useComposition(onAccepted: (message: Message) => void) {
  const { api } = useDashboard()
  const outbox = useMemo(() => createOutbox(api), [api])
  const text = useSignal('')
  /** The value of a `datetime-local` input; null to send now. */
  const later = useSignal<string | null>(null)
  const uploads = useUploads()
  /** Set once the person at the page was warned that the recipient has opted out. */
  const confirmed = useSignal<Draft['headers']>(undefined)
  const { isBusy, failure, start } = useAction(outbox, (message) => {
    // Text typed and files attached meanwhile belong to the next message.
    if (text.value.trim() === message.text.trim()) text.value = ''
    later.value = null
    uploads.removeSent((message.attachments ?? []).map(({ id }) => id))
    onAccepted(message)
  })
  const hasContent = text.value.trim() !== '' || uploads.now.value.length > 0
  const time = later.value === null ? null : pickedTime(later.value)
  const isReady = hasContent && uploads.isComplete && (later.value === null || time !== null)
  const send = (target: Pick<Draft, 'to' | 'lineId' | 'groupId'>) => {
    const { ids } = uploads
    const files = ids.length === 0 ? {} : { attachments: ids }
    const when = time === null ? {} : { sendAt: isoTime(time) }
    if (isReady) start({ ...target, text: text.value, ...files, ...when, headers: confirmed.value })
  }
  return { text, later, uploads, confirmed, isBusy, failure, isReady, send }
}

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
      <RecipientField form={form} isFirst={isFirst} />
      {lines.length > 1 && (
        <SelectField
          label="Line"
          bind={bindTo(lineId.value ?? '', (id) => (lineId.value = id === '' ? null : id))}
          options={[automatic, ...lines.map(lineOption)]}
        />
      )}
      <div class={isOver ? 'stack-tight is-drop-target' : 'stack-tight'} {...handlers}>
        <TextArea label="Text" bind={text} />
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

type ButtonProps = SendForm['button'] & { readonly isIconOnly?: boolean | undefined }

export function SendButton({ isLater, ...props }: ButtonProps) {
  return (
    <Button type="submit" variant="main" icon={isLater ? 'clock' : 'send'} {...props}>
      {isLater ? 'Schedule' : 'Send'}
    </Button>
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

type ComposerProps = {
  readonly conversation: Conversation
  readonly line: PhoneLine | null
  readonly composition: Composition
}

/** False if the line is known not to send files. */
export function takesFiles(line: PhoneLine | null): boolean {
  return line === null || line.status === 'offline' || line.capabilities.attachments
}

function LaterField({ later }: Pick<Composition, 'later'>) {
  const { clock } = useDashboard()
  if (later.value === null) return null
  const bind = bindTo(later.value, (text) => (later.value = text))
  return (
    <TextField type="datetime-local" label="Send at" min={pickerTime(clock.time())} bind={bind} />
  )
}

const HOUR_MS = 3_600_000

type LaterProps = Pick<Composition, 'later'> & { readonly isIconOnly?: boolean }

function LaterButton({ later, isIconOnly }: LaterProps) {
  const { clock } = useDashboard()
  const isLater = later.value !== null
  const toggle = () => (later.value = isLater ? null : pickerTime(clock.time() + HOUR_MS))
  return (
    <Button
      variant={isIconOnly === true ? 'quiet' : 'plain'}
      icon={isLater ? 'cross' : 'clock'}
      isIconOnly={isIconOnly}
      onClick={toggle}
    >
      {isLater ? 'Send now instead' : 'Send later'}
    </Button>
  )
}

/** Elements that keep the focus when a thread opens: a field, the list of conversations, a found message. */
const IN_USE = 'input, select, textarea, article, .window-list *'

/** Enter sends; Shift+Enter starts a new line. */
export function Composer({ conversation, line, composition }: ComposerProps) {
  const { text, later, uploads, isBusy, failure, send, isReady } = composition
  const { id, handle, phone_line_id } = conversation
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // On a phone, the keyboard would cover the messages.
    const isAtDesk = matchMedia('(pointer: fine)').matches
    const isInUse = document.activeElement?.matches(IN_USE) === true
    if (isAtDesk && !isInUse) field.current?.focus({ preventScroll: true })
  }, [])
  const refusal = groupRefusal(conversation, line)
  if (refusal !== null) return <p class="composer composer-refusal quiet">{refusal}</p>
  const submit = () =>
    send({ to: handle, lineId: phone_line_id, ...(isGroup(conversation) && { groupId: id }) })
  return (
    <Form class="composer" onSubmit={submit}>
      <FailureNote failure={failure} />
      <AttachedFiles uploads={uploads} />
      <LaterField later={later} />
      <div class="composer-row">
        {takesFiles(line) && <AttachButton isIconOnly uploads={uploads} />}
        <textarea
          ref={field}
          class="input"
          dir="auto"
          rows={1}
          aria-label={`Message to ${conversationName(conversation)}`}
          placeholder={line?.status === 'offline' ? 'Line offline, message will wait' : 'Message'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // In an input method editor, Enter chooses a word.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
        <LaterButton isIconOnly later={later} />
        <SendButton
          isIconOnly
          isBusy={isBusy}
          isDisabled={!isReady}
          isLater={later.value !== null}
        />
      </div>
    </Form>
  )
}
