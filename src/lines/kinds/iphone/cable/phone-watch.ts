// Reads facts about every attached phone when it is plugged in, when its owner taps Trust, and every minute. A phone
// that hangs occupies one of four sessions, and does not hold up the others.

import type { Duplex } from 'node:stream'

import { maskHandle } from '../../../../domain/handle.ts'
import type { Service } from '../../../../system/service.ts'
import { Signal } from '../../../../system/signal.ts'
import type { KindHost } from '../../../line-kind.ts'
import {
  type Phone,
  type PhoneFacts,
  type PhoneReading,
  type PhoneTrouble,
  type PhoneTroubleReason,
  readPhone,
} from './lockdown.ts'
import { muxAddress, MuxError, type MuxErrorCode, type OpenSocket } from './mux-connection.ts'
import { type MuxDevice, type MuxEvent, type MuxListening, Usbmux } from './usbmux.ts'

const READ_EVERY_MS = 60_000
/** Delay until a phone in trouble is read again; null if it must be plugged in again first. */
const AGAIN_MS: Readonly<Record<PhoneTroubleReason, number | null>> = {
  not_trusted: 5_000,
  trust_dialog: 5_000,
  // The phone keeps the refusal as long as the cable is in.
  trust_denied: null,
  pairing_stale: 30_000,
  passcode_locked: 30_000,
  usbmux_denied: 10_000,
  unreadable: 15_000,
}
const SESSIONS_MAX = 4
/** Most phones tracked; beyond it, disconnected ones are forgotten. */
const PHONES_MAX = 100
const NUMBERS_MAX = 10
const LOW_PERCENT = 20
const LOW_MS = 600_000
const IDLE_MS = 3_600_000

type KeptPhone = {
  device: MuxDevice | null
  facts: PhoneFacts | null
  trouble: PhoneTrouble | null
  numbers: readonly string[]
  lowSince: number | null
  /** Monotonic time of the next reading; Infinity if none is planned. */
  dueAt: number
  /** Ends the session that reads the phone now. */
  end: AbortController | null
}

/** The phones that usbmuxd reports, and connections to their ports, which work even after the run has ended. */
export class UsbCable implements Service {
  readonly name = 'usb-cable'
  readonly #host: KindHost
  readonly #mux: Usbmux
  readonly #watch: MuxWatch
  readonly #wake = new Signal()
  readonly #phones = new Map<string, KeptPhone>()
  readonly #sessions = new Set<Promise<void>>()
  readonly #listeners = new Set<() => void>()

  /**
   * `address` is where usbmuxd listens, null for the usual place; throws a RangeError if it is invalid. In a test,
   * `open` stands in for a system that refuses the socket.
   */
  constructor(host: KindHost, address: string | null, open?: OpenSocket) {
    this.#host = host
    this.#mux = new Usbmux(muxAddress(address), host.clock, open)
    this.#watch = new MuxWatch(host, this.#mux, (change) => this.#onChange(change))
  }

  /** True if the attached phones are known, and each has been read or could not be read. */
  get isKnown(): boolean {
    const isRead = ({ device, facts, trouble }: Phone) =>
      device === null || facts !== null || trouble !== null
    return this.#watch.hasBeenHeard && this.phones().every(isRead)
  }

  get isDenied(): boolean {
    return this.#watch.trouble === 'denied'
  }

