// Which phones are there, while phones, cables and usbmuxd come and go. The sockets are real, the time
// is not.

import { expect, test } from 'bun:test'

import {
  type MuxChange,
  MuxWatch,
} from '../../../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { type MuxDevice, Usbmux } from '../../../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { MuxRig, OTHER_UDID, UDID, until } from '../../../../support/iphone/fake-phones.ts'
import { testHost } from '../../../../support/kind-host.ts'
import { type LogLine, recordingLog } from '../../../../support/recording-log.ts'
import { TestClock } from '../../../../support/test-clock.ts'

/** A watch that runs, and what it has reported: `attached one 1 usb`, the device id in the middle. */
class WatchRig extends MuxRig {
  readonly clock = new TestClock()
  readonly watch: MuxWatch
  readonly told: string[] = []
  readonly #devices = new Map<string, MuxDevice>()
  readonly lines: LogLine[]
  readonly #end = new AbortController()
  #running: Promise<void> | null = null

  constructor() {
    super()
    const { log, lines } = recordingLog()
    this.lines = lines
    const mux = new Usbmux({ path: this.path }, this.clock)
    this.watch = new MuxWatch(testHost({ clock: this.clock, log }), mux, (c) => this.#take(c))
  }

  /** Begins over a usbmuxd to which `prepare` has happened. */
  static async watching(prepare: (rig: WatchRig) => unknown = () => {}): Promise<WatchRig> {
    const rig = new WatchRig()
    await rig.startMux()
    await prepare(rig)
    rig.begin()
    return rig
  }

  /** The same with a phone that is attached, and reported. */
  static async withPhone(transport: 'USB' | 'Network' = 'USB'): Promise<WatchRig> {
    const rig = await WatchRig.watching(async ({ mux, phone }) =>
      mux.attach(await phone(), transport),
    )
    await rig.tells(1)
    return rig
  }

  begin(): void {
    this.#running = this.watch.run(this.#end.signal)
  }

  get ids(): readonly number[] {
    return this.devices.map(({ deviceId }) => deviceId)
  }

  /** The phones by the changes that were reported. */
  get devices(): readonly MuxDevice[] {
    return [...this.#devices.values()]
  }

  #take(change: MuxChange): void {
    const { device } = change
    this.told.push(wordsOf(change))
    if (change.change === 'detached') this.#devices.delete(device.udid)
    else this.#devices.set(device.udid, device)
  }

  /** Waits until so many changes were reported. */
  async tells(count: number): Promise<readonly string[]> {
    await until(() => this.told.length >= count, `${count} changes`)
    return this.told
  }

  async isListening(is = true): Promise<void> {
    await until(() => (this.watch.trouble === null) === is, is ? 'a connection' : 'its loss')
  }

  async end(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
    await super[Symbol.asyncDispose]()
  }
}

function wordsOf({ change, device: { udid, deviceId, transport } }: MuxChange): string {
  return `${change} ${udid === UDID ? 'one' : 'two'} ${deviceId} ${transport}`
}

test('phones that are there, come and go are reported in that order, and nothing is asked', async () => {
  await using rig = await WatchRig.withPhone()
  const second = rig.mux.attach(await rig.phone(OTHER_UDID))
  await rig.tells(2)
  rig.mux.announcePaired(second)
  rig.mux.detach(1)
  const told = await rig.tells(4)
  await rig.clock.advance(3_600_000)

  const changes = [
    'attached one 1 usb',
    'attached two 2 usb',
    'paired two 2 usb',
    'detached one 1 usb',
  ]
  expect(told).toEqual(changes)
  expect(rig.ids).toEqual([2])
  expect(rig.mux.requests.map(({ type }) => type)).toEqual(['Listen'])
})

test('without usbmuxd it is looked for again, later and later, and phones appear with it', async () => {
  await using rig = new WatchRig()
  const phone = await rig.phone()
  rig.begin()
  await rig.clock.advance(60_000)

  const mux = await rig.startMux()
  mux.attach(phone)
  await rig.clock.advance(5_000)
  const early = mux.requests.length
  await rig.clock.advance(5_000)
  const told = await rig.tells(1)

  expect(early).toBe(0)
  expect(told).toEqual(['attached one 1 usb'])
  expect(rig.lines.map(([, message]) => message)).toEqual(['usbmuxd is reached'])
})

test('a phone that is plugged in again is the same phone under another device id', async () => {
  await using rig = await WatchRig.withPhone()
  const phone = await rig.phone()

  rig.mux.detach(1)
  rig.mux.attach(phone)
  const told = await rig.tells(3)

  expect(told).toEqual(['attached one 1 usb', 'detached one 1 usb', 'attached one 2 usb'])
  expect(rig.ids).toEqual([2])
})

test('a phone on the cable and on the network is one phone, on the cable', async () => {
  await using rig = await WatchRig.withPhone('Network')
  const phone = await rig.phone()

  const cable = rig.mux.attach(phone)
  await rig.tells(2)
  rig.mux.attach(phone, 'Network')
  rig.mux.attach(await rig.phone(OTHER_UDID))
  await rig.tells(3)
  rig.mux.detach(cable)
  const told = await rig.tells(4)

  expect(told).toEqual([
    'attached one 1 network',
    'attached one 2 usb',
    'attached two 4 usb',
    'attached one 3 network',
  ])
  expect(rig.devices).toHaveLength(2)
})

test('the new attachment counts even if the old one, with no dash in its UDID, is reported gone after it', async () => {
  await using rig = await WatchRig.watching(async ({ mux, phone }) =>
    mux.attach(await phone(UDID.replace('-', ''))),
  )
  await rig.tells(1)

  rig.mux.attach(await rig.phone(UDID))
  rig.mux.detach(1)
  rig.mux.announcePaired(2)
  const told = await rig.tells(3)

  expect(told).toEqual(['attached one 1 usb', 'attached one 2 usb', 'paired one 2 usb'])
  expect(rig.devices.map(({ serial }) => serial)).toEqual([UDID])
})

test('when usbmuxd goes its phones are counted for three seconds more, and then they are gone', async () => {
  await using rig = await WatchRig.withPhone()

  await rig.stopMux()
  await rig.isListening(false)
  await rig.clock.advance(2_999)
  const before = rig.ids
  await rig.clock.advance(1)

  expect(before).toEqual([1])
  expect(rig.told).toEqual(['attached one 1 usb', 'detached one 1 usb'])
  expect(rig.lines.at(-1)?.[2]).toEqual({ code: 'absent' })
})

test('usbmuxd that is started again within three seconds takes no phone away', async () => {
  await using rig = await WatchRig.withPhone()
  const two = await rig.phone(OTHER_UDID)
  rig.mux.attach(two)
  await rig.tells(2)

  await rig.stopMux()
  await rig.isListening(false)
  const mux = await rig.startMux()
  // Device ids begin again: the first is that of the other phone now, and this one is not back.
  mux.attach(two)
  await rig.clock.advance(500)
  await rig.isListening()
  await rig.tells(3)
  await rig.clock.advance(999)
  const during = rig.devices.map(({ udid }) => udid)
  await rig.clock.advance(1)

  expect(during.sort()).toEqual([UDID, OTHER_UDID])
  expect(rig.told.slice(2)).toEqual(['attached two 1 usb', 'detached one 1 usb'])
})

test('a phone that goes just after usbmuxd is back is gone at once', async () => {
  await using rig = await WatchRig.withPhone()
  const phone = await rig.phone()

  await rig.stopMux()
  await rig.isListening(false)
  const mux = await rig.startMux()
  const again = mux.attach(phone, 'Network')
  await rig.clock.advance(500)
  await rig.tells(2)
  mux.detach(again)
  const told = await rig.tells(3)

  expect(told.slice(1)).toEqual(['attached one 1 network', 'detached one 1 network'])
})

test('a connection that breaks at once again and again is tried more and more seldom', async () => {
  await using rig = await WatchRig.watching(({ mux }) => {
    mux.onRequest = () => 'close'
  })
  await until(() => rig.mux.requests.length === 1, 'a request')

  const counts: number[] = []
  for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    await until(() => rig.mux.connectionCount === 0, 'a broken connection')
    await rig.clock.advance(ms)
    await until(() => rig.mux.requests.length > counts.length + 1, 'another request')
    counts.push(rig.mux.requests.length)
  }

  expect(counts).toEqual([2, 3, 4, 5, 6, 7, 8])
  expect(rig.watch.trouble).toBe('protocol')
})

test('what usbmuxd reports beyond our knowledge is passed over', async () => {
  await using rig = await WatchRig.watching()
  await rig.isListening()

  rig.mux.detach(77)
  rig.mux.announcePaired(77)
  rig.mux.attach(await rig.phone(OTHER_UDID))
  const told = await rig.tells(1)

  expect(told).toEqual(['attached two 1 usb'])
})

test('more attachments than hang on any computer are passed over', async () => {
  await using rig = await WatchRig.watching()
  const phone = await rig.phone()
  await rig.isListening()

  for (let i = 0; i < 201; i += 1) rig.mux.attach({ ...phone, serial: `phone ${i}` })
  rig.mux.detach(1)
  rig.mux.attach({ ...phone, serial: 'the last' })
  await until(() => rig.told.length === 202, 'all changes')

  const serials = rig.devices.map(({ serial }) => serial)
  expect(serials.slice(-2)).toEqual(['phone 199', 'the last'])
  expect(serials).toHaveLength(200)
})

test('at the end the phones stay, and no connection is left', async () => {
  await using rig = await WatchRig.withPhone()

  await rig.end()

  expect(rig.told).toEqual(['attached one 1 usb'])
  await until(() => rig.mux.connectionCount === 0, 'a closed connection')
})
