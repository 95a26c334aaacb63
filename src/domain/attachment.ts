// Files that travel with messages. The bytes lie in the data directory under their SHA-256; a row says
// what is known of one file, and whether its bytes are here.

import type { AttachmentId, MessageId, Timestamp } from './ids.ts'
import type { Direction } from './message.ts'

export const ATTACHMENT_STATES = [
  /** The device has announced the file and not got it yet. */
  'pending',
  'available',
  /** The device could not get it. */
  'failed',
  /** The device or a restored backup does not have it any more. */
  'missing',
  /** The quota was full: its name and size are all that is known. */
  'not_kept',
  /** Deleted by retention or by a caller; the metadata stays. */
  'deleted',
] as const
export type AttachmentState = (typeof ATTACHMENT_STATES)[number]

export type Attachment = {
  readonly id: AttachmentId
  /** Base name without control characters, of 255 bytes at most. */
  readonly filename: string
  /** By the first bytes of the file; by `declaredType` until they are here. */
  readonly mimeType: string
  /** As the uploader or the device said. */
  readonly declaredType: string | null
  /** In bytes; null until known. */
  readonly size: number | null
  /** Lower-case hex; null until the bytes are here. */
  readonly sha256: string | null
  readonly width: number | null
  readonly height: number | null
  readonly durationMs: number | null
  readonly direction: Direction
  readonly state: AttachmentState
  /** The first message that it belongs to; null for an upload that no message uses. */
  readonly messageId: MessageId | null
  /** The device's own name of it, unique in its message; null for an upload. */
  readonly deviceGuid: string | null
  readonly createdAt: Timestamp
  /** The time at which an upload that no message uses is deleted; null once used. */
  readonly expiresAt: Timestamp | null
}

/** An attachment in its message, in the order of the message. */
export type MessageAttachment = Attachment & {
  /** True once its own row of the device proves that it was sent; null while nobody can say. */
  readonly isSent: boolean | null
}

/** Attachments of one message. */
export const ATTACHMENTS_MAX = 10
/** An upload that no message uses is deleted after this. */
export const UNUSED_UPLOAD_MS_MAX = 24 * 3_600_000
export const FILENAME_BYTES_MAX = 255
