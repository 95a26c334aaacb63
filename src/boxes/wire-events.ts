// Converts a driver's events for the link, and back.

import { statSync } from 'node:fs'

import type { Capabilities } from '../domain/line.ts'
import { mendedText } from '../domain/message.ts'
import type { DeviceAttachment, DeviceFile, LineEvent, LineSession } from '../lines/driver.ts'
import { isWireEvent, type WireEvent } from './wire.ts'

export type WireFile = Extract<WireEvent, { readonly type: 'attachment' }>['attachment']

export type Packed = {
  readonly event: WireEvent
  /** Paths of its files, by their guids. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * The event as it fits the link; `numberOf` gives the number of a session. A message or change that doesn't fit is
 * replaced by a `left_out`, so that it doesn't stop its line. Throws for any other event that doesn't fit.
 */
export function packEvent(event: LineEvent, numberOf: (session: LineSession) => number): Packed {
  const files = new Map<string, string>()
  const pack = (attachment: DeviceAttachment): WireFile => {
    const { file } = attachment
    if (file.state !== 'available') return { ...attachment, file }
    const size = statSync(file.path, { throwIfNoEntry: false })?.size
    if (size === undefined) return { ...attachment, file: { state: 'missing' } }
    files.set(attachment.guid, file.path)
    return { ...attachment, file: { state: 'available', size } }
  }
  const packed = packedEvent(event, numberOf, pack)
  if (isWireEvent(packed)) return { event: packed, files }
  const substitute = leftOut(event)
  if (!isWireEvent(substitute)) throw new Error(`The event ${event.type} does not fit the link.`)
  return { event: substitute, files: new Map() }
}

function packedEvent(
  event: LineEvent,
  numberOf: (session: LineSession) => number,
  pack: (attachment: DeviceAttachment) => WireFile,
): WireEvent {
  if (event.type === 'online') {
    const { session, ...state } = event
    return { ...state, deviceSession: numberOf(session), capacity: session.capacity }
  }
  if (event.type === 'attachment') return { ...event, attachment: pack(event.attachment) }
  if (event.type === 'message') {
    const { message } = event
    const attachments = message.attachments?.map(pack)
    return { ...event, message: { ...message, text: mendedText(message.text), attachments } }
  }
  if (event.type !== 'change' || event.change.kind !== 'edited') return event
  const { change } = event
  const edits = change.edits.map((edit) => ({ ...edit, text: mendedText(edit.text) }))
  return { ...event, change: { ...change, text: mendedText(change.text), edits } }
}

function leftOut(event: LineEvent): LineEvent | null {
  if (event.type !== 'message' && event.type !== 'change') return null
  const { guid, at } = event.type === 'message' ? event.message : event.change
  const { checkpoint } = event
  return { type: 'left_out', leftOut: { guid, at, kind: 'not_understood' }, checkpoint }
}

export type FetchedPaths = ReadonlyMap<string, string | null>

/** The files of an event whose bytes have to be fetched. */
export function filesToFetch(event: WireEvent): readonly WireFile[] {
  if (event.type !== 'message' && event.type !== 'attachment') return []
  const all = event.type === 'attachment' ? [event.attachment] : (event.message.attachments ?? [])
  return all.filter(({ file }) => file.state === 'available')
}

/**
 * The event as the relay takes it. `sessionOf` gives the session of an `online`. `paths` has the fetched files by
 * guid: null if there was no room; a file without an entry is missing.
 */
export function unpackEvent(
  event: WireEvent,
  sessionOf: (number: number, capacity: number) => LineSession,
  paths: FetchedPaths,
): LineEvent {
  const unpack = (attachment: WireFile): DeviceAttachment => {
    return { ...attachment, file: fileOf(attachment, paths) }
  }
  if (event.type === 'online') {
    const { deviceSession, capacity, ...state } = event
    const capabilities = event.capabilities as Capabilities // JSON leaves out what is undefined.
    return { ...state, capabilities, session: sessionOf(deviceSession, capacity) }
  }
  if (event.type === 'attachment') return { ...event, attachment: unpack(event.attachment) }
  if (event.type !== 'message') return event
  const { message } = event
  return { ...event, message: { ...message, attachments: message.attachments?.map(unpack) } }
}

function fileOf({ guid, file }: WireFile, paths: FetchedPaths): DeviceFile {
  if (file.state !== 'available') return file
  const path = paths.get(guid)
  if (path === null) return { state: 'not_kept' }
  return path === undefined ? { state: 'missing' } : { state: 'available', path }
}
