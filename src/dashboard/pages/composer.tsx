// The composer of a thread, and the parts of every form that sends a message, such as files attached by button, drop
// or paste.

import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'

import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { FileButton } from '../components/file-button.tsx'
import { bindTo, Chips, Form, TextField } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { createOutbox, OPTED_OUT, type Draft } from '../outbox.ts'
import { conversationName, isGroup } from '../people.ts'
import { isoTime, pickedTime, pickerTime } from '../time-words.ts'
import { Uploads, type Upload } from '../uploads.ts'
import { fileIcon, isPicture, plainName } from '../words/attachments.ts'
import { COMMON, sizeWords } from '../words/common.ts'
import { groupRefusal } from '../words/message-states.ts'

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

function useUploads(): Uploads {
  const { api } = useDashboard()
  const uploads = useMemo(() => new Uploads(api), [api])
  useEffect(() => () => uploads.stop(), [uploads])
  return uploads
}

/** Event handlers for an element that accepts dropped and pasted files; none if `uploads` is null. */
export function useFileTarget(uploads: Uploads | null) {
  const isOver = useSignal(false)
  if (uploads === null) return { isOver: false, handlers: {} }
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      isOver.value = true
    },
    onDragLeave: (event: DragEvent) => {
      const { currentTarget, relatedTarget } = event
      const isInside =
        currentTarget instanceof Node &&
        relatedTarget instanceof Node &&
        currentTarget.contains(relatedTarget)
      if (!isInside) isOver.value = false
    },
    onDrop: (event: DragEvent) => {
      isOver.value = false
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return
      event.preventDefault()
      uploads.add([...event.dataTransfer.files])
    },
    onPaste: ({ clipboardData }: ClipboardEvent) => {
      // Word processors add a picture of the copied text.
      if (clipboardData === null || clipboardData.types.includes('text/plain')) return
      if (clipboardData.files.length === 0) return
      uploads.add([...clipboardData.files])
    },
  }
  return { isOver: isOver.value, handlers }
}

type UploadsProps = { readonly uploads: Uploads }

export function AttachButton({
  uploads,
  isIconOnly,
}: UploadsProps & { readonly isIconOnly?: boolean }) {
  return (
    <FileButton
      variant={isIconOnly === true ? 'quiet' : 'plain'}
      icon="attach"
      isIconOnly={isIconOnly}
      multiple
      onFiles={(files) => uploads.add(files)}
    >
      Attach files
    </FileButton>
  )
}

export function AttachedFiles({ uploads }: UploadsProps) {
  const refusal = uploads.refusal.value
  const files = uploads.now.value
  return (
    <>
      {files.length > 0 && (
        <ul class="uploads" aria-label="Attachments">
          {files.map((upload) => (
            <li key={upload.key}>
              <AttachedFile uploads={uploads} upload={upload} />
            </li>
          ))}
        </ul>
      )}
      {refusal !== null && (
        <p class="field-error" role="alert">
          {refusal}
        </p>
      )}
    </>
  )
}

type FileProps = UploadsProps & { readonly upload: Upload }

/** A small picture of a picture; an icon for any other file, and for pictures that the browser can't show. */
function DraftPicture({ uploads, upload }: FileProps) {
  const address = useSignal<string | null>(null)
  useEffect(() => {
    const file = uploads.contentOf(upload)
    // A blob URL has this page's origin: opened in a new tab, it must not run scripts.
    if (file === undefined || !isPicture(file.type)) return
    const url = URL.createObjectURL(file)
    address.value = url
    return () => URL.revokeObjectURL(url)
  }, [upload.key])
  if (address.value === null) return <Icon name={fileIcon({ mime_type: upload.type })} />
  return (
    <img class="draft-picture" src={address.value} alt="" onError={() => (address.value = null)} />
  )
}

function AttachedFile({ uploads, upload }: FileProps) {
  const { key, size, progress, attachment, failure } = upload
  const name = plainName(upload.name)
  return (
    <div class="file-card">
      <DraftPicture uploads={uploads} upload={upload} />
      <div class="grow">
        <p class="one-line file-name" title={name}>
          <PersonText>{name}</PersonText>
        </p>
        {failure === null ? (
          <p class="small quiet">{sizeWords(size)}</p>
        ) : (
          <p class="field-error" role="alert">
            {failure.message}
          </p>
        )}
        {attachment === null && failure === null && (
          <progress max={1} value={progress} aria-label={`Uploading ${name}`} />
        )}
      </div>
      {failure !== null && failure.status !== 413 && (
        <Button variant="quiet" icon="again" isIconOnly onClick={() => uploads.retry(key)}>
          {COMMON.tryAgain}
        </Button>
      )}
      <Button variant="quiet" icon="cross" isIconOnly onClick={() => uploads.remove(key)}>
        {`Remove ${name}`}
      </Button>
    </div>
  )
}
