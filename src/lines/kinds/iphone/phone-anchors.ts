import type { Finding } from '../../../domain/finding.ts'
import type { PhoneCable } from './cable/phone-cable.ts'
import { PHONE_TROUBLES } from './cable/phone-troubles.ts'
import { anchorFindings } from './number-anchor.ts'

/** Watches over the iPhones on the cable that hold the numbers of Mac lines. */
export class PhoneAnchors {
  readonly #cable: PhoneCable

  constructor(cable: PhoneCable) {
    this.#cable = cable
  }

  /** What is worth telling of the phones behind these lines; it never takes a line offline. */
  findings(
    lines: readonly { readonly key: string; readonly number: string }[],
  ): readonly Finding[] {
    const isDenied = this.#cable.isDenied && lines.length > 0
    return [...(isDenied ? [DENIED] : []), ...anchorFindings(lines, this.#cable.phones())]
  }
}

const DENIED: Finding = {
  code: 'usbmux_denied',
  severity: 'warning',
  ...PHONE_TROUBLES.usbmux_denied,
  key: null,
  depends_on: null,
}
