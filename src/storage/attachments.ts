// Rows of the files that are sent with messages. The files themselves are in attachments/store.ts.

import type { AttachmentId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import { attachments, messageAttachments } from './attachment-schema.ts'
import type { Db, Tx } from './database.ts'
import { LINE_SEQ, assigned, columnsOf, inserted, selected, type Values } from './statement.ts'

type Row = Readonly<typeof attachments.$inferSelect>

export type Attachment = Omit<Row, 'seq' | 'caller' | 'uploadKey'>

/** An attachment of a message. `isSent` is null if it isn't known. */
export type MessageAttachment = Attachment & { readonly isSent: boolean | null }

/** The fields of a file in the API and in webhook payloads. */
export function fileFields({ id, filename, mimeType, size, state }: Attachment) {
  return {
    id,
    filename,
    mime_type: mimeType,
    size,
    state,
    url: `/api/v1/attachments/${id}/content`,
  }
}

const COLUMNS = columnsOf(attachments, ['seq', 'caller', 'uploadKey'])

const insertion = `INSERT INTO attachments ${inserted(attachments, columnsOf(attachments, ['seq']))}`

export function insertAttachment(tx: Tx, attachment: Omit<Row, 'seq'>): void {
  tx.execute(insertion, attachment)
}

function attachmentWhere(condition: string): (db: Db, values: Values) => Attachment | null {
  const sql = `SELECT ${selected(attachments, COLUMNS)} FROM attachments WHERE ${condition}`
  return (db, values) => db.row<Attachment>(sql, values)
}

export const findAttachment = attachmentWhere('id = $id')

/** The caller's upload under an `Idempotency-Key`; an empty caller means an unknown one. */
export const findUpload = attachmentWhere('caller = $caller AND upload_key = $uploadKey')

export const findDeviceAttachment = attachmentWhere(
  `device_guid = $deviceGuid AND seq IN
     (SELECT attachment_seq FROM message_attachments WHERE message_id = $messageId)`,
)

type RawMember = Attachment & { readonly isSent: 0 | 1 | null }

const members = `SELECT ${selected(attachments, COLUMNS, 'a.')}, ${selected(messageAttachments, ['isSent'], 'm.')}
   FROM message_attachments m JOIN attachments a ON a.seq = m.attachment_seq
   WHERE m.message_id = $messageId ORDER BY m.position`

export function attachmentsOf(db: Db, messageId: MessageId): readonly MessageAttachment[] {
  return db.rows<RawMember>(members, { messageId }).map((row) => ({
    ...row,
    isSent: row.isSent === null ? null : row.isSent === 1,
  }))
}

/** Appends attachments to a message, in this order. From now on they don't expire. */
export function linkAttachments(tx: Tx, messageId: MessageId, ids: readonly AttachmentId[]): void {
  for (const id of ids) {
    const sql = `INSERT INTO message_attachments (message_id, position, attachment_seq, is_sent)
   SELECT $messageId, (SELECT coalesce(max(position) + 1, 0) FROM message_attachments
     WHERE message_id = $messageId), seq, NULL FROM attachments WHERE id = $id`
    tx.execute(sql, { messageId, id })
    const using = `UPDATE attachments SET message_id = coalesce(message_id, $messageId), expires_at = NULL
   WHERE id = $id`
    tx.execute(using, { messageId, id })
  }
}

/** Marks which attachments of a message were sent; all others get `rest`. */
export function markParts(
  tx: Tx,
  messageId: MessageId,
  sent: readonly AttachmentId[],
  rest: boolean | null,
): void {
  for (const { id } of attachmentsOf(tx, messageId)) {
    const sql = `UPDATE message_attachments SET is_sent = $isSent
   WHERE message_id = $messageId
     AND attachment_seq = (SELECT seq FROM attachments WHERE id = $id)`
    tx.execute(sql, { messageId, id, isSent: sent.includes(id) ? true : rest })
  }
}

/** Changes columns of a row, except `id`. */
export function updateAttachment(tx: Tx, id: AttachmentId, changes: Partial<Attachment>): void {
  const names = COLUMNS.filter((name) => name !== 'id' && Object.hasOwn(changes, name))
  if (names.length === 0) return
  const sql = `UPDATE attachments SET ${assigned(attachments, names)} WHERE id = $id`
  tx.execute(sql, { ...changes, id })
}

const awaited = `SELECT m.platform_guid AS messageGuid, a.device_guid AS attachmentGuid
   FROM attachments a INDEXED BY attachments_pending CROSS JOIN messages m ON m.id = a.message_id
   WHERE a.state = 'pending' AND a.created_at >= +$since AND a.device_guid IS NOT NULL
     AND m.line_seq = ${LINE_SEQ}
   ORDER BY a.created_at`

/** Files of a line that are still pending, recorded at `since` or later, oldest first. */
export function awaitedAttachments(
  db: Db,
  lineId: LineId,
  since: Timestamp,
): readonly { readonly messageGuid: string; readonly attachmentGuid: string }[] {
  return db.rows<{ messageGuid: string; attachmentGuid: string }>(awaited, { lineId, since })
}

export function isNeeded(db: Db, sha256: string): boolean {
  const sql = `SELECT 1 AS found FROM attachments
   WHERE sha256 = $sha256 AND state IN ('available', 'missing') LIMIT 1`
  return db.row<{ found: 1 }>(sql, { sha256 }) !== null
}

/** A sample of files that should be in the store: the oldest and the newest. */
export function someFiles(db: Db): readonly Pick<Attachment, 'sha256' | 'size'>[] {
  const rows = (['ASC', 'DESC'] as const).flatMap((order) => {
    const sql = `SELECT sha256, size, state FROM attachments WHERE seq > 0 ORDER BY seq ${order} LIMIT 50`
    return db.rows<Pick<Attachment, 'sha256' | 'size' | 'state'>>(sql, {})
  })
  const available = rows.filter(({ state }) => state === 'available')
  return [...new Map(available.map((row) => [row.sha256, row])).values()]
}

/** Called when a file was stored again: attachments with its hash are no longer missing. */
export function markFound(tx: Tx, sha256: string): void {
  const sql =
    "UPDATE attachments SET state = 'available' WHERE sha256 = $sha256 AND state = 'missing'"
  tx.execute(sql, { sha256 })
}

/** SQL: messages with the attachment `a` that may still be sent. */
const UNDER_WAY = `SELECT 1 FROM message_attachments l JOIN messages m ON m.id = l.message_id
  WHERE l.attachment_seq = a.seq AND m.status IN ('queued', 'deferred', 'sending')`

const underWay = `SELECT 1 AS found FROM attachments a WHERE a.id = $id AND EXISTS (${UNDER_WAY})`

export function isUnderWay(db: Db, id: AttachmentId): boolean {
  return db.row<{ found: 1 }>(underWay, { id }) !== null
}

/** Deletes the rows of uploads that no message used in time. */
export function deleteUnusedUploads(tx: Tx, before: Timestamp, limit: number): number {
  const sql = `DELETE FROM attachments WHERE seq IN (
     SELECT seq FROM attachments INDEXED BY attachments_by_expiry
     WHERE expires_at IS NOT NULL AND created_at < $before LIMIT $limit)`
  return tx.execute(sql, { before, limit }).changes
}

/** Deletes the attachments of a deleted message, except those that other messages have. */
export function deleteAttachmentsOf(tx: Tx, messageId: MessageId): void {
  const sql =
    'DELETE FROM message_attachments WHERE message_id = $messageId RETURNING attachment_seq AS seq'
  const deletion = `DELETE FROM attachments WHERE seq = $seq
     AND NOT EXISTS (SELECT 1 FROM message_attachments WHERE attachment_seq = $seq)`
  const linked = tx.rows<{ seq: number }>(sql, { messageId })
  for (const { seq } of linked) tx.execute(deletion, { seq })
}

const fileDeletion = `UPDATE attachments AS a SET state = 'deleted'
   WHERE seq > $after AND seq <= $last AND state = 'available' AND created_at < $before
     AND expires_at IS NULL AND NOT EXISTS (${UNDER_WAY})`

/**
 * Marks files from before a time as deleted, except those of messages that may still be sent. Most files are
 * kept, so each step continues where the last one ended, and starts over after the end.
 */
export function oldFilesPurge() {
  let after = 0
  return (tx: Tx, before: Timestamp, limit: number): number => {
    const sql = 'SELECT seq FROM attachments WHERE seq > $after ORDER BY seq LIMIT $limit'
    const passed = tx.rows<{ seq: number }>(sql, { after, limit })
    const last = passed.at(-1)?.seq ?? after
    tx.execute(fileDeletion, { after, last, before })
    after = passed.length < limit ? 0 : last
    return passed.length
  }
}
