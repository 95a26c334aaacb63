// Which phones are there, while phones, cables and usbmuxd come and go. The sockets are real, the time
// is not.

import { expect, test } from 'bun:test'

import {
  type MuxChange,
  MuxWatch,
} from '../../../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { type MuxDevice, Usbmux } from '../../../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { MuxRig, OTHER_UDID, UDID, until } from '../../../../support/iphone/fake-phones.ts'
import { type LogLine, recordingLog } from '../../../../support/recording-log.ts'
import { TestClock } from '../../../../support/test-clock.ts'

/** A watch that runs, and what it has told: `attached 1 usb`, the device id in the middle. */
class WatchRig implements AsyncDisposable {
  readonly rig: MuxRig
  readonly clock = new TestClock()
  readonly watch: MuxWatch
  readonly told: string[] = []
  readonly #devices = new Map<string, MuxDevice>()
  readonly lines: LogLine[]
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(rig: MuxRig) {
    const { log, lines } = recordingLog()
    this.rig = rig
    this.lines = lines
    const mux = new Usbmux({ path: rig.path }, this.clock)
    this.watch = new MuxWatch({ mux, clock: this.clock, log, onChange: (c) => this.#take(c) })
    this.#running = this.watch.run(this.#end.signal)
  }

  get ids(): readonly number[] {
    return this.devices.map(({ deviceId }) => deviceId)
  }

  /** The phones by the changes that were told. */
  get devices(): readonly MuxDevice[] {
    return [...this.#devices.values()]
  }

  #take(change: MuxChange): void {
    const { device } = change
    this.told.push(wordsOf(change))
    if (change.change === 'detached') this.#devices.delete(device.udid)
    else this.#devices.set(device.udid, device)
  }

  /** Waits until so many changes were told. */
  async tells(count: number): Promise<readonly string[]> {
    await until(() => this.told.length >= count, `${count} changes`)
    return this.told
  }

  async isListening(is = true): Promise<void> {
    await until(() => (this.watch.trouble === null) === is, is ? 'a connection' : 'its loss')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort()
    await this.#running
  }
}

function wordsOf({ change, device: { udid, deviceId, transport } }: MuxChange): string {
  return `${change} ${udid === UDID ? 'one' : 'two'} ${deviceId} ${transport}`
}

test('phones that are there, come and go are told in that order', async () => {
  await using rig = await MuxRig.start()
  const [one, two] = [await rig.phone(), await rig.phone(OTHER_UDID)]
  rig.mux.attach(one)
  await using rigged = new WatchRig(rig)

  await rigged.tells(1)
  const second = rig.mux.attach(two)
  await rigged.tells(2)
  rig.mux.announcePaired(second)
  rig.mux.detach(1)
  const told = await rigged.tells(4)

  const changes = [
    'attached one 1 usb',
    'attached two 2 usb',
    'paired two 2 usb',
    'detached one 1 usb',
  ]
  expect(told).toEqual(changes)
  expect(rigged.ids).toEqual([2])
})

test('nothing is asked on a connection that listens', async () => {
  await using rig = await MuxRig.start()
  await using rigged = new WatchRig(rig)

  rig.mux.attach(await rig.phone())
  await rigged.tells(1)
  await rigged.clock.advance(3_600_000)

  expect(rig.mux.requests.map(({ type }) => type)).toEqual(['Listen'])
  expect(rigged.ids).toEqual([1])
})

test('without usbmuxd it is looked for again, later and later, and phones appear with it', async () => {
  await using rig = new MuxRig()
  const phone = await rig.phone()
  await using rigged = new WatchRig(rig)
  await rigged.clock.advance(60_000)

  const mux = await rig.startMux()
  mux.attach(phone)
  await rigged.clock.advance(5_000)
  const early = mux.requests.length
  await rigged.clock.advance(5_000)
  const told = await rigged.tells(1)

  expect(early).toBe(0)
  expect(told).toEqual(['attached one 1 usb'])
  expect(rigged.lines.map(([, message]) => message)).toEqual(['usbmuxd is reached'])
})

test('a phone that is plugged in anew is the same phone under another device id', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const first = rig.mux.attach(phone)
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  rig.mux.detach(first)
  rig.mux.attach(phone)
  const told = await rigged.tells(3)

  expect(told).toEqual(['attached one 1 usb', 'detached one 1 usb', 'attached one 2 usb'])
  expect(rigged.ids).toEqual([2])
})

test('the new attachment counts also where the old one is told gone after it', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const first = rig.mux.attach(phone)
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  rig.mux.attach(phone)
  rig.mux.detach(first)
  rig.mux.announcePaired(2)
  const told = await rigged.tells(3)

  expect(told).toEqual(['attached one 1 usb', 'attached one 2 usb', 'paired one 2 usb'])
})

