// Stores a device's messages and their files. Bytes are copied before the transaction that refers to them.

import { safeFilename } from '../attachments/filename.ts'
import type { AttachmentStore, StoredFile } from '../attachments/store.ts'
import { deviceHandle } from '../domain/handle.ts'
import { derivedId, guidFromBytes, timestamp, uuidV7, type ConversationId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageExtras, ReplyTarget } from '../domain/message-extras.ts'
import { deviceTime, mendedText, type Outbound } from '../domain/message.ts'
import type { DeviceAttachment, DeviceMessage, LineEvent } from '../lines/driver.ts'
import {
  insertAttachment,
  linkAttachments,
  markParts,
  type Attachment,
} from '../storage/attachments.ts'
import { noteMessage } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { messageIdOfGuid } from '../storage/intake-records.ts'
import { findMessage, insertMessage, newMessage } from '../storage/messages.ts'
import { sha256 } from '../system/hash.ts'
import type { ReadMessage } from './spellings.ts'

const UPPER_CASE_UUID = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/

type Placed = {
  readonly device: ReadMessage
  readonly conversationId: ConversationId
  /** True if its event is published once its files have arrived, or after a while without them. */
  readonly waits: boolean
}

/** Stores a device's message and adds it to its conversation. */
export function recordMessage(
  { ids, settings }: Core,
  tx: Tx,
  line: Line,
  { device, conversationId, waits }: Placed,
): Outbound {
  const createdAt = ids.now()
  const at = deviceTime(device.at, createdAt)
  const hash = sha256(`${line.id}\0${device.guid}`)
  const { group, isFromMe } = device
  const handle = group !== undefined && isFromMe ? deviceHandle(group.identifier) : device.handle
  const message = insertMessage(
    tx,
    newMessage(
      {
        lineId: line.id,
        phoneNumber: line.number,
        handle,
        id: derivedId('msg', at, hash),
        conversationId,
        text: mendedText(device.text),
        guid: UPPER_CASE_UUID.test(device.guid) ? device.guid : guidFromBytes(uuidV7(at, hash)),
        source: 'device',
        createdAt,
      },
      {
        direction: isFromMe ? 'outbound' : 'inbound',
        status: isFromMe ? 'sent' : 'received',
        service: device.service,
        platformGuid: device.guid,
        isGroup: group !== undefined,
        extras: extrasOf(tx, line, device, conversationId),
        dueAt: waits
          ? timestamp(createdAt + settings.get('attachment_wait_seconds') * 1_000)
          : null,
        sentAt: at,
      },
    ),
  )
  noteMessage(tx, conversationId, message, createdAt)
  return message
}

function extrasOf(
  tx: Tx,
  line: Line,
  device: ReadMessage,
  conversationId: ConversationId,
): MessageExtras | null {
  const { handle, spelling, isFromMe, attachments = [], replyTo, group, withheld = null } = device
  // True if no event is published, because the message is too old or the device withheld it.
  const isHistory = device.isHistory || withheld !== null
  const hasSender = group !== undefined && !isFromMe
  const attachmentCount = eachOnce(attachments).length
  const extras = {
    ...(isHistory && { isHistory }),
    ...(spelling !== undefined && { spelling }),
    ...(attachmentCount > 0 && { attachmentCount }),
    ...(hasSender && { sender: deviceHandle(handle) }),
    ...(replyTo && { replyTo: replyIn(tx, line, conversationId, replyTo) }),
  }
  return Object.keys(extras).length === 0 ? null : extras
}

/** A reply refers only to its own conversation: nothing from another one is quoted. */
function replyIn(
  tx: Tx,
  line: Line,
  conversationId: ConversationId,
  { guid, part }: NonNullable<DeviceMessage['replyTo']>,
): ReplyTarget {
  const id = messageIdOfGuid(tx, line.id, guid)
  const target = id === null ? null : findMessage(tx, id)
  const isHere = target?.conversationId === conversationId
  return { messageId: isHere ? id : null, guid, part }
}

type FileStore = Pick<AttachmentStore, 'keep'>

/** Stored file states by the device's guid. */
export type FileStates = ReadonlyMap<string, FileState>
type FileState = Pick<Attachment, 'state'> & Partial<StoredFile>

/** Copies an event's files, before anything of the event is stored. */
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

/** Removes files with the same guid. */
function eachOnce(files: readonly DeviceAttachment[]): readonly DeviceAttachment[] {
  return [...new Map(files.map((file) => [file.guid, file])).values()]
}

/** Stores a row for each file of a device's message. Called after `keepFiles`, in the transaction of the message. */
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
