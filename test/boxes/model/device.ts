// A scripted device: what it has carried and what it has to report. It is the same whatever process drives it.

import { deviceHandle } from '../../../src/domain/handle.ts'
import { timestamp, type MessageId } from '../../../src/domain/ids.ts'
import {
  type DriverLine,
  type LineEvent,
  type LineListener,
  type LineSession,
  type SendOutcome,
  isGranted,
  LineEvents,
  type LineDriver,
  WITHDRAWN,
  FULL_CAPABILITIES,
} from '../../../src/lines/driver.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { TEST_START } from '../../support/test-clock.ts'
import type { Laws } from './laws.ts'
import type { Process, World } from './world.ts'

type Reported = { readonly guid: string; readonly carriedId: MessageId | null }

export class Device {
  readonly key: string
  readonly number: string
  /** It can say later what it has carried. */
  readonly remembers: boolean
  readonly log: Reported[] = []
  readonly carried = new Map<MessageId, string>()
  /** Number of its newest run; earlier ones carry nothing any more, so that what is not there never comes. */
  run = 0

  constructor(key: string, remembers: boolean) {
    this.key = key
    this.number = `+1202555${key.padStart(4, '0')}`
    this.remembers = remembers
  }
}

export const KIND = 'model'
const CAPACITY = 4
const BATCH_MAX = 30
const LOOK_MS = 60

/** The driver of a process for the devices of its machine. */
export function createModelDriver(
  world: World,
  process: Process,
  devices: readonly Device[],
  laws: Pick<Laws, 'acts' | 'runs'>,
): LineDriver {
  const sends = new Map<Device, Set<MessageId>>()
  return {
    kind: KIND,
    discover: async () => devices.map(({ key, number }) => ({ key, number })),
    checkup: async () => [],
    run: async (line, listener, signal) => {
      const device = devices.find(({ key }) => key === line.key)
      if (device === undefined) throw new Error('The device is not here.')
      const open = sends.get(device) ?? new Set()
      sends.set(device, open)
      const isOver = laws.runs(process, device, open.size)
      try {
        await runDevice({ world, process, device, laws, open }, line, listener, signal)
      } finally {
        isOver()
      }
    },
  }
}

async function runDevice(
  tools: SessionTools,
  { unsettled, checkpoint }: DriverLine,
  listener: LineListener,
  signal: AbortSignal,
): Promise<void> {
  const { world, process, device, open } = tools
  const events = new LineEvents(listener, signal)
  device.run += 1
  const claimed = unsettled.flatMap(({ message: { id: messageId } }): LineEvent[] => {
    if (!device.remembers) return []
    const guid = device.carried.get(messageId)
    const outcome = guid === undefined ? NOT_CARRIED : ({ outcome: 'accepted', guid } as const)
    return [{ type: 'settled', messageId, outcome }]
  })
  await events.publish(claimed)
  let session = makeSession(tools)
  let position = Number(checkpoint ?? 0)
  while (!signal.aborted) {
    await events.publishState(online(session, device))
    const batch = batchFrom(device, position, open)
    if (batch.length > 0) {
      await events.publish(batch)
      position += batch.length
    } else await process.clock.sleep(world.between(1, LOOK_MS), signal)
    if (world.isChance(0.002)) {
      await events.publishState({ type: 'offline', reason: { code: 'pause', hint: 'It pauses.' } })
      await process.clock.sleep(world.between(10, 500), signal)
      session = makeSession(tools)
    }
    if (world.isChance(0.0005)) throw new Error('The device has failed.')
  }
}

function online(session: LineSession, { number }: Device) {
  const state = { number, imessageActive: true, capabilities: FULL_CAPABILITIES }
  return { type: 'online', session, ...state } as const
}

/** Events from `position` on, each with the checkpoint behind it. */
function batchFrom(
  { log }: Device,
  position: number,
  open: ReadonlySet<MessageId>,
): readonly LineEvent[] {
  const events: LineEvent[] = []
  for (const { guid, carriedId } of log.slice(position, position + BATCH_MAX)) {
    if (carriedId !== null && open.has(carriedId)) break
    const at = timestamp(TEST_START)
    const checkpoint = String(position + events.length + 1)
    if (carriedId === null) {
      const handle = deviceHandle('+15550001111')
      const service = 'iMessage'
      const message = { guid, handle, text: guid, isFromMe: false, service, at, isHistory: false }
      events.push({ type: 'message', message, checkpoint })
    } else {
      const receipt = { guid, kind: 'delivered', at, reason: null } as const
      events.push({ type: 'receipt', receipt, checkpoint })
    }
  }
  return events
}

type SessionTools = {
  readonly world: World
  readonly process: Process
  readonly device: Device
  readonly laws: Pick<Laws, 'acts' | 'runs'>
  /** Messages whose send has not returned: their receipts come later. */
  readonly open: Set<MessageId>
}

const NOT_CARRIED = {
  outcome: 'not_sent',
  reason: 'not_carried',
  blame: 'line',
  proof: true,
} as const

function makeSession({ world, process, device, laws, open }: SessionTools): LineSession {
  const { clock } = process
  const { run } = device
  const sleep = (least: number, most: number) => clock.sleep(world.between(least, most), NEVER)
  const refused: SendOutcome = { outcome: 'not_sent', reason: 'refused', blame: 'line' }
  return {
    capacity: CAPACITY,
    knows: async () => true,
    send: async (message, pointOfNoReturn, signal) => {
      const { id } = message
      open.add(id)
      try {
        await sleep(1, 20)
        if (signal.aborted) return WITHDRAWN
        if (world.isChance(0.01)) return refused
        if (!(await isGranted(pointOfNoReturn, `note of ${id}`))) return WITHDRAWN
        await sleep(0, world.isChance(0.05) ? 3_000 : 20)
        if (world.isChance(0.01) || device.run !== run) return refused
        const guid = `guid-${id}`
        laws.acts(process, device, id)
        device.carried.set(id, guid)
        world.after(world.between(100, 2_000), () => device.log.push({ guid, carriedId: id }))
        await sleep(1, world.isChance(0.02) ? 5_000 : 20)
        if (world.isChance(0.003)) throw new Error('The driver has failed.')
        if (world.isChance(0.003)) return { outcome: 'unknown', reason: 'no_answer' }
        return { outcome: 'accepted', guid }
      } finally {
        open.delete(id)
      }
    },
  }
}
