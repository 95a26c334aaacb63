// The tables of attachments; `schema.ts` has the rules.

import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import { ATTACHMENT_STATES, type AttachmentState } from '../domain/attachment.ts'
import type { AttachmentId, MessageId } from '../domain/ids.ts'
import { DIRECTIONS, type Direction } from '../domain/message.ts'
import type { CallerId } from '../domain/permissions.ts'
import { at, checkWord, flag } from './columns.ts'

/** Files sent with messages; their bytes are in `attachments/` of the data directory. */
export const attachments = sqliteTable(
  'attachments',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').$type<AttachmentId>().notNull().unique(),
    /** Base name without control characters, of 255 bytes at most. */
    filename: text('filename').notNull(),
    /** Detected from the file; until it is here, from `declaredType`. */
    mimeType: text('mime_type').notNull(),
    /** The type that the uploader or the device gave. */
    declaredType: text('declared_type'),
    /** In bytes; null until known. */
    size: integer('size'),
    /** Lower-case hex; null until the bytes are here. */
    sha256: text('sha256'),
    width: integer('width'),
    height: integer('height'),
    durationMs: integer('duration_ms'),
    direction: text('direction').$type<Direction>().notNull(),
    state: text('state').$type<AttachmentState>().notNull(),
    /** The first message that it belongs to; null for an upload that no message uses. */
    messageId: text('message_id').$type<MessageId>(),
    /** The device's identifier, unique in its message; null for an upload. */
    deviceGuid: text('device_guid'),
    /** The caller who uploaded it; empty for other files, and for uploads from before callers were stored. */
    caller: text('caller').$type<CallerId | ''>().notNull().default(''),
    uploadKey: text('upload_key'),
    createdAt: at('created_at').notNull(),
    /** The time at which an upload that no message uses is deleted; null once used. */
    expiresAt: at('expires_at'),
  },
  (t) => [
    checkWord('direction', DIRECTIONS),
    checkWord('state', ATTACHMENT_STATES),
    uniqueIndex('attachments_by_upload_key')
      .on(t.caller, t.uploadKey)
      .where(sql`upload_key IS NOT NULL`),
    index('attachments_by_sha256').on(t.sha256),
    index('attachments_by_expiry')
      .on(t.expiresAt)
      .where(sql`expires_at IS NOT NULL`),
    index('attachments_pending')
      .on(t.createdAt)
      .where(sql`state = 'pending'`),
  ],
)

/** The attachments of each message, in order. One upload may be in many messages. */
export const messageAttachments = sqliteTable(
  'message_attachments',
  {
    messageId: text('message_id').$type<MessageId>().notNull(),
    position: integer('position').notNull(),
    attachmentSeq: integer('attachment_seq')
      .notNull()
      .references(() => attachments.seq),
    /** True if the device's row proves that it was sent; null while that isn't known. */
    isSent: flag('is_sent'),
  },
  (t) => [
    primaryKey({ columns: [t.messageId, t.position] }),
    index('message_attachments_by_attachment').on(t.attachmentSeq),
  ],
)
