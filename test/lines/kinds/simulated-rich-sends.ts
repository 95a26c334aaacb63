// Sends with files, groups and services to the simulated network, and what a line publishes of them.

import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import type { AttachmentId } from '../../../src/domain/ids.ts'
import type { OutgoingAttachment, OutgoingMessage } from '../../../src/domain/message.ts'
import type { DeviceAttachment, LineEvent } from '../../../src/lines/driver.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { sha256 } from '../../../src/system/hash.ts'
import { messageOf, type runLine } from '../../contract/line-rig.ts'
import type { SimulatedRig } from '../../contract/simulated-rig.ts'
import type { ScratchFolder } from '../../support/scratch-folder.ts'
import { grant } from './simulated-sends.ts'

type Line = Awaited<ReturnType<typeof runLine>>

type More = Partial<Pick<OutgoingMessage, 'text' | 'attachments' | 'service' | 'chatGuid'>>

export function outgoing(rig: SimulatedRig, to: string, more: More): OutgoingMessage {
  return { ...messageOf(rig, 'hello'), to: deviceHandle(to), ...more }
}

export function send(
  rig: SimulatedRig,
  line: Line,
  to: string,
  { ask = grant, ...more }: More & { readonly ask?: () => Promise<boolean> } = {},
) {
  return line.session().send(outgoing(rig, to, more), ask, NEVER)
}

export function idOf(filename: string): AttachmentId {
  return `att_${filename}` as AttachmentId // Drivers take an id as it is.
}

export function fileOf(folder: ScratchFolder, filename: string): OutgoingAttachment {
  const path = folder.file(filename)
  const bytes = `bytes of ${filename}`
  writeFileSync(path, bytes)
  const mimeType = 'application/octet-stream'
  const size = bytes.length
  return { id: idOf(filename), path, filename, mimeType, size, sha256: hashOf(filename) }
}

export function hashOf(filename: string): string {
  return sha256(`bytes of ${filename}`).toHex()
}

export function partsOf(rig: SimulatedRig) {
  using db = new Database(rig.ledgerPath, { readonly: true })
  return db
    .query<{ guid: string; filename: string; sha256: string }, []>(
      'SELECT guid, filename, sha256 FROM parts ORDER BY seq',
    )
    .all()
}

export function bytesOf({ filename, file }: DeviceAttachment): string {
  return `${filename}: ${file.state === 'available' ? readFileSync(file.path, 'utf8') : file.state}`
}

export function guidIn(outcome: {
  readonly outcome: string
  readonly guid?: string | null
}): string {
  return outcome.guid ?? ''
}

export function endsOf(events: readonly LineEvent[]) {
  return events.flatMap((event) =>
    event.type === 'attachment'
      ? [
          {
            messageGuid: event.messageGuid,
            guid: event.attachment.guid,
            state: event.attachment.file.state,
          },
        ]
      : [],
  )
}

export function changesOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'change' ? [event.change] : []))
}
