// The composer of a thread, and the parts of every form that sends a message.

import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'

import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { bindTo, Chips, Form, TextField } from '../components/form.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { createOutbox, OPTED_OUT, type Draft } from '../outbox.ts'
import { conversationName, isGroup } from '../people.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { groupRefusal } from '../words/message-states.ts'
import { AttachButton, AttachedFiles, useUploads } from './attach.tsx'

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

type ComposerProps = {
  readonly conversation: Conversation
  readonly line: PhoneLine | null
  readonly composition: Composition
}

/** False if the line is known not to send files. */
export function takesFiles(line: PhoneLine | null): boolean {
  return line === null || line.status === 'offline' || line.capabilities.attachments
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
      {/* The bar above says that the person opted out. */}
      <FailureNote failure={failure} but={[OPTED_OUT]} />
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

type ButtonProps = {
  readonly isBusy: boolean
  readonly isDisabled: boolean
  readonly isLater: boolean
  readonly isIconOnly?: boolean | undefined
}

export function SendButton({ isLater, ...props }: ButtonProps) {
  return (
    <Button type="submit" variant="main" icon={isLater ? 'clock' : 'send'} {...props}>
      {isLater ? 'Schedule' : 'Send'}
    </Button>
  )
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Times that are often meant, as values of a `datetime-local` input. */
function laterChoices(now: number): Readonly<Record<string, string>> {
  const morning = (days: number) => `${pickerTime(now + days * DAY_MS).split('T', 1)[0]}T09:00`
  return {
    'In an hour': pickerTime(now + HOUR_MS),
    'In 3 hours': pickerTime(now + 3 * HOUR_MS),
    'Tomorrow at 9': morning(1),
    'In a week at 9': morning(7),
  }
}

export function LaterField({ later }: Pick<Composition, 'later'>) {
  const { clock } = useDashboard()
  if (later.value === null) return null
  const now = clock.time()
  const bind = bindTo(later.value, (text) => (later.value = text))
  return (
    <div class="stack-tight">
      <TextField type="datetime-local" label="Send at" min={pickerTime(now)} bind={bind} />
      <Chips
        label="Suggested times"
        of={Object.entries(laterChoices(now)).map(([text, time]) => ({
          text,
          isOn: later.value === time,
          onPress: () => (later.value = time),
        }))}
      />
    </div>
  )
}

type LaterProps = Pick<Composition, 'later'> & { readonly isIconOnly?: boolean }

export function LaterButton({ later, isIconOnly }: LaterProps) {
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
