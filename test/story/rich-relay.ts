// A relay with one scripted device whose line relays groups, files in a folder of the test, and a webhook
// that wants every event.

import { writeFileSync } from 'node:fs'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import type {
  DeviceAttachment,
  DeviceChange,
  DeviceFile,
  DeviceGroup,
  DeviceMessage,
} from '../../src/lines/driver.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

export const ANNA = deviceHandle('+12025550771')
export const BEN = deviceHandle('+12025550772')
const HOOK = 'https://receiver.example/hook'
/** The time of everything on the device. */
export const AT = timestamp(1_795_255_100_000)

export const FAMILY: DeviceGroup = {
  chatGuid: 'iMessage;+;chat100',
  identifier: 'chat100',
  name: 'Family',
  participants: [ANNA, BEN],
}

type Options = {
  readonly relaysGroups?: boolean
  readonly webhook?: Readonly<Record<string, unknown>>
}

export async function startRich({ relaysGroups = true, webhook = {} }: Options = {}) {
  const folder = new ScratchFolder()
  const relay = await startScripted({ kind: 'simulated', folder: folder.path })
  const { clock, database, device, driver, line, sink } = relay
  const start = (key?: Awaited<ReturnType<typeof startRelay>>['key']) =>
    startRelay({ drivers: [driver], clock, database, folder: folder.path, post: sink.post, key })
  if (relaysGroups) await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  await relay.post('/api/v1/webhooks', { url: HOOK, events: EVENT_NAMES, ...webhook })
  return {
    relay,
    line,
    clock,
    device,
    sink,
    folder,
    start,
    /** The bodies that the webhook has got. */
    async bodies(): Promise<readonly Json[]> {
      await clock.advance(0)
      return sink.to(HOOK).map(({ body }) => JSON.parse(body))
    },
    async names(): Promise<readonly string[]> {
      await clock.advance(0)
      return sink.to(HOOK).map(({ body }) => JSON.parse(body).event)
    },
    receive: (guid: string, more: Partial<DeviceMessage> = {}) =>
      device.receive({ guid, handle: ANNA, at: AT, ...more }),
    change: (change: DeviceChange) =>
      device.emit({ type: 'change', change, checkpoint: change.guid }),
    arrive: (messageGuid: string, attachment: DeviceAttachment) =>
      device.emit({ type: 'attachment', messageGuid, attachment, checkpoint: attachment.guid }),
    /** A file of the device with these contents. */
    fileOf(contents: string): DeviceFile {
      const path = folder.file(`device-${Bun.hash(contents)}`)
      writeFileSync(path, contents)
      return { state: 'available', path }
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

export function photo(guid: string, file: DeviceFile, filename = 'IMG_1.HEIC'): DeviceAttachment {
  return { guid, filename, declaredType: 'image/heic', size: 5, file }
}

export const PENDING: DeviceFile = { state: 'pending' }

type Reaction = Extract<DeviceChange, { readonly kind: 'reaction' }>

export function reaction(guid: string, targetGuid: string, more: Partial<Reaction> = {}): Reaction {
  const what = { action: 'added', type: 'like', emoji: null, part: 0 } as const
  const who = { handle: ANNA, isFromMe: false }
  return { kind: 'reaction', guid, targetGuid, at: AT, isHistory: false, ...what, ...who, ...more }
}
