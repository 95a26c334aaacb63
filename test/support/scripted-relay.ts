// A relay with scripted lines and a sink for its webhooks: what most stories begin with.

import type { Capabilities } from '../../src/domain/line.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { Signal } from '../../src/system/signal.ts'
import {
  ScriptedDriver,
  TEXTS_ONLY,
  type ScriptedDevice,
  type SendScript,
} from './scripted-driver.ts'
import { TestClock } from './test-clock.ts'
import { startRelay, type RelayOptions } from './test-relay.ts'
import { WebhookSink } from './webhook-sink.ts'

type Options = Omit<RelayOptions, 'post'> & {
  /** One for each device, with the numbers +12025550801 and on; one device that is online by default. */
  readonly lines?: readonly ('online' | 'offline')[]
  /** The kind of the lines, `mac` by default. */
  readonly kind?: string
  /** What each device does with a message. */
  readonly script?: SendScript
  /** How many messages each device takes at once. */
  readonly capacity?: number
  readonly capabilities?: Capabilities
  /** A database file, which is closed with the relay. */
  readonly path?: string
}

export type ScriptedRelay = Awaited<ReturnType<typeof startScripted>>

export async function startScripted({
  lines = ['online'],
  kind = 'mac',
  script,
  capacity = 1,
  capabilities = TEXTS_ONLY,
  path,
  ...options
}: Options = {}) {
  const driver = new ScriptedDriver(kind)
  // The devices are there from the start: a look at them every five seconds would only cost time.
  const devicesChanged = new Signal()
  Object.assign(driver, { devicesChanged, discoverEveryMs: DAY_MS })
  for (const [place, state] of lines.entries()) {
    const device = driver.add(`+1202555080${place + 1}`, state === 'online')
    device.script = script ?? device.script
    Object.assign(device, { capacity, capabilities })
  }
  const clock = options.clock ?? new TestClock()
  const sink = new WebhookSink(clock)
  const file = path === undefined ? {} : openFile(path)
  const relay = await startRelay({ drivers: [driver], ...options, ...file, clock, post: sink.post })
  const [device, second] = driver.devices as [ScriptedDevice, ScriptedDevice] // As many as the test asked for.
  return {
    ...relay,
    driver,
    /** Reports a device that was added since. */
    lookForDevices: () => devicesChanged.notify(),
    sink,
    device,
    second,
    devices: driver.devices,
    /** The first line, as it was at the start. */
    line: (await relay.lines())[0],
    /** The texts that left by the first line, in order. */
    texts: () => device.sent.map(({ text }) => text),
  }
}

function openFile(path: string) {
  const database = openDatabase(path, { version: 'test' })
  return { database, onClose: () => closeDatabase(database.db) }
}
