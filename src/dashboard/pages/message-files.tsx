// The files of a message: small pictures, and cards for other files. A file is never opened as a page: its bytes are
// shown as a picture from memory, or saved.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { Attachment, MessageAttachment } from '../../api/attachments.ts'
import type { Message } from '../../api/messages.ts'
import { DownloadButton } from '../components/download-button.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { NearView } from '../components/long-list.tsx'
import { Dialog, DialogButton } from '../components/modal.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import {
  absenceWords,
  fileIcon,
  isPicture,
  largeVariant,
  mayHavePicture,
  partWords,
  plainName,
  smallVariant,
} from '../words/attachments.ts'
import { sizeWords } from '../words/common.ts'

type FileProps = { readonly file: MessageAttachment }

export function MessageFiles({ message }: { readonly message: Message }) {
  const { attachments = [] } = message
  if (attachments.length === 0) return null
  return (
    <ul class="files">
      {attachments.map((file) => {
        const fate = partWords(file, message)
        return (
          <li key={file.id}>
            {mayHavePicture(file) ? <PictureFile file={file} /> : <FileCard file={file} />}
            {fate !== null && <Badge of={fate} />}
          </li>
        )
      })}
    </ul>
  )
}

/** A file that may have a small picture, read once it comes near the view. */
function PictureFile({ file }: FileProps) {
  const isNear = useSignal(false)
  const call = isNear.value ? { params: { id: file.id } } : null
  const { now, value } = useRead('getAttachment', call, file.id)
  if (now.state === 'failed') return <FileCard file={file} />
  if (value === null) {
    return (
      <NearView within=".messages" again={null} onSeen={() => (isNear.value = true)}>
        <div class="picture" aria-hidden="true" />
      </NearView>
    )
  }
  const small = smallVariant(value)
  if (small === null) return <FileCard file={file} facts={value} />
  return <Picture file={value} small={small} />
}

function Picture({ file, small }: { readonly file: Attachment; readonly small: Variant }) {
  const isOpen = useSignal(false)
  const address = usePicture(file.id, small)
  const variant = largeVariant(file)
  const name = plainName(file.filename)
  const picture =
    address === null ? <Icon name={fileIcon(file)} /> : <img src={address} alt={name} />
  if (variant === null) {
    return (
      <>
        <div class="picture">{picture}</div>
        <FileCard file={file} />
      </>
    )
  }
  return (
    <>
      <button
        type="button"
        class="picture"
        aria-label={`Open ${name}`}
        onClick={() => (isOpen.value = true)}
      >
        {picture}
      </button>
      {isOpen.value && (
        <LargePicture file={file} variant={variant} onClose={() => (isOpen.value = false)} />
      )}
    </>
  )
}

type Variant = Attachment['variants'][number]

type LargeProps = {
  readonly file: Attachment
  readonly variant: Variant
  readonly onClose: () => void
}

function LargePicture({ file, variant, onClose }: LargeProps) {
  const address = usePicture(file.id, variant)
  const name = plainName(file.filename)
  return (
    <Dialog
      isWide
      title={<PersonText>{name}</PersonText>}
      onClose={onClose}
      actions={<Download file={file} />}
    >
      <div class="picture-large">
        {address === null ? <p role="status">Loading…</p> : <img src={address} alt={name} />}
      </div>
    </Dialog>
  )
}

function FileCard({ file, facts }: FileProps & { readonly facts?: Attachment | undefined }) {
  const absence = absenceWords(file)
  const variant = facts === undefined ? null : largeVariant(facts)
  return (
    <div class={`file-card tone-${absence?.tone ?? 'plain'}`}>
      <Icon name={fileIcon(file)} />
      <div class="grow">
        <p class="one-line file-name" title={plainName(file.filename)}>
          <PersonText>{plainName(file.filename)}</PersonText>
        </p>
        <p class="small quiet">
          {[file.size === null ? null : sizeWords(file.size), absence?.text]
            .filter((words) => words)
            .join(' · ')}
        </p>
      </div>
      {facts !== undefined && variant !== null && (
        <DialogButton
          variant="quiet"
          icon="eye"
          isIconOnly
          dialog={(onClose) => <LargePicture file={facts} {...{ variant, onClose }} />}
        >
          Open
        </DialogButton>
      )}
      {absence === null && <Download file={file} isIconOnly />}
    </div>
  )
}

type DownloadProps = {
  readonly file: Pick<MessageAttachment, 'id' | 'filename'>
  readonly isIconOnly?: boolean | undefined
}

function Download({ file, isIconOnly }: DownloadProps) {
  const call = { params: { id: file.id } }
  return (
    <DownloadButton
      variant="quiet"
      isIconOnly={isIconOnly}
      id="downloadAttachment"
      name={file.filename}
      call={call}
    >
      Download
    </DownloadButton>
  )
}

/** The blob URL of a picture's variant; null until it is loaded. */
function usePicture(id: string, variant: Variant): string | null {
  const { api } = useDashboard()
  const address = useSignal<string | null>(null)
  useEffect(() => {
    const end = new AbortController()
    const read = async () => {
      const query = { variant }
      const call = { params: { id }, query, signal: end.signal }
      const answer = await api.bytes('downloadAttachment', call)
      // A blob URL has this page's origin: opened in a new tab, it must not run scripts.
      if (!answer.ok || end.signal.aborted || !isPicture(answer.value.type)) return
      address.value = URL.createObjectURL(answer.value)
    }
    void read()
    return () => {
      end.abort()
      if (address.value !== null) URL.revokeObjectURL(address.value)
      address.value = null
    }
  }, [api, id, variant])
  return address.value
}
