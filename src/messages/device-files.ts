// Files of received messages. The bytes are copied before the transaction of the row that has them; a
// message whose files are on their way is announced once they are here, or after a while without them.

import { safeFilename } from '../attachments/filename.ts'
import type { AttachmentStore, StoredFile } from '../attachments/store.ts'
import { derivedId } from '../domain/ids.ts'
import type { Outbound } from '../domain/message.ts'
import type { DeviceAttachment, LineEvent } from '../lines/driver.ts'
import {
  attachmentsOf,
  findDeviceAttachment,
  insertAttachment,
  linkAttachments,
  markParts,
  updateAttachment,
  type Attachment,
} from '../storage/attachments.ts'
import type { Tx } from '../storage/database.ts'
import { isPublished } from '../storage/events.ts'
import { saveMessage } from '../storage/messages.ts'
import { sha256 } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { eventIdOf, type Publish } from '../webhooks/publish.ts'

export type FileStore = Pick<AttachmentStore, 'keep'>

/** The stored states of files, by the device's guid. */
export type FileStates = ReadonlyMap<string, FileState>
type FileState = Pick<Attachment, 'state'> & Partial<StoredFile>

export type FileTools = { readonly ids: LogicalClock; readonly publish: Publish }

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

type Taken = { readonly attachment: DeviceAttachment; readonly states: FileStates }

/** The end of a file that was pending, or a file that came into its message later. */
export function takeFile(tools: FileTools, tx: Tx, message: Outbound, taken: Taken): void {
  const saved = storeFile(tools, tx, message, taken)
  const place = { messageId: message.id, deviceGuid: taken.attachment.guid }
  const attachment = findDeviceAttachment(tx, place)
  if (saved === null || attachment === null || attachment.state === 'pending') return
  if (message.dueAt !== null) {
    const isPending = attachmentsOf(tx, message.id).some(({ state }) => state === 'pending')
    if (!isPending) announceReceived(tools, tx, saved)
    return
  }
  if (!isAnnounced(tx, message)) return
  const name = attachment.state === 'available' ? 'attachment.available' : 'attachment.failed'
  tools.publish(tx, name, saved, { attachment, guid: place.deviceGuid })
}

/** The message with what is new of the file; null for nothing new. */
function storeFile(
  { ids }: FileTools,
  tx: Tx,
  message: Outbound,
  { attachment: device, states }: Taken,
): Outbound | null {
  const known = findDeviceAttachment(tx, { messageId: message.id, deviceGuid: device.guid })
  const state = states.get(device.guid)
  if (state === undefined) return null
  const now = ids.now()
  if (known === null) {
    // A message of the relay has its files from its sender.
    if (message.source !== 'device') return null
    recordFiles(tx, { ...message, createdAt: now }, [device], states)
    return saveMessage(tx, withOneMore(message), now)
  }
  if (known.state !== 'pending' || state.state === 'pending') return null
  updateAttachment(tx, known.id, state)
  return saveMessage(tx, message, now)
}

function withOneMore(message: Outbound): Outbound {
  const attachmentCount = (message.extras?.attachmentCount ?? 0) + 1
  return { ...message, extras: { ...message.extras, attachmentCount } }
}

/** True where an event has announced the message. */
export function isAnnounced(tx: Tx, { id, direction, isGroup }: Outbound): boolean {
  const step = direction === 'inbound' ? 'received' : 'sent'
  const name = isGroup ? (`group_message.${step}` as const) : (`message.${step}` as const)
  return isPublished(tx, eventIdOf(name, id))
}

/** Announces a received message, whether or not its files are here. */
export function announceReceived({ ids, publish }: FileTools, tx: Tx, message: Outbound): Outbound {
  publish(tx, 'message.received', message)
  return saveMessage(tx, { ...message, dueAt: null }, ids.now())
}
