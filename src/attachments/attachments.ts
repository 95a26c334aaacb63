// Attachments for the API: uploads, files fetched by URL, downloads in several variants, and links.

import { createHmac } from 'node:crypto'

import type { Attachment as AttachmentResource, Link, Variant } from '../api/attachments.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { parseId, timestamp, type AttachmentId, type Timestamp } from '../domain/ids.ts'
import type { CallerId } from '../domain/permissions.ts'
import { DAY_MS } from '../domain/time.ts'
import {
  fileFields,
  findAttachment,
  isNeeded,
  isUnderWay,
  someFiles,
  updateAttachment,
  type Attachment,
} from '../storage/attachments.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import { equalBytes } from '../system/hash.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import { filenameIn, safeFilename, withEnding } from './filename.ts'
import type { AttachmentStore, StoredFile } from './store.ts'
import { recordUpload } from './uploads.ts'
import { Variants, type Form, type FindTool } from './variants.ts'

/** Follows the rules for webhook targets. Throws what `read` throws; `why` says why nothing was read. */
type Download = <T>(
  url: string,
  read: (response: Response) => Promise<T>,
  isPublicOnly?: boolean,
) => Promise<{ readonly value: T } | { readonly why: string; readonly isPassing?: true }>

export type Upload = {
  readonly bytes: AsyncIterable<Uint8Array>
  /** In bytes, by the Content-Length; null without one, and for a form. */
  readonly length: number | null
  /** The least that the file can have by the Content-Length, in bytes. */
  readonly leastLength: number
  readonly filename: string | null
  readonly declaredType: string | null
  readonly caller: CallerId
  readonly idempotencyKey: string | null
}

export type Content = Omit<Form, 'extension'> & { readonly filename: string; readonly etag: string }

const MB = 1_024 ** 2
const GB = 1_024 ** 3
export const FETCHED_BYTES_MAX = 25 * MB
const QUOTA_SHARE_WARNED = 0.9
export const LINK_MS_MAX = 7 * DAY_MS

export class Attachments {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Attachments>[1]
  readonly #variants: Variants
  /** Signs links: nothing about them is stored, and a new secret key ends them all. */
  readonly #linkKey: Uint8Array