  /** The phones that are attached or were since the relay started. */
  phones(): readonly Phone[] {
    const now = this.#host.clock.monotonic()
    return [...this.#phones].map(([udid, { device, facts, trouble, numbers, lowSince }]) => {
      const hasLowBattery = device !== null && lowSince !== null && now - lowSince >= LOW_MS
      return { udid, device, facts, trouble, numbers, hasLowBattery }
    })
  }

  /** A connection to a TCP port of a phone; rejects with a `MuxError`. */
  async connect(udid: string, port: number, signal: AbortSignal): Promise<Duplex> {
    const device = this.#phones.get(udid)?.device ?? null
    if (device === null) throw new MuxError('bad_device', 'the phone is not attached')
    return await this.#mux.connect(device.deviceId, port, signal)
  }

  /** Calls `listener`, which must not throw, when `phones()` may have changed; returns an unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watch.run(signal), this.#readPhones(signal)])
  }

  async #readPhones(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.#readDue(signal)
        await this.#wake.wait(this.#host.clock, this.#msUntilDue(), signal)
      }
    } finally {
      // The sessions end with the same signal.
      await Promise.all(this.#sessions)
    }
  }

  #onChange({ change, device }: MuxChange): void {
    const phone = this.#kept(device.udid)
    if (change === 'paired') {
      phone.dueAt = this.#host.clock.monotonic()
    } else {
      phone.end?.abort()
      phone.end = null
      phone.device = change === 'attached' ? device : null
      phone.trouble = null
      phone.dueAt = change === 'attached' ? this.#host.clock.monotonic() : Infinity
      if (change === 'detached') phone.lowSince = null
      this.#host.log.info(`phone ${change}`, { phone: maskHandle(device.udid) })
      this.#emit()
    }
    this.#wake.notify()
  }

  #emit(): void {
    for (const listener of this.#listeners) listener()
  }

  #kept(udid: string): KeptPhone {
    const known = this.#phones.get(udid)
    if (known !== undefined) return known
    const gone = [...this.#phones].find(([, { device }]) => device === null)
    if (this.#phones.size >= PHONES_MAX && gone !== undefined) this.#phones.delete(gone[0])
    const nothing = { device: null, facts: null, trouble: null, numbers: [], lowSince: null }
    const phone: KeptPhone = { ...nothing, dueAt: Infinity, end: null }
    this.#phones.set(udid, phone)
    return phone
  }

  /** Starts to read the phones that are due; the phone that has waited longest comes first. */
  #readDue(signal: AbortSignal): void {
    const now = this.#host.clock.monotonic()
    const due = [...this.#phones.values()]
      .filter(({ device, dueAt, end }) => device !== null && dueAt <= now && end === null)
      .sort((a, b) => a.dueAt - b.dueAt)
    for (const phone of due.slice(0, SESSIONS_MAX - this.#sessions.size)) {
      const session: Promise<void> = this.#read(phone, signal).finally(() => {
        this.#sessions.delete(session)
        this.#wake.notify()
      })
      this.#sessions.add(session)
    }
  }

  #msUntilDue(): number {
    if (this.#sessions.size >= SESSIONS_MAX) return IDLE_MS
    const waiting = [...this.#phones.values()].filter(({ end }) => end === null)
    const dueAt = Math.min(...waiting.map((phone) => phone.dueAt))
    return Math.min(Math.max(dueAt - this.#host.clock.monotonic(), 0), IDLE_MS)
  }

  /** Never rejects. Ignores the reading of a phone that was unplugged or plugged in elsewhere meanwhile. */
  async #read(phone: KeptPhone, signal: AbortSignal): Promise<void> {
    const { log } = this.#host
    const { device } = phone
    if (device === null) return
    const end = new AbortController()
    phone.end = end
    phone.dueAt = Infinity
    try {
      const both = AbortSignal.any([signal, end.signal])
      const reading = await readPhone(this.#mux, this.#host.clock, device, both)
      if (phone.end !== end) return
      this.#note(phone, reading)
      this.#emit()
    } catch (error) {
      if (signal.aborted || end.signal.aborted) return
      log.error('a phone could not be read', { phone: maskHandle(device.udid), error })
      phone.dueAt = this.#host.clock.monotonic() + READ_EVERY_MS
    } finally {
      if (phone.end === end) phone.end = null
    }
  }

  #note(phone: KeptPhone, reading: PhoneReading): void {
    const { clock, log } = this.#host
    const before = phone.trouble?.reason ?? null
    const againMs = reading.reading === 'facts' ? READ_EVERY_MS : AGAIN_MS[reading.reason]
    // If the owner tapped Trust during the reading, the phone is due at once already.
    if (phone.dueAt === Infinity && againMs !== null) phone.dueAt = clock.monotonic() + againMs
    if (reading.reading === 'trouble') {
      phone.trouble = reading
      const { udid, reason, why } = reading
      if (reason !== before)
        log.warn('phone cannot be read', { phone: maskHandle(udid), reason, why })
      return
    }
    if (phone.facts === null || before !== null) {
      log.info('phone is read', { phone: maskHandle(reading.udid), ios: reading.iosVersion })
    }
    this.#noteFacts(phone, reading)
  }

  #noteFacts(phone: KeptPhone, facts: PhoneFacts): void {
    const { number, battery } = facts
    phone.facts = facts
    phone.trouble = null
    if (number !== null && phone.numbers.at(-1) !== number) {
      phone.numbers = [...phone.numbers.filter((other) => other !== number), number].slice(
        -NUMBERS_MAX,
      )
    }
    const isLow = battery !== null && battery.percent < LOW_PERCENT && !battery.isCharging
    phone.lowSince = isLow ? (phone.lowSince ?? this.#host.clock.monotonic()) : null
  }
}

export type PhoneCable = Pick<UsbCable, 'phones' | 'isKnown' | 'isDenied' | 'connect' | 'onChange'>

/** A change of a phone, whatever the number of its attachments. */
export type MuxChange = {
  /** `attached` also if the phone now has another `deviceId`. */
  readonly change: 'attached' | 'detached' | 'paired'
  readonly device: MuxDevice
}

const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 10_000
/** A connection that held this long worked: the next delay is the shortest again. */
const GOOD_MS = 10_000
/** Phones count as attached for this long after usbmuxd ends: it may just be restarting. */
const GRACE_MS = 3_000
/** After this long, a new connection has announced all attached phones. */
const ROLL_CALL_MS = 1_000
const ATTACHMENTS_MAX = 200

export class MuxWatch {
  readonly #host: KindHost
  readonly #mux: Usbmux
  readonly #onChange: (change: MuxChange) => void
  /** Attachments that the current connection has announced, by device id. */
  readonly #attached = new Map<number, MuxDevice>()
  /** Phones of the previous connection, by UDID, that the current one has not announced yet. */
  readonly #left = new Map<string, MuxDevice>()
  /** Phones that have been reported as attached, by UDID. */
  #known: ReadonlyMap<string, MuxDevice> = new Map()
  #trouble: MuxErrorCode | null = 'absent'
  #hasBeenHeard = false
  #dropLater = () => {}

  /** `onChange` must not throw. */
  constructor(host: KindHost, mux: Usbmux, onChange: (change: MuxChange) => void) {
    this.#host = host
    this.#mux = mux
    this.#onChange = onChange
  }

  /** The reason why the attached phones are unknown; null if they are known. */
  get trouble(): MuxErrorCode | null {
    return this.#trouble
  }

  /** True if usbmuxd has announced the attached phones, or could not be reached. */
  get hasBeenHeard(): boolean {
    return this.#hasBeenHeard
  }

  /** Listens until `signal` aborts; the last phones stay known, for a send that is still running. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#host
    let delayMs = RETRY_MS_MIN
    try {
      while (!signal.aborted) {
        const from = clock.monotonic()
        await this.#follow(signal)
        if (clock.monotonic() - from >= GOOD_MS) delayMs = RETRY_MS_MIN
        await clock.sleep(delayMs, signal)
        delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)
      }
    } finally {
      this.#dropLater()
      this.#leaveAll()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let listening: MuxListening | null = null
    try {
      listening = await this.#mux.listen(signal)
      this.#begin()
      for (;;) this.#take(await listening.next(signal))
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MuxError)) throw error
      this.#lose(error.code)
    } finally {
      listening?.close()
    }
  }

  #begin(): void {
    this.#note(null)
    this.#dropIn(ROLL_CALL_MS)
  }

  #lose(code: MuxErrorCode): void {
    this.#note(code)
    if (this.#attached.size === 0) return
    this.#leaveAll()
    this.#dropIn(GRACE_MS)
  }

  #take(event: MuxEvent): void {
    switch (event.event) {
      case 'attached':
        if (this.#attached.size >= ATTACHMENTS_MAX) return
        this.#attached.set(event.device.deviceId, event.device)
        this.#left.delete(event.device.udid)
        this.#emitChanges()
        return
      case 'detached':
        this.#attached.delete(event.deviceId)
        this.#emitChanges()
        return
      case 'paired': {
        const device = this.#known.get(this.#attached.get(event.deviceId)?.udid ?? '')
        if (device !== undefined) this.#onChange({ change: 'paired', device })
      }
    }
  }

  /** After `ms`, phones that the current connection has not announced count as detached. */
  #dropIn(ms: number): void {
    this.#dropLater()
    this.#dropLater = this.#host.clock.after(ms, () => {
      this.#left.clear()
      this.#hasBeenHeard = true
      this.#emitChanges()
    })
  }

  #leaveAll(): void {
    this.#attached.clear()
    for (const [udid, device] of this.#known) this.#left.set(udid, device)
  }

  /** Emits the changes since the last call; prefers the cable for a phone that is in the network too. */
  #emitChanges(): void {
    const before = this.#known
    const now = new Map(this.#left)
    for (const device of this.#attached.values()) {
      const other = now.get(device.udid)
      if (other?.transport !== 'usb' || device.transport === 'usb') now.set(device.udid, device)
    }
    this.#known = now
    for (const [udid, device] of before) {
      if (!now.has(udid)) this.#onChange({ change: 'detached', device })
    }
    for (const [udid, device] of now) {
      if (before.get(udid) !== device) this.#onChange({ change: 'attached', device })
    }
  }

  #note(trouble: MuxErrorCode | null): void {
    const { log } = this.#host
    if (trouble !== null) this.#hasBeenHeard = true
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    if (trouble === null) log.info('usbmuxd is reached')
    else log[trouble === 'absent' ? 'info' : 'warn']('usbmuxd is not reached', { code: trouble })
  }
}
