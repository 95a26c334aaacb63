// Files that travel with messages. The bytes lie in the data directory under their SHA-256; a row says
// what is known of one file, and whether its bytes are here.

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

/** Attachments of one message. */
export const ATTACHMENTS_MAX = 10
/** An upload that no message uses is deleted after this. */
export const UNUSED_UPLOAD_MS_MAX = 24 * 3_600_000
export const FILENAME_BYTES_MAX = 255
