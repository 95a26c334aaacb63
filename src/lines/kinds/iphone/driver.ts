import type { Finding } from '../../../domain/finding.ts'
import type { Handle } from '../../../domain/handle.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Found, LineDriver } from '../../driver.ts'
import { httpExchange } from './agent/wda-http.ts'
import { PhoneAgent } from './agent/wda.ts'
import type { Phone } from './cable/lockdown.ts'
import type { PhoneCable } from './cable/phone-watch.ts'
import type { PhoneChoice } from './options.ts'
import {
  deniedFindings,
  lineFindings,
  phoneReport,
  unseenFindings,
  waitingFindings,
  type PhoneReport,
} from './phone-findings.ts'
import { PhoneLine, type PhoneLineTools } from './phone-line.ts'
import { ENGLISH } from './screens/ui-words.ts'
import { normalUdid } from './udid.ts'

type IphoneOptions = {
  readonly phones: readonly PhoneChoice[]
  /** The port of the agent on each phone. */
  readonly agentPort: number
}

type IphoneTools = Omit<PhoneLineTools, 'agent' | 'words' | 'drafts'> & {
  /** Replaces the agent of a phone. */
  readonly agentOf?: ((udid: string) => PhoneAgent) | undefined
}

export type IphoneDriver = LineDriver & {
  /** Progress of every phone that is a line, or is configured as one. */
  reports(): readonly PhoneReport[]
}

const KNOWN_MS_MAX = 3_000
const KNOWN_EVERY_MS = 100

/** iPhones on the cable, each a line: an agent drives their Messages. */
export function createIphoneDriver(options: IphoneOptions, tools: IphoneTools): IphoneDriver {
  const { cable, clock } = tools
  const { phones, agentPort } = options
  const running = new Map<string, PhoneLine>()
  const drafts = new Map<string, Set<Handle>>()
  const isChosen = ({ udid }: PhoneChoice, phone: Phone) =>
    udid === null || normalUdid(udid) === phone.udid
  const chosen = () =>
    cable.phones().filter((phone) => phones.some((choice) => isChosen(choice, phone)))
  // The owner's number counts first: that of a SIM may be stale, and a phone may forget it for a while.
  const numberOf = (phone: Phone) => {
    const given = phones.find((choice) => choice.number !== null && isChosen(choice, phone))
    return given?.number ?? phone.facts?.number ?? phone.numbers.at(-1) ?? null
  }
  const createAgent = (udid: string) => {
    const exchange = httpExchange((to, signal) => cable.connect(udid, to, signal), agentPort)
    return PhoneAgent.over(exchange, clock)
  }
  const { agentOf = createAgent } = tools
  return {
    kind: 'iphone',
    async discover(signal): Promise<readonly Found[]> {
      await firstReading(cable, clock, signal)
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
      const ownDrafts = drafts.get(line.key) ?? new Set<Handle>()
      drafts.set(line.key, ownDrafts)
      const ownTools = { agent: agentOf(line.key), words: ENGLISH, drafts: ownDrafts }
      const phoneLine = new PhoneLine({ ...tools, ...ownTools }, line, listener, signal)
      running.set(line.key, phoneLine)
      try {
        await phoneLine.run()
      } finally {
        running.delete(line.key)
      }
    },
    reports() {
      return chosen().map((phone) => phoneReport(phone, running.get(phone.udid) ?? null))
    },
  }
}

/** Waits until usbmuxd was asked: a phone that is plugged in must not be called absent before. */
async function firstReading(cable: PhoneCable, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + KNOWN_MS_MAX
  while (!cable.isKnown && !signal.aborted && clock.monotonic() < until) {
    await clock.sleep(KNOWN_EVERY_MS, signal)
  }
}
