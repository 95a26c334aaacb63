// Files, groups and changes as the ledger keeps them in JSON, and the events that a line makes of them.

import { deviceHandle, type Handle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type { DeviceAttachment, DeviceChange, DeviceGroup, LineEvent } from '../../driver.ts'
import type { FileRef, SimulatedFiles } from './files.ts'
import type { Chat, NetworkEvent } from './ledger-tables.ts'

/** A file of a message; only one that is there has a hash. */
export type StoredAttachment = Pick<FileRef, 'filename' | 'declaredType'> & {
  readonly guid: string
  readonly size: number | null
} & (
    | { readonly state: 'available'; readonly sha256: string }
    | { readonly state: 'pending' | 'failed' | 'missing' }
  )

/** The rest of a message, left out where there is none. */
export type MessageDetails = {
  readonly service?: string | undefined
  readonly attachments?: readonly StoredAttachment[] | undefined
  readonly group?: DeviceGroup | undefined
  /** The sender of a group's message. */
  readonly sender?: Handle | undefined
  readonly replyTo?: { readonly guid: string; readonly part: number } | undefined
}

/** The end of a file's wait. */
export type AttachmentDetails = {
  readonly messageGuid: string
  readonly attachment: StoredAttachment
}

type WithoutRow<Change> = Change extends unknown ? Omit<Change, 'guid' | 'at' | 'isHistory'> : never
export type ChangeDetails = WithoutRow<DeviceChange>

type Published = Extract<
  LineEvent,
  { readonly type: 'message' | 'receipt' | 'attachment' | 'change' }
>

/** Receipts of history are left out: no send waits for them. So are the ends of files, which it has not. */
export function lineEventsOf(
  event: NetworkEvent,
  historyUntil: number,
  files: SimulatedFiles,
): readonly Published[] {
  const { kind, guid } = event
  const at = timestamp(event.at)
  const isHistory = event.seq <= historyUntil
  const details = JSON.parse(event.details ?? '{}') as unknown
  switch (kind) {
    case 'message': {
      const message = messageOf(event, details as MessageDetails, { isHistory, files })
      return [{ type: 'message', message, checkpoint: null }]
    }
    case 'change': {
      const change = details as ChangeDetails // Written by this network, as all details.
      return [{ type: 'change', change: { guid, at, isHistory, ...change }, checkpoint: null }]
    }
    case 'attachment': {
      const { messageGuid, attachment } = details as AttachmentDetails
      const device = deviceAttachment(attachment, files)
      const end = { type: 'attachment', messageGuid, attachment: device, checkpoint: null } as const
      return isHistory ? [] : [end]
    }
    case 'sent':
    case 'delivered':
    case 'read': {
      const receipt = { guid, kind, at, reason: null }
      return isHistory ? [] : [{ type: 'receipt', receipt, checkpoint: null }]
    }
  }
}

function messageOf(
  { guid, handle, text, at }: NetworkEvent,
  { service = 'iMessage', attachments, group, sender, replyTo }: MessageDetails,
  { isHistory, files }: { readonly isHistory: boolean; readonly files: SimulatedFiles },
) {
  // Of history, names and sizes only: years of files would fill the quota.
  const fileOf = (stored: StoredAttachment): DeviceAttachment => {
    const device = deviceAttachment(stored, files)
    return isHistory ? { ...device, file: { state: 'not_kept' } } : device
  }
  return {
    guid,
    handle: deviceHandle(handle ?? sender ?? ''),
    text: text ?? '',
    isFromMe: false,
    service,
    at: timestamp(at),
    isHistory,
    ...(attachments === undefined ? {} : { attachments: attachments.map(fileOf) }),
    ...(group === undefined ? {} : { group }),
    ...(replyTo === undefined ? {} : { replyTo }),
  }
}

function deviceAttachment(stored: StoredAttachment, files: SimulatedFiles): DeviceAttachment {
  const { guid, filename, declaredType, size, state } = stored
  const device = { guid, filename, declaredType, size }
  if (state !== 'available') return { ...device, file: { state } }
  if (!files.has(stored.sha256)) return { ...device, file: { state: 'missing' } }
  return { ...device, file: { state, path: files.pathOf(stored.sha256) } }
}

/** The entry of a group in the ledger. */
export function chatOf(line: string, group: DeviceGroup, isLeft = false): Chat {
  const { participants, ...rest } = group
  return { ...rest, line, participants: JSON.stringify(participants), isLeft: isLeft ? 1 : 0 }
}

export function groupOf({ chatGuid, identifier, name, participants }: Chat): DeviceGroup {
  // Written by `chatOf`.
  return { chatGuid, identifier, name, participants: JSON.parse(participants) as Handle[] }
}
