import type { Finding } from '../../../domain/finding.ts'
import type { Handle } from '../../../domain/handle.ts'
import { normalUdid } from '../../../domain/udid.ts'
import type { PhoneChoice } from '../../../domain/value-kind.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Found, LineDriver } from '../../driver.ts'
import type { PhoneAgent } from './agent/agent.ts'
import { createWda } from './agent/wda.ts'
import { AttendedPhone, type PhoneLineTools } from './attended-phone.ts'
import type { PhoneCable } from './cable/phone-cable.ts'
import type { Phone } from './cable/phone-facts.ts'
import { deniedFinding, lineFindings, unseenFindings, waitingFindings } from './phone-findings.ts'
import { phoneReport, type PhoneReport } from './phone-report.ts'
import { ENGLISH } from './screens/ui-words.ts'

export type IphoneOptions = {
  readonly phones: readonly PhoneChoice[]
  /** Where the agent listens on each phone. */
  readonly agentPort: number
}

export type IphoneTools = Omit<PhoneLineTools, 'agent' | 'words' | 'drafts'> & {
  /** Stands in for the agent of a phone. */
  readonly agentOf?: ((udid: string) => PhoneAgent) | undefined
}

export type IphoneDriver = LineDriver & {
  /** How far every phone that is a line has come, or would be one. */
  reports(): readonly PhoneReport[]
}

const KNOWN_MS_MAX = 3_000
const KNOWN_EVERY_MS = 100

/** iPhones on the cable whose Messages an agent drives: a line each. */
export function createIphoneDriver(options: IphoneOptions, tools: IphoneTools): IphoneDriver {
  const { cable, clock } = tools
  const { phones, agentPort: port } = options
  const attended = new Map<string, AttendedPhone>()
  const drafts = new Map<string, Set<Handle>>()
  const isOf = ({ udid }: PhoneChoice, phone: Phone) =>
    udid === null || normalUdid(udid) === phone.udid
  const chosen = () => cable.phones().filter((phone) => phones.some((one) => isOf(one, phone)))
  // What the owner says counts; the number of a SIM may be stale, and a phone may forget it for a while.
  const numberOf = (phone: Phone) => {
    const given = phones.find((one) => one.number !== null && isOf(one, phone))
    return given?.number ?? phone.facts?.number ?? phone.numbers.at(-1) ?? null
  }
  const createAgent = (udid: string) =>
    createWda((to, signal) => cable.connect(udid, to, signal), { clock, port })
  const { agentOf = createAgent } = tools
  return {
    kind: 'iphone',
    async discover(signal): Promise<readonly Found[]> {
      await firstReading(cable, clock, signal)
      const attached = chosen().filter(({ device }) => device !== null)
      return attached.map((phone) => ({ key: phone.udid, number: numberOf(phone) }))
    },
    async checkup(): Promise<readonly Finding[]> {
      const denied = cable.isDenied ? [deniedFinding()] : []
      const waiting = chosen().filter(({ udid }) => !attended.has(udid))
      const lines = [...attended.values()].flatMap((line) => lineFindings(line, numberOf))
      const unseen = phones.filter((one) => !cable.phones().some((phone) => isOf(one, phone)))
      const ofWaiting = waiting.flatMap((phone) => waitingFindings(phone, numberOf))
      return [...(denied.length > 0 ? denied : unseenFindings(unseen)), ...lines, ...ofWaiting]
    },
    async run(line, listener, signal) {
      const ownDrafts = drafts.get(line.key) ?? new Set<Handle>()
      drafts.set(line.key, ownDrafts)
      const ownTools = { agent: agentOf(line.key), words: ENGLISH, drafts: ownDrafts }
      const life = new AttendedPhone({ ...tools, ...ownTools }, line, listener, signal)
      attended.set(line.key, life)
      try {
        await life.run()
      } finally {
        attended.delete(line.key)
      }
    },
    reports() {
      return chosen().map((phone) => phoneReport(phone, attended.get(phone.udid) ?? null))
    },
  }
}

/** A phone that is plugged in must not be called absent because nobody has asked usbmuxd yet. */
async function firstReading(cable: PhoneCable, clock: Clock, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + KNOWN_MS_MAX
  while (!cable.isKnown && !signal.aborted && clock.monotonic() < until) {
    await clock.sleep(KNOWN_EVERY_MS, signal)
  }
}
