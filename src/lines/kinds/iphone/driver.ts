import type { Duplex } from 'node:stream'

import type { Phone as PhoneReport } from '../../../api/owner.ts'
import type { Finding } from '../../../domain/finding.ts'
import type { Handle } from '../../../domain/handle.ts'
import type { Line } from '../../../domain/line.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Found, LineDriver } from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { Launcher } from './agent/launcher.ts'
import { httpExchange } from './agent/wda-http.ts'
import { PhoneAgent } from './agent/wda.ts'
import type { Phone } from './cable/lockdown.ts'
import { type PhoneCable, UsbCable } from './cable/phone-watch.ts'
import type { IphoneOptions, PhoneChoice } from './options.ts'
import {
  cableFindings,
  deniedFindings,
  lineFindings,
  phoneReport,
  unseenFindings,
  waitingFindings,
} from './phone-findings.ts'
import type { DrivenPhone } from './phone-life.ts'
import { PhoneLine } from './phone-line.ts'
import { normalUdid } from './udid.ts'

export type OpenedIphones = ReturnType<typeof openIphones>

/** Opens no connection; the cable does that when it runs. */
export function openIphones(host: KindHost, options: IphoneOptions) {
  const { iphoneLines, usbmuxdAddress, iphoneAgentPort } = options
  const cable = new UsbCable(host, usbmuxdAddress)
  const launcher = Launcher.of(host, { ...options, folder: host.pathOf('go-ios') })
  const agentOf = (udid: string) => {
    const connect = (port: number, signal: AbortSignal) => cable.connect(udid, port, signal)
    return PhoneAgent.over(httpExchange(connect, iphoneAgentPort), host.clock)
  }
  return {
    cable,
    launcher,
    driver: createIphoneDriver(host, iphoneLines ?? [], { cable, launcher, agentOf }),
    findings: (sharers: readonly Line[]) => cableFindings(cable, sharers),
  }
}

export type IphoneDriver = LineDriver & {
  /** The progress of every phone that is a line or configured as one. */
  reports(): readonly PhoneReport[]
}

const KNOWN_MS_MAX = 3_000
const KNOWN_EVERY_MS = 100

/** The driver of iPhones on the cable, each a line: an agent drives its Messages. */
export function createIphoneDriver(
  host: KindHost,
  phones: readonly PhoneChoice[],
  given: Pick<DrivenPhone, 'cable' | 'launcher'> & {
    readonly agentOf: (udid: string) => PhoneAgent
  },
): IphoneDriver {
  const { launcher, agentOf } = given
  const cable = new ChosenCable(given.cable, phones)
  const running = new Map<string, PhoneLine>()
  const drafts = new Map<string, Set<Handle>>()
  const isChosen = ({ udid }: PhoneChoice, phone: Phone) =>
    udid === null || normalUdid(udid) === phone.udid
  const chosen = () =>
    cable.phones().filter((phone) => phones.some((choice) => isChosen(choice, phone)))
  // The number that the owner gave is preferred: the SIM's may be stale, and a phone may forget it for a while.
  const numberOf = (phone: Phone) => {
    const given = phones.find((choice) => choice.number !== null && isChosen(choice, phone))
    return given?.number ?? phone.facts?.number ?? phone.numbers.at(-1) ?? null
  }
  return {
    kind: 'iphone',
    async discover(signal): Promise<readonly Found[]> {
      await firstReading(cable, host.clock, signal)
      const attached = chosen().filter(({ device }) => device !== null)
      return attached.map((phone) => ({ key: phone.udid, number: numberOf(phone) }))
    },
    async checkup(): Promise<readonly Finding[]> {
      const unseen = phones.filter((choice) => !cable.phones().some((one) => isChosen(choice, one)))
      const waiting = chosen().filter(({ udid }) => !running.has(udid))
      return [
        ...(cable.isDenied ? deniedFindings() : unseenFindings(unseen)),
        ...[...running.values()].flatMap((line) => lineFindings(line, numberOf)),
        ...waiting.flatMap((phone) => waitingFindings(phone, numberOf)),
      ]
    },
    async run(line, listener, signal) {
      const udid = line.key
      const ownDrafts = drafts.get(udid) ?? new Set<Handle>()
      drafts.set(udid, ownDrafts)
      const phone = { udid, cable, launcher, agent: agentOf(udid), drafts: ownDrafts }
      const phoneLine = new PhoneLine(host, phone, line, listener)
      running.set(udid, phoneLine)
      try {
        await phoneLine.run(signal)
      } finally {
        running.delete(udid)
      }
    },
    reports() {
      return chosen().map((phone) => phoneReport(phone, running.get(phone.udid) ?? null))
    },
  }
}

/**
 * The phones as the lines see them. A phone that is only in the network, as the owner's private phone may be, counts
 * as attached only if its UDID was given: `all` means phones on a cable.
 */
class ChosenCable implements PhoneCable {
  readonly #cable: PhoneCable
  readonly #named: ReadonlySet<string>
  /** UDIDs of phones that were on a cable since the relay started. */
  readonly #cabled = new Set<string>()

  constructor(cable: PhoneCable, phones: readonly PhoneChoice[]) {
    this.#cable = cable
    this.#named = new Set(phones.map(({ udid }) => normalUdid(udid ?? '')))
  }

  get isKnown(): boolean {
    return this.#cable.isKnown
  }

  get isDenied(): boolean {
    return this.#cable.isDenied
  }

  phones(): readonly Phone[] {
    const phones = this.#cable.phones()
    for (const { udid, device } of phones) if (device?.transport === 'usb') this.#cabled.add(udid)
    return phones.flatMap((phone) => {
      if (this.#named.has(phone.udid)) return [phone]
      if (!this.#cabled.has(phone.udid)) return []
      return [phone.device?.transport === 'usb' ? phone : { ...phone, device: null }]
    })
  }

  connect(udid: string, port: number, signal: AbortSignal): Promise<Duplex> {
    return this.#cable.connect(udid, port, signal)
  }

  onChange(listener: () => void): () => void {
    return this.#cable.onChange(listener)
  }
}

/** Waits for the first answer of usbmuxd: before it, a plugged-in phone must not count as absent. */
async function firstReading(cable: PhoneCable, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + KNOWN_MS_MAX
  while (!cable.isKnown && !signal.aborted && clock.monotonic() < until) {
    await clock.sleep(KNOWN_EVERY_MS, signal)
  }
}
