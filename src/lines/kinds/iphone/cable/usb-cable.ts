import type { Duplex } from 'node:stream'

import type { Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import type { Service } from '../../../../system/service.ts'
import { muxAddress } from './mux-address.ts'
import type { OpenSocket } from './mux-connection.ts'
import { MuxError } from './mux-error.ts'
import { MuxWatch } from './mux-watch.ts'
import type { PhoneCable } from './phone-cable.ts'
import type { Phone } from './phone-facts.ts'
import { PhoneWatch } from './phone-watch.ts'
import { Usbmux } from './usbmux.ts'

type CableTools = {
  readonly clock: Clock
  readonly log: Log
  /** Stands in for a system that refuses the socket. */
  readonly open?: OpenSocket | undefined
}

/** The cable as usbmuxd gives it; it knows phones only while it runs. */
export class UsbCable implements PhoneCable, Service {
  readonly name = 'usb-cable'
  readonly #mux: Usbmux
  readonly #watch: MuxWatch
  readonly #phones: PhoneWatch

  /** `address` is where usbmuxd listens, null for the usual place. Throws a RangeError for no address. */
  constructor(address: string | null, tools: CableTools) {
    this.#mux = new Usbmux(muxAddress(address), tools.clock, tools.open)
    this.#watch = new MuxWatch({ ...tools, mux: this.#mux })
    this.#phones = new PhoneWatch({ ...tools, mux: this.#mux, watch: this.#watch })
  }

  get isKnown(): boolean {
    const isRead = ({ device, facts, trouble }: Phone) =>
      device === null || facts !== null || trouble !== null
    return this.#watch.hasBeenHeard && this.phones().every(isRead)
  }

  get isDenied(): boolean {
    return this.#watch.trouble === 'denied'
  }

  phones(): readonly Phone[] {
    return this.#phones.phones()
  }

  async connect(udid: string, port: number, signal: AbortSignal): Promise<Duplex> {
    const phone = this.phones().find((one) => one.udid === udid)
    if (phone?.device == null) throw new MuxError('bad_device', 'the phone is not attached')
    return await this.#mux.connect(phone.device.deviceId, port, signal)
  }

  onChange(listener: () => void): () => void {
    return this.#phones.onChange(listener)
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watch.run(signal), this.#phones.run(signal)])
  }
}