  constructor(
    core: Core,
    deps: {
      readonly store: AttachmentStore
      readonly secretKey: Uint8Array
      readonly disk: { requireRoom(): void }
      readonly download: Download
      readonly serverUrl: () => string
      /** Replaces how conversion tools of this machine are found. */
      readonly findTool?: FindTool | undefined
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#variants = new Variants(core.clock, deps.store, deps.findTool)
    this.#linkKey = signature(deps.secretKey, 'attachment-link')
  }

  /** Stores an upload. `isReplay`: its idempotency key brought the same file before. */
  async upload(upload: Upload) {
    this.#deps.disk.requireRoom()
    const { bytes, declaredType, caller, idempotencyKey } = upload
    const file = await this.#deps.store.write(bytes, {
      maxBytes: this.#maxBytes(),
      declaredBytes: upload.length,
      leastBytes: upload.leastLength,
      declaredType,
    })
    const filename = safeFilename(upload.filename, file.mimeType)
    const named = { filename, declaredType, caller, idempotencyKey }
    const { attachment, isReplay } = await recordUpload(this.#core, file, named)
    return { resource: resource(attachment, this.#variants), isReplay }
  }

  /** Fetches a file for a message. Throws `attachment_fetch_failed` if it can't. */
  async fetch({ url, filename, caller, isPublicOnly }: FetchRequest): Promise<Attachment> {
    this.#deps.disk.requireRoom()
    const { file, declaredType, name } = await this.#fetchFile(url, isPublicOnly)
    const found = withEnding(safeFilename(name ?? lastPart(url)), file.mimeType)
    const given = filename === null ? found : safeFilename(filename, file.mimeType)
    const named = { filename: given, declaredType, caller, idempotencyKey: null }
    return (await recordUpload(this.#core, file, named)).attachment
  }

  get(id: string): AttachmentResource {
    const attachment = requireAttachment(this.#core.db, id)
    return resource(withTrueState(this.#deps.store, attachment), this.#variants)
  }

  async content(id: string, variant: Variant): Promise<Content> {
    const attachment = this.#requireBytes(id)
    const { sha256, size, filename, mimeType } = attachment
    const path = this.#deps.store.pathOf(sha256)
    const original = { path, size, mimeType, extension: null }
    const form =
      variant === 'original'
        ? original
        : await this.#variants.form({ ...original, sha256 }, variant)
    const etag = form.path === path ? `"${sha256}"` : `"${sha256}-${variant}"`
    return { ...form, filename: renamed(filename, form.extension), etag }
  }

  /** Deletes an attachment's bytes; its row stays. */
  async remove(id: string, origin: Origin): Promise<void> {
    const { db, writer, audit } = this.#core
    const sha256 = await writer.write((tx) => {
      const attachment = requireAttachment(tx, id)
      audit.record(tx, origin, { action: 'attachment.deleted', about: aboutOf(attachment) })
      return deleteBytes(tx, attachment)
    })
    if (sha256 !== null) await this.#deps.store.release(sha256, (hash) => isNeeded(db, hash))
  }

  sweep(signal: AbortSignal): Promise<void> {
    return this.#deps.store.sweep((sha256) => isNeeded(this.#core.db, sha256), signal)
  }

  /** Warns if the attachment quota is nearly used up or files are missing. */
  findings(): readonly Finding[] {
    const quota = this.#core.settings.get('attachment_quota_gb') * GB
    const used = this.#deps.store.usedBytes
    const looked = someFiles(this.#core.db)
    const gone = looked.filter((file) => !this.#deps.store.has(file)).length
    return [
      ...(used < quota * QUOTA_SHARE_WARNED ? [] : [quotaFinding(used, quota)]),
      ...(gone === 0 ? [] : [missingFilesFinding(gone, looked.length)]),
    ]
  }

  /** A signed URL for an event created at `since`; every attempt sends the same one. */
  downloadUrl(id: AttachmentId, since: Timestamp): string {
    return this.#urlOf(id, timestamp(since + LINK_MS_MAX))
  }

  /** The attachment of a link; throws if the link is forged or expired. */
  idOfLink(token: string): AttachmentId {
    const [, rest = '', end = '', mac = ''] = TOKEN.exec(token) ?? []
    const expected = signature(this.#linkKey, `${rest}.${end}`)
    const isOurs = equalBytes(Buffer.from(mac, 'base64url'), expected)
    const isOver = Number.parseInt(end, 36) <= this.#core.clock.now()
    const id = isOurs && !isOver ? parseId('att', `att_${rest}`) : null
    if (id !== null) return id
    throw new RelayError('not_found', 'This link is not valid, or no longer.')
  }

  async link(id: string, seconds: number, origin: Origin): Promise<Link> {
    const { writer, ids, audit } = this.#core
    const attachment = this.#requireBytes(id)
    const expiresAt = timestamp(ids.now() + seconds * 1_000)
    const expires_at = isoTime(expiresAt)
    const about = aboutOf(attachment)
    await writer.write((tx) =>
      audit.record(tx, origin, { action: 'attachment.linked', about, after: { expires_at } }),
    )
    return { url: this.#urlOf(attachment.id, expiresAt), expires_at }
  }

  #urlOf(id: AttachmentId, expiresAt: Timestamp): string {
    const signed = `${id.slice(id.indexOf('_') + 1)}.${expiresAt.toString(36)}`
    const mac = signature(this.#linkKey, signed).toBase64(URL_SAFE)
    return `${this.#deps.serverUrl()}/a/${signed}.${mac}`
  }

  #requireBytes(id: string): CompleteFile {
    return requireBytes(this.#deps.store, requireAttachment(this.#core.db, id))
  }

  #maxBytes(): number {
    return this.#core.settings.get('attachment_max_mb') * MB
  }

  async #fetchFile(url: string, isPublicOnly: boolean): Promise<Fetched> {
    const maxBytes = Math.min(this.#maxBytes(), FETCHED_BYTES_MAX)
    const fetched = await this.#deps.download(
      url,
      async ({ body, headers }): Promise<Fetched | null> => {
        if (body === null) return null
        const declaredType = headers.get('content-type')
        try {
          const limits = { maxBytes, declaredBytes: null, declaredType }
          const file = await this.#deps.store.write(body, limits)
          return { file, declaredType, name: filenameIn(headers.get('content-disposition') ?? '') }
        } catch (error) {
          throw isCausedByFile(error) ? fetchFailed(url, error.message) : error
        }
      },
      isPublicOnly,
    )
    if ('why' in fetched) throw fetchFailed(url, fetched.why, fetched.isPassing)
    if (fetched.value === null) throw fetchFailed(url, 'The answer has no body.')
    return fetched.value
  }
}

/** A link's id and expiry, and their signature under the relay's secret key. */
const TOKEN = /^([0-9a-z]{26})\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/
const URL_SAFE = { alphabet: 'base64url', omitPadding: true } as const

function signature(key: Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest()
}

const aboutOf = ({ id }: Attachment) => ({ kind: 'attachment', id }) as const

export function requireAttachment(db: Db, id: string): Attachment {
  const found = findAttachment(db, { id })
  if (found !== null) return found
  throw noAttachment()
}

export function noAttachment(): RelayError {
  return new RelayError('attachment_not_found', 'There is no attachment with this id.')
}

type CompleteFile = Attachment & { readonly sha256: string; readonly size: number }

/** Throws if the attachment's bytes aren't here. */
export function requireBytes(store: FilesHere, attachment: Attachment): CompleteFile {
  const { state, sha256, size } = withTrueState(store, attachment)
  if (state === 'available' && sha256 !== null && size !== null)
    return { ...attachment, sha256, size }
  if (state === 'pending') throw notReady()
  throw new RelayError('attachment_gone', MISSING_REASONS[state])
}

function notReady(): RelayError {
  return new RelayError('attachment_not_ready', 'The file has not arrived on the device yet.', {
    retryAfterSeconds: 10,
  })
}

const MISSING_REASONS: Readonly<Record<Exclude<Attachment['state'], 'pending'>, string>> = {
  available: 'The file is not in the data directory.',
  failed: 'The device could not get the file.',
  missing: 'The file is not in the data directory, and no longer on the device.',
  not_kept: 'The room for attachments was full when the file arrived.',
  deleted: 'The file was deleted.',
}

type FilesHere = Pick<AttachmentStore, 'has'>

/** With the actual state of the file: the owner may delete or restore files by hand. */
function withTrueState<T extends Attachment>(store: FilesHere, attachment: T): T {
  const { sha256, state } = attachment
  if (sha256 === null || (state !== 'available' && state !== 'missing')) return attachment
  return { ...attachment, state: store.has(attachment) ? 'available' : 'missing' }
}

function resource(attachment: Attachment, variants: Variants): AttachmentResource {
  const { state, mimeType, expiresAt } = attachment
  return {
    ...fileFields(attachment),
    declared_type: attachment.declaredType,
    sha256: attachment.sha256,
    width: attachment.width,
    height: attachment.height,
    duration_ms: attachment.durationMs,
    direction: attachment.direction,
    message_id: attachment.messageId,
    variants: state === 'available' ? variants.of(mimeType) : [],
    created_at: isoTime(attachment.createdAt),
    expires_at: isoTimeOrNull(expiresAt),
  }
}

type FetchRequest = {
  readonly url: string
  readonly filename: string | null
  readonly caller: CallerId
  readonly isPublicOnly: boolean
}

type Fetched = {
  readonly file: StoredFile
  readonly declaredType: string | null
  /** The name in `Content-Disposition`. */
  readonly name: string | null
}

/** True if the file's content caused the error. */
function isCausedByFile(error: unknown): error is RelayError {
  const codes: readonly string[] = ['payload_too_large', 'invalid_request']
  return error instanceof RelayError && codes.includes(error.code)
}

const FETCH_RETRY_SECONDS = 60

function fetchFailed(url: string, why: string, isPassing = false): RelayError {
  const message = `The attachment could not be fetched. ${why}`
  const retryAfterSeconds = isPassing ? FETCH_RETRY_SECONDS : undefined
  return new RelayError('attachment_fetch_failed', message, { details: { url }, retryAfterSeconds })
}

function lastPart(url: string): string | null {
  const part = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    return part ?? null
  }
}

/** Marks an attachment as deleted. Returns the hash of the file to delete, if any. */
function deleteBytes(tx: Tx, attachment: Attachment): string | null {
  const { id, state, sha256 } = attachment
  if (state === 'pending') throw notReady()
  if (isUnderWay(tx, id)) {
    throw new RelayError('attachment_in_use', 'A message with this attachment is under way.')
  }
  if (state === 'available') updateAttachment(tx, id, { state: 'deleted' })
  return sha256
}

function renamed(filename: string, extension: string | null): string {
  return extension === null ? filename : `${filename.replace(/\.[^.]{1,8}$/, '')}.${extension}`
}

function quotaFinding(used: number, quota: number): Finding {
  const share = Math.min(100, Math.round((used / quota) * 100))
  return {
    code: 'attachment_quota',
    severity: share === 100 ? 'error' : 'warning',
    title: 'The room for attachments is almost full',
    why:
      `${share} % of ${quota / GB} GB are used. When it is full, uploads are refused, and of received ` +
      'files only name and size are kept.',
    fix: 'Raise the setting attachment_quota_gb, or let files go earlier by attachment_retention_days.',
    key: null,
    depends_on: null,
  }
}

function missingFilesFinding(gone: number, looked: number): Finding {
  return {
    code: 'attachments_missing',
    severity: 'error',
    title: 'Files of messages are missing',
    why:
      `Of ${looked} files that were looked at, ${gone} are not in the folder "attachments" of the data directory, ` +
      'or not whole: they were deleted or damaged, or the disk of the folder is not mounted.',
    fix: 'Mount the disk, or put the files back from a backup. Upload files again that are to be sent.',
    key: null,
    depends_on: null,
  }
}
