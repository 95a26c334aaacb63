// Files of received messages. The bytes are copied before the transaction of the row that has them.

import { safeFilename } from '../attachments/filename.ts'
import type { AttachmentStore, StoredFile } from '../attachments/store.ts'
import type { Attachment } from '../domain/attachment.ts'
import { derivedId } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import type { DeviceAttachment, LineEvent } from '../lines/driver.ts'
import { insertAttachment, linkAttachments, markParts } from '../storage/attachments.ts'
import type { Tx } from '../storage/database.ts'
import { sha256 } from '../system/hash.ts'

type FileStore = Pick<AttachmentStore, 'keep'>

/** The stored states of files, by the device's guid. */
export type FileStates = ReadonlyMap<string, FileState>
type FileState = Pick<Attachment, 'state'> & Partial<StoredFile>

/** Copies the files that an event has; nothing of the event is stored before. */
export async function keepFiles(store: FileStore, event: LineEvent): Promise<FileStates> {
  const states = new Map<string, FileState>()
  for (const file of filesOf(event)) states.set(file.guid, await keepFile(store, file))
  return states
}

export function filesOf(event: LineEvent): readonly DeviceAttachment[] {
  if (event.type === 'attachment') return [event.attachment]
  return event.type === 'message' ? (event.message.attachments ?? []) : []
}

async function keepFile(
  store: FileStore,
  { file, declaredType }: DeviceAttachment,
): Promise<FileState> {
  if (file.state !== 'available') return { state: file.state }
  const kept = await store.keep(file.path, declaredType)
  if (kept === 'missing') return { state: 'missing' }
  return kept === 'quota' ? { state: 'not_kept' } : { state: 'available', ...kept }
}

/** The files of a message, each guid once. */
export function eachOnce(files: readonly DeviceAttachment[]): readonly DeviceAttachment[] {
  return [...new Map(files.map((file) => [file.guid, file])).values()]
}

/** Stores the files of a message that was recorded now. */
export function recordFiles(
  tx: Tx,
  message: Outbound,
  files: readonly DeviceAttachment[],
  states: FileStates,
): void {
  const ids = eachOnce(files).map((file) => {
    const attachment = attachmentOf(message, file, states.get(file.guid))
    insertAttachment(tx, { ...attachment, caller: '', uploadKey: null })
    return attachment.id
  })
  linkAttachments(tx, message.id, ids)
  if (message.direction === 'outbound') markParts(tx, message.id, ids, true)
}

function attachmentOf(
  { id, direction, sentAt, createdAt, lineId }: Outbound,
  { guid, filename, declaredType, size }: DeviceAttachment,
  state: FileState = { state: 'missing' },
): Attachment {
  return {
    id: derivedId('att', sentAt ?? createdAt, sha256(`${lineId}\0${id}\0${guid}`)),
    filename: safeFilename(filename),
    mimeType: declaredType ?? 'application/octet-stream',
    declaredType,
    size,
    sha256: null,
    width: null,
    height: null,
    durationMs: null,
    ...state,
    direction,
    messageId: id,
    deviceGuid: guid,
    createdAt,
    expiresAt: null,
  }
}
