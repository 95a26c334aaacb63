import {
  type Phone,
  type PhoneReading,
  readPhone,
} from '../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { UsbCable } from '../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { Usbmux } from '../../../src/lines/kinds/iphone/cable/usbmux.ts'
import type { Log } from '../../../src/system/log.ts'
import { type LogLine, recordingLog } from '../recording-log.ts'
import { settle, TestClock } from '../test-clock.ts'
import { type FakePhone, MuxRig, UDID, until } from './fake-phones.ts'

const NEVER = new AbortController().signal

/** A phone on the cable, and the way to read it. */
export class PhoneRig implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly rig: MuxRig
  readonly phone: FakePhone

  private constructor(rig: MuxRig, phone: FakePhone) {
    this.rig = rig
    this.phone = phone
    rig.mux.attach(phone)
  }

  static async start(order: Parameters<MuxRig['phone']>[1] = {}, serial = UDID): Promise<PhoneRig> {
    const rig = await MuxRig.start()
    return new PhoneRig(rig, await rig.phone(serial, order))
  }

  async read(signal = NEVER): Promise<PhoneReading> {
    const mux = new Usbmux(this.rig.mux.address, this.clock)
    const listening = await mux.listen(NEVER)
    const event = await listening.next(NEVER)
    listening.close()
    if (event.event !== 'attached') throw new Error('No phone is attached.')
    return readPhone({ mux, clock: this.clock }, event.device, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]()
  }
}

/** A watch over phones that runs, and what it writes into its log. */
export class PhoneWatchRig implements AsyncDisposable {
  readonly rig: MuxRig
  readonly clock = new TestClock()
  readonly lines: LogLine[]
  readonly #log: Log
  readonly #phones: UsbCable
  readonly #end = new AbortController()
  readonly #running: Promise<void>[] = []

  constructor(rig: MuxRig) {
    const { log, lines } = recordingLog()
    this.rig = rig
    this.lines = lines
    this.#log = log
    this.#phones = this.anotherWatch()
  }

  get phones(): readonly Phone[] {
    return this.#phones.phones()
  }

  phone(udid = UDID): Phone | undefined {
    return this.phones.find((phone) => phone.udid === udid)
  }

  /** One more watch over the same phones, which begins now. */
  anotherWatch(): UsbCable {
    const phones = new UsbCable(this.rig.path, { clock: this.clock, log: this.#log })
    this.#running.push(phones.run(this.#end.signal))
    return phones
  }

  /** Waits for what sockets bring about, without moving the clock. */
  async comesTo(isTrue: (phone: Phone | undefined) => boolean, udid = UDID): Promise<void> {
    await until(() => isTrue(this.phone(udid)))
  }

  async isRead(udid = UDID): Promise<void> {
    await this.comesTo((phone) => phone?.facts !== null && phone?.facts !== undefined, udid)
  }

  /** Moves on by `ms`, at whose end `phone` is read again, and waits for that. */
  async passes(ms: number, phone: FakePhone): Promise<void> {
    const before = sessionsOf(phone)
    await this.clock.advance(ms)
    await until(() => sessionsOf(phone) > before && phone.lockdown.openCount === 0, 'a session')
    await settle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
  }
}

/** How often a phone was begun to be read. */
export function sessionsOf({ lockdown }: FakePhone): number {
  return lockdown.requests.filter(({ key }) => key === 'DeviceName').length
}
