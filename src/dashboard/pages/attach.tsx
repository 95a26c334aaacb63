// Attaches files to a message that is being written: by button, drop or paste.

import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'

import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard } from '../dashboard.ts'
import { Uploads, type Upload } from '../uploads.ts'
import { fileIcon, isPicture, plainName } from '../words/attachments.ts'
import { COMMON, sizeWords } from '../words/common.ts'

export function useUploads(): Uploads {
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

type Props = { readonly uploads: Uploads }

export function AttachButton({ uploads, isIconOnly }: Props & { readonly isIconOnly?: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          uploads.add([...(currentTarget.files ?? [])])
          // Lets the same file be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
      <Button
        variant={isIconOnly === true ? 'quiet' : 'plain'}
        icon="attach"
        isIconOnly={isIconOnly}
        onClick={() => input.current?.click()}
      >
        Attach files
      </Button>
    </>
  )
}

export function AttachedFiles({ uploads }: Props) {
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

type FileProps = Props & { readonly upload: Upload }

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
