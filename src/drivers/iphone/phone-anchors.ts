import type { Finding } from '../../domain/driver.ts'
import type { Clock } from '../../system/clock.ts'
import type { Log } from '../../system/log.ts'
import type { Service } from '../../system/service.ts'
import { muxAddress } from './cable/mux-address.ts'
import { MuxWatch } from './cable/mux-watch.ts'
import { PHONE_TROUBLES } from './cable/phone-troubles.ts'
import { PhoneWatch } from './cable/phone-watch.ts'
import { Usbmux } from './cable/usbmux.ts'
import { anchorFindings } from './number-anchor.ts'

/** Watches over the iPhones on the cable that hold the numbers of Mac lines. */
export class PhoneAnchors implements Service {
  readonly name = 'phone-anchors'
  readonly #watch: MuxWatch
  readonly #phones: PhoneWatch

  /** `address` is where usbmuxd listens, null for the usual place. Throws a RangeError for no address. */
  constructor(address: string | null, tools: { readonly clock: Clock; readonly log: Log }) {
    const mux = new Usbmux(muxAddress(address), tools.clock)
    this.#watch = new MuxWatch({ ...tools, mux })
    this.#phones = new PhoneWatch({ ...tools, mux, watch: this.#watch })
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watch.run(signal), this.#phones.run(signal)])
  }

  /** What is worth telling of the phones behind these lines; it never takes a line offline. */
  findings(
    lines: readonly { readonly key: string; readonly number: string }[],
  ): readonly Finding[] {
    const isDenied = this.#watch.trouble === 'denied' && lines.length > 0
    return [...(isDenied ? [DENIED] : []), ...anchorFindings(lines, this.#phones.phones())]
  }
}

const DENIED: Finding = {
  code: 'usbmux_denied',
  severity: 'warning',
  ...PHONE_TROUBLES.usbmux_denied,
  key: null,
  depends_on: null,
}
