// Events of the simulated network, in the form that its file stores (files, groups and changes in JSON), and in the
// form that a line publishes.

import { deviceHandle, type Handle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import type {
  DeviceAttachment,
  DeviceChange,
  DeviceGroup,
  DeviceMessage,
  LineEvent,
} from '../../driver.ts'
import type { FileRef, SimulatedFiles } from './files.ts'
import type { NetworkEvent, PendingEvent } from './ledger.ts'

/** `sha256` is set only if the file is available. */
export type StoredAttachment = Omit<DeviceAttachment, 'file'> & {
  readonly state: 'available' | 'pending' | 'failed' | 'missing'
  readonly sha256?: string | undefined
}

/** The fields that a plain direct text doesn't have. */
export type MessageDetails = Pick<DeviceMessage, 'group' | 'replyTo'> & {
  readonly service?: string | undefined
  readonly attachments?: readonly StoredAttachment[] | undefined
  /** The sender of a group message. */
  readonly sender?: Handle | undefined
}

/** The end of a pending file. */
type AttachmentDetails = { readonly messageGuid: string; readonly attachment: StoredAttachment }

type WithoutRow<Change> = Change extends unknown ? Omit<Change, 'guid' | 'at' | 'isHistory'> : never
export type ChangeDetails = WithoutRow<DeviceChange>

/** The origin of a message to a line: its sender, and the group if there is one. */
export type Sender = {
  readonly line: string
  readonly from: string
  readonly group: DeviceGroup | undefined
  /** Null for the network's own service. */
  readonly service: string | null
  readonly at: number
}

export function messageFrom(
  { line, from, group, service, at }: Sender,
  guid: string,
  text: string,
  { attachments = [], replyTo }: Pick<MessageDetails, 'attachments' | 'replyTo'> = {},
): PendingEvent {
  const details: MessageDetails = {
    ...(service === null ? {} : { service }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(group === undefined ? {} : { group, sender: deviceHandle(from) }),
    ...(replyTo === undefined ? {} : { replyTo }),
  }
  // A direct text, which most messages are, has no JSON. A group's row never has the handle of a direct one.
  const json = Object.keys(details).length === 0 ? null : JSON.stringify(details)
  const handle = group === undefined ? from : null
  return { line, kind: 'message', guid, handle, text, details: json, at }
}

/** An event about `guid`: a receipt, the end of a pending file, or a change. */
export function eventAbout(
  kind: Exclude<PendingEvent['kind'], 'message'>,
  place: Pick<PendingEvent, 'line' | 'guid' | 'at'>,
  details: AttachmentDetails | ChangeDetails | null = null,
): PendingEvent {
  const json = details === null ? null : JSON.stringify(details)
  return { ...place, kind, handle: null, text: null, details: json }
}

export function available(file: FileRef, guid: string): StoredAttachment {
  return { guid, ...file, state: 'available' }
}

/** A file that is announced now and arrives at `place.at`; if `file` is null, it never arrives. */
export function fileThatWaits(
  file: FileRef | null,
  place: Pick<PendingEvent, 'line' | 'guid' | 'at'>,
  messageGuid: string,
  filename = 'IMG_0002.JPG',
): { readonly now: StoredAttachment; readonly later: PendingEvent } {
  const { guid } = place
  const known = { guid, filename, declaredType: 'image/jpeg', size: null }
  const attachment: StoredAttachment =
    file === null ? { ...known, state: 'failed' } : available({ ...file, filename }, guid)
  const later = eventAbout('attachment', place, { messageGuid, attachment })
  return { now: { ...known, state: 'pending' }, later }
}

/** The line's events for a network event. History has no receipts, which no send awaits, and no pending files. */
export function lineEventsOf(
  event: NetworkEvent,
  historyUntil: number,
  files: SimulatedFiles,
): readonly Extract<LineEvent, { readonly checkpoint: string | null }>[] {
  const { kind, guid } = event
  const at = timestamp(event.at)
  const isHistory = event.seq <= historyUntil
  const details = JSON.parse(event.details ?? '{}') as unknown // The functions above wrote it.
  switch (kind) {
    case 'message': {
      const message = messageOf(event, details as MessageDetails, { isHistory, files })
      return [{ type: 'message', message, checkpoint: null }]
    }
    case 'change': {
      const change = { guid, at, isHistory, ...(details as ChangeDetails) }
      return [{ type: 'change', change, checkpoint: null }]
    }
    case 'attachment': {
      const { messageGuid, attachment: stored } = details as AttachmentDetails
      const attachment = deviceAttachment(stored, files)
      return isHistory ? [] : [{ type: 'attachment', messageGuid, attachment, checkpoint: null }]
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
  { service = 'iMessage', attachments, sender, ...rest }: MessageDetails,
  { isHistory, files }: { readonly isHistory: boolean; readonly files: SimulatedFiles },
): DeviceMessage {
  // In history, only names and sizes are kept: years of files would fill the quota.
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
    ...rest,
  }
}

function deviceAttachment(stored: StoredAttachment, files: SimulatedFiles): DeviceAttachment {
  const { state, sha256 = '', ...device } = stored
  if (state !== 'available') return { ...device, file: { state } }
  if (!files.has(sha256)) return { ...device, file: { state: 'missing' } }
  return { ...device, file: { state, path: files.pathOf(sha256) } }
}
