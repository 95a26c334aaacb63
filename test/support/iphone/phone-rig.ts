import {
  type Phone,
  type PhoneReading,
  type PhoneTroubleReason,
  readPhone,
} from '../../../src/lines/kinds/iphone/cable/lockdown.ts'
import {
  openSocket,
  type OpenSocket,
} from '../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import { UsbCable } from '../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { Usbmux } from '../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { normalUdid } from '../../../src/lines/kinds/iphone/udid.ts'
import type { Log } from '../../../src/system/log.ts'
import { testHost } from '../kind-host.ts'
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

  read(signal = NEVER): Promise<PhoneReading> {
    const mux = new Usbmux(this.rig.mux.address, this.clock)
    const { serial } = this.phone
    const device = { udid: normalUdid(serial), serial, deviceId: 1, transport: 'usb' } as const
    return readPhone(mux, this.clock, device, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]()
  }
}

/** A phone on the cable that is watched, and what the watch writes into its log. */
export class PhoneWatchRig implements AsyncDisposable {
  readonly rig: MuxRig
  readonly phone: FakePhone
  /** Of the attachment with which it began. */
  readonly deviceId: number
  readonly clock = new TestClock()
  readonly lines: LogLine[]
  readonly cable: UsbCable
  /** While it is true the system opens no socket. */
  isDenied = false
  /** How many sockets were asked for. */
  opens = 0
  readonly #log: Log
  readonly #pairRecord: Uint8Array | null
  readonly #end = new AbortController()
  readonly #running: Promise<void>[] = []

  private constructor(
    {
      rig,
      phone,
      pairRecord,
    }: Pick<PhoneWatchRig, 'rig' | 'phone'> & Pick<FakePhone, 'pairRecord'>,
    isDenied: boolean,
  ) {
    const { log, lines } = recordingLog()
    this.rig = rig
    this.phone = phone
    this.#pairRecord = pairRecord
    this.deviceId = rig.mux.attach(phone)
    this.lines = lines
    this.isDenied = isDenied
    this.#log = log
    this.cable = this.anotherWatch()
  }

  /** `prepare` happens to the phone before it is watched. */
  static async start(
    prepare: (phone: FakePhone, rig: MuxRig) => unknown = () => {},
    { isDenied = false } = {},
  ): Promise<PhoneWatchRig> {
    const rig = await MuxRig.start()
    const phone = await rig.phone()
    const { pairRecord } = phone
    await prepare(phone, rig)
    return new PhoneWatchRig({ rig, phone, pairRecord }, isDenied)
  }

  /** The phone trusts this computer from now on. */
  trust(): void {
    this.phone.pairRecord = this.#pairRecord
  }

  /** What is known of a phone. */
  known(udid = UDID): Phone | undefined {
    return this.cable.phones().find((phone) => phone.udid === udid)
  }

  /** One more watch over the same phones, which begins now. */
  anotherWatch(): UsbCable {
    const open: OpenSocket = (address) => {
      this.opens += 1
      const socket = openSocket(address)
      const refusal = Object.assign(new Error('refused by the test'), { code: 'EACCES' })
      return this.isDenied ? socket.destroy(refusal) : socket
    }
    const cable = new UsbCable(testHost({ clock: this.clock, log: this.#log }), this.rig.path, open)
    this.#running.push(cable.run(this.#end.signal))
    return cable
  }

  /** Waits for what sockets bring about, without moving the clock. */
  async comesTo(isTrue: (phone: Phone | undefined) => boolean, udid = UDID): Promise<void> {
    await until(() => isTrue(this.known(udid)))
  }

  async comesToTrouble(reason: PhoneTroubleReason): Promise<void> {
    await this.comesTo((phone) => phone?.trouble?.reason === reason)
  }

  async isRead(udid = UDID): Promise<void> {
    await this.comesTo((phone) => phone?.facts !== null && phone?.facts !== undefined, udid)
  }

  /** Moves on by `ms`, at whose end the phone is read again, and waits for that. */
  async passes(ms: number): Promise<void> {
    const before = sessionsOf(this.phone)
    await this.clock.advance(ms)
    const isOver = () => sessionsOf(this.phone) > before && this.phone.lockdown.openCount === 0
    await until(isOver, 'a session')
    await settle()
  }

  /** Ends the watch, and leaves the phone. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
    await this.rig[Symbol.asyncDispose]()
  }
}

/** How often a phone was begun to be read. */
export function sessionsOf({ lockdown }: FakePhone): number {
  return lockdown.requests.filter(({ key }) => key === 'DeviceName').length
}
