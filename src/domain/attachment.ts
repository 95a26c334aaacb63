// Files sent with messages. The bytes are in the data directory under their SHA-256; a row says what is known
// about a file, and whether its bytes are here.

export const ATTACHMENT_STATES = [
  /** The device has announced the file but doesn't have it yet. */
  'pending',
  'available',
  /** The device couldn't get it. */
  'failed',
  /** The device or a restored backup no longer has it. */
  'missing',
  /** The quota was full: only its name and size are kept. */
  'not_kept',
  /** Deleted by retention or by a caller; the metadata stays. */
  'deleted',
] as const
export type AttachmentState = (typeof ATTACHMENT_STATES)[number]

/** Most attachments of one message. */
export const ATTACHMENTS_MAX = 10
/** After this time an upload that no message uses is deleted. */
export const UNUSED_UPLOAD_MS_MAX = 24 * 3_600_000
export const FILENAME_BYTES_MAX = 255
