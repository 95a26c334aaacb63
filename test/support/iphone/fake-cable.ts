import { type Duplex, PassThrough } from 'node:stream'

import type {
  Phone,
  PhoneFacts,
  PhoneTroubleReason,
} from '../../../src/lines/kinds/iphone/cable/lockdown.ts'
import type { PhoneCable } from '../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { NUMBER, UDID } from './fake-phones.ts'

/** The cable without its daemon: what is plugged in, and what each phone says of itself. */
export class FakeCable implements PhoneCable {
  isKnown = true
  isDenied = false
  readonly #phones = new Map<string, Phone>()
  readonly #listeners = new Set<() => void>()
  #deviceId = 0

  phones(): readonly Phone[] {
    return [...this.#phones.values()]
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Nothing listens on any phone: agents are given to the driver by themselves. */
  connect(): Promise<Duplex> {
    return Promise.resolve(new PassThrough())
  }

  attach(udid: string, facts: Partial<PhoneFacts> | null = {}): void {
    this.#deviceId += 1
    const device = { udid, serial: udid, deviceId: this.#deviceId, transport: 'usb' } as const
    const all = facts === null ? null : { ...FACTS, udid, timeZone: 'UTC', ...facts }
    const numbers = all?.number == null ? [] : [all.number]
    const phone = { udid, device, facts: all, trouble: null, numbers, hasLowBattery: false }
    this.#set(udid, phone)
  }

  /** The cable comes out, or was never in, and the phone is in the network. */
  moveToNetwork(udid: string): void {
    const device = this.#phones.get(udid)?.device ?? null
    if (device !== null) this.#change(udid, { device: { ...device, transport: 'network' } })
  }

  detach(udid: string): void {
    this.#change(udid, { device: null })
  }

  tell(udid: string, facts: Partial<PhoneFacts>): void {
    const before = this.#phones.get(udid)?.facts ?? FACTS
    this.#change(udid, { facts: { ...before, ...facts }, trouble: null })
  }

  refuse(udid: string, reason: PhoneTroubleReason): void {
    const trouble = {
      reading: 'trouble',
      udid,
      name: null,
      reason,
      why: 'It was refused.',
    } as const
    this.#change(udid, { trouble })
  }

  lowerBattery(udid: string, percent: number): void {
    const battery = { percent, isCharging: false }
    this.tell(udid, { battery })
    this.#change(udid, { hasLowBattery: true })
  }

  #change(udid: string, change: Partial<Phone>): void {
    const phone = this.#phones.get(udid)
    if (phone === undefined) throw new Error(`No phone ${udid}.`)
    this.#set(udid, { ...phone, ...change })
  }

  #set(udid: string, phone: Phone): void {
    this.#phones.set(udid, phone)
    for (const listener of this.#listeners) listener()
  }
}

/** What a phone that is fit for a line reports. */
export const FACTS: PhoneFacts = {
  reading: 'facts',
  udid: UDID,
  name: 'Line one',
  iosVersion: '18.6.2',
  number: NUMBER,
  battery: { percent: 87, isCharging: true },
  isDeveloperModeOn: true,
  language: 'en',
  isLocked: false,
  timeZone: 'America/New_York',
}