test('a phone on the cable and on the network is one phone, on the cable', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  rig.mux.attach(phone, 'Network')
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  const cable = rig.mux.attach(phone)
  await rigged.tells(2)
  rig.mux.attach(phone, 'Network')
  rig.mux.attach(await rig.phone(OTHER_UDID))
  await rigged.tells(3)
  rig.mux.detach(cable)
  const told = await rigged.tells(4)

  const [first, second, third] = [
    'attached one 1 network',
    'attached one 2 usb',
    'attached two 4 usb',
  ]
  expect(told).toEqual([first, second, third, 'attached one 3 network'])
  expect(rigged.devices).toHaveLength(2)
})

test('a UDID without its dash is the same phone', async () => {
  await using rig = await MuxRig.start()
  const first = rig.mux.attach(await rig.phone(UDID.replace('-', '')))
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  rig.mux.attach(await rig.phone(UDID))
  rig.mux.detach(first)
  const told = await rigged.tells(2)

  expect(told).toEqual(['attached one 1 usb', 'attached one 2 usb'])
  expect(rigged.devices.map(({ serial }) => serial)).toEqual([UDID])
})

test('when usbmuxd goes its phones are counted for three seconds more, and then they are gone', async () => {
  await using rig = await MuxRig.start()
  rig.mux.attach(await rig.phone())
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  await rig.stopMux()
  await rigged.isListening(false)
  await rigged.clock.advance(2_999)
  const before = rigged.ids
  await rigged.clock.advance(1)

  expect(before).toEqual([1])
  expect(rigged.told).toEqual(['attached one 1 usb', 'detached one 1 usb'])
  expect(rigged.lines.at(-1)?.[2]).toEqual({ code: 'absent' })
})

test('usbmuxd that is started again within three seconds takes no phone away', async () => {
  await using rig = await MuxRig.start()
  const [one, two] = [await rig.phone(), await rig.phone(OTHER_UDID)]
  rig.mux.attach(one)
  rig.mux.attach(two)
  await using rigged = new WatchRig(rig)
  await rigged.tells(2)

  await rig.stopMux()
  await rigged.isListening(false)
  const mux = await rig.startMux()
  // Device ids begin anew: the first is that of the other phone now, and this one is not back.
  mux.attach(two)
  await rigged.clock.advance(500)
  await rigged.isListening()
  await rigged.tells(3)
  await rigged.clock.advance(999)
  const during = rigged.devices.map(({ udid }) => udid)
  await rigged.clock.advance(1)

  expect(during.sort()).toEqual([UDID, OTHER_UDID])
  expect(rigged.told.slice(2)).toEqual(['attached two 1 usb', 'detached one 1 usb'])
})

test('a phone that goes just after usbmuxd is back is gone at once', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  rig.mux.attach(phone)
  await using rigged = new WatchRig(rig)
  await rigged.tells(1)

  await rig.stopMux()
  await rigged.isListening(false)
  const mux = await rig.startMux()
  const again = mux.attach(phone, 'Network')
  await rigged.clock.advance(500)
  await rigged.tells(2)
  mux.detach(again)
  const told = await rigged.tells(3)

  expect(told.slice(1)).toEqual(['attached one 1 network', 'detached one 1 network'])
})

test('a connection that breaks at once again and again is tried more and more seldom', async () => {
  await using rig = await MuxRig.start()
  rig.mux.onRequest = () => 'close'
  await using rigged = new WatchRig(rig)
  await until(() => rig.mux.requests.length === 1, 'a request')

  const counts: number[] = []
  for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    await until(() => rig.mux.connectionCount === 0, 'a broken connection')
    await rigged.clock.advance(ms)
    await until(() => rig.mux.requests.length > counts.length + 1, 'another request')
    counts.push(rig.mux.requests.length)
  }

  expect(counts).toEqual([2, 3, 4, 5, 6, 7, 8])
  expect(rigged.watch.trouble).toBe('protocol')
})

test('what usbmuxd tells beyond our knowledge is passed over', async () => {
  await using rig = await MuxRig.start()
  await using rigged = new WatchRig(rig)
  await rigged.isListening()

  rig.mux.detach(77)
  rig.mux.announcePaired(77)
  rig.mux.attach(await rig.phone(OTHER_UDID))
  const told = await rigged.tells(1)

  expect(told).toEqual(['attached two 1 usb'])
})

test('more attachments than hang on any computer are passed over', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  await using rigged = new WatchRig(rig)
  await rigged.isListening()

  for (let i = 0; i < 201; i += 1) rig.mux.attach({ ...phone, serial: `phone ${i}` })
  rig.mux.detach(1)
  rig.mux.attach({ ...phone, serial: 'the last' })
  await until(() => rigged.told.length === 202, 'all changes')

  const serials = rigged.devices.map(({ serial }) => serial)
  expect(serials.slice(-2)).toEqual(['phone 199', 'the last'])
  expect(serials).toHaveLength(200)
})

test('at the end the phones stay, and no connection is left', async () => {
  await using rig = await MuxRig.start()
  rig.mux.attach(await rig.phone())
  const rigged = new WatchRig(rig)
  await rigged.tells(1)

  await rigged[Symbol.asyncDispose]()

  expect(rigged.told).toEqual(['attached one 1 usb'])
  await until(() => rig.mux.connectionCount === 0, 'a closed connection')
})
