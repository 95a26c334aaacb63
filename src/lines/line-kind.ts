// Everything that the relay needs to know about a kind of line. A kind is one folder of `kinds/` that exports
// one `LineKind`, and a row in `kinds.ts`; nothing else names it.

import type { ObjectShape } from '../api/schema.ts'
import type { Finding } from '../domain/finding.ts'
import type { Timestamp } from '../domain/ids.ts'
import {
  NO_CAPABILITIES,
  OFFLINE_REASONS,
  type Capabilities,
  type Line,
  type OfflineReason,
} from '../domain/line.ts'
import { type OutgoingMessage, type SentenceOf, sentencesOf } from '../domain/message.ts'
import type { OptionTable, OptionValues } from '../domain/option.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { OwnIds, RunProcess, StartProcess, StartReadProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import type { LineDriver } from './driver.ts'

export type LineKind<Table extends OptionTable = OptionTable> = {
  /** Value of `driver` in the API, as `mac`. */
  readonly name: string
  /** Name for people, as "iPhone via Shortcuts". */
  readonly title: string
  /** Practice lines are not real: they yield to real ones, and may fail on purpose. */
  readonly isReal: boolean
  /** Its lines send as the number of an iPhone that is another device, as a Mac does. */
  readonly sharesNumber: boolean
  /** The most that its lines can do, also while they are offline: a message that needs more is refused at once. */
  readonly abilities: Capabilities
  /** Starts a relay with lines to try without a device. */
  readonly trialCommand?: string | undefined
  /** Contacts of practice lines: one reads messages, the other also replies with the same text. */
  readonly practiceNumbers?: PracticeNumbers | undefined
  readonly options: Table
  /** Reasons for being offline that come without a finding; `absent` is for a missing device. */
  readonly reasons: { readonly absent: TitledReason; readonly [name: string]: TitledReason }
  /** Sentences for the codes of `error` that only its lines report. */
  readonly failures: Readonly<Record<string, string>>
  /** Which of its lines may be deleted once their device is absent, in words; null if none may. */
  readonly deletable: string | null
  /** What a line needs, in the order in which it checks them. */
  readonly checklist: readonly ChecklistStep[]
  /**
   * Called once, when the relay or the box starts, before anything runs. It must not block, open a device,
   * or start a process: drivers and services do that in their `run`.
   */
  create(host: KindHost, options: OptionValues<Table>, sharers: NumberSharers): CreatedKind
}

export type PracticeNumbers = { readonly reader: string; readonly echo: string }

/** The facts of a kind that its lines go by. */
export type KindFacts = Pick<LineKind, 'name' | 'isReal' | 'abilities' | 'reasons' | 'deletable'>

/** The kind with this name; lines of a kind that this version does not know wait for another one. */
export function kindOf(kinds: readonly KindFacts[], name: string): KindFacts {
  const reasons = { absent: OFFLINE_REASONS.device_absent }
  const unknown = { name, isReal: true, abilities: NO_CAPABILITIES, reasons }
  return kinds.find((kind) => kind.name === name) ?? { ...unknown, deletable: null }
}

export type TitledReason = OfflineReason & { readonly title: string }

/** Something that a line needs, and the codes of findings and offline reasons that say it is missing. */
export type ChecklistStep = {
  readonly title: string
  readonly codes: readonly string[]
  /** Asked of this machine too, whether or not it has a line yet. */
  readonly isOfMachine?: true | undefined
  /** The line works without it for now. */
  readonly isOptional?: true | undefined
}

/** The machine, as the relay or the box that runs on it lends it to a kind of line. */
export type KindHost = {
  /** The machine's clock. */
  readonly clock: Clock
  /** The relay's clock, for what the relay itself dates. */
  readonly relayClock: Clock
  readonly random: Random
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartProcess
  readonly startRead: StartReadProcess
  readonly self: OwnIds
  /** Restarts the relay; null if nothing starts it again. macOS grants a permission only to new processes. */
  readonly restart: ((why: string) => void) | null
  /** `darwin` on macOS. */
  readonly platform: string
  readonly homeFolder: string
  /** A path in the data directory. */
  readonly pathOf: (name: string) => string
  /** Devices that call the relay with their own token, as they are now. */
  readonly callers: () => readonly { readonly key: string; readonly number: string }[]
}

/** Lines of other kinds whose number is an iPhone's; `isExpected` before they are known. */
export type NumberSharers = { readonly isExpected: boolean; lines(): readonly Line[] }

export type CreatedKind = {
  /** Null if this start looks for no device of the kind. */
  readonly driver: LineDriver | null
  /** Loops that run as long as the relay. */
  readonly services?: readonly Service[] | undefined
  /** Findings about the lines of `NumberSharers`, by their keys. Called by each health check; must not block. */
  readonly findings?: (() => readonly Finding[]) | undefined
  /** Rows for the owner on the control socket, by the last part of their path. Called by each request. */
  readonly reports?: Reports | undefined
  /** Answers for devices that call the relay. */
  readonly calls?: DeviceCalls | undefined
  readonly actions?: readonly LineAction[] | undefined
}

/** An action on a line that only one kind has, as `POST /api/v1/<kind>/lines/{id}/<name>`. */
export type LineAction = {
  readonly name: string
  /** Names the operation in generated clients, as `simulateEvent`. */
  readonly id: string
  readonly summary: string
  readonly description: string
  /** Schemas of its body, by the body's `type`. */
  readonly bodies: Readonly<Record<string, ObjectShape>>
  readonly answer: ObjectShape
  /** `number` is the line's; the body was checked against `bodies`. Throws a `RelayError` for the caller. */
  readonly run: (number: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>
}

export type Reports = Readonly<Record<string, () => readonly Readonly<Record<string, unknown>>[]>>

/** No line of the caller runs now. */
export type NotReady = 'not_ready'

/** A message that came to a device, as the device posts it. */
export type PostedMessage = {
  /** Made by the device; the same id again is the same message if its content is the same. */
  readonly id: string
  readonly from: string
  readonly text: string
  /** Time of arrival on the device; null if the device does not give it. */
  readonly at: Timestamp | null
  /** The people it went to, one on each line: several are a group. */
  readonly recipients?: string | null | undefined
  readonly file?: File | null | undefined
}

/** A device that asks for a message. */
export type Asker = {
  readonly waitMs: number
  /** Asked again just before a message is handed out: its token may have died meanwhile. */
  readonly isGood: () => boolean
  /** Aborts when the device goes away. */
  readonly signal: AbortSignal
}

export type HandedOver =
  | { readonly answer: 'message'; readonly message: OutgoingMessage }
  | { readonly answer: 'nothing' }
  /** The token died while the device waited. */
  | { readonly answer: 'refused' }

/** Outcome of a message that a device was given. */
export type DeviceReport = {
  readonly id: string
  readonly isSent: boolean
  readonly error: string | null
}

/**
 * Calls of devices, each with the key of its caller. The HTTP handlers await them, several at once; none
 * throws for what a device did.
 */
export type DeviceCalls = {
  /** Resolves once the message is durable. */
  receive(key: string, message: PostedMessage): Promise<'stored' | 'no_sender' | NotReady>
  /** The next message to send; waits for one up to `asker.waitMs`. */
  next(key: string, asker: Asker): Promise<HandedOver | NotReady>
  /** Resolves once the outcome is durable. */
  done(key: string, report: DeviceReport): Promise<'noted' | 'unknown' | NotReady>
}

/** All kinds together. */
export type CreatedKinds = {
  readonly kinds: readonly LineKind[]
  readonly sentenceOf: SentenceOf
  readonly drivers: readonly LineDriver[]
  /** Names of the kinds that look for devices, here or on a box; devices of the others call the relay. */
  readonly deviceKinds: readonly string[]
  readonly services: readonly Service[]
  readonly findings: () => readonly Finding[]
  readonly reports: Reports
  readonly calls: DeviceCalls
  readonly actions: readonly (LineAction & { readonly kind: string })[]
}

/** Creates kinds in the order of the table: one that watches `NumberSharers` stands behind them. */
export function createKinds(
  host: KindHost,
  given: {
    readonly kinds: readonly LineKind[]
    readonly options: Readonly<Record<string, unknown>>
    readonly lines: () => readonly Line[]
    /** Stand in for the drivers that look for devices by themselves. */
    readonly drivers?: readonly LineDriver[] | undefined
  },
): CreatedKinds {
  const { kinds, options, lines, drivers } = given
  const sharers = new Set(kinds.filter(({ sharesNumber }) => sharesNumber).map(({ name }) => name))
  const created: CreatedKind[] = []
  for (const kind of kinds) {
    const isExpected = created.some(({ driver }) => driver !== null && sharers.has(driver.kind))
    const shared = () => lines().filter((line) => sharers.has(line.driver))
    created.push(kind.create(host, options, { isExpected, lines: shared }))
  }
  const driversOf = (some: readonly CreatedKind[]) => some.flatMap(({ driver }) => driver ?? [])
  return {
    kinds,
    sentenceOf: sentencesOf(kinds.map(({ failures }) => failures)),
    drivers: [
      ...(drivers ?? driversOf(created.filter(({ calls }) => calls === undefined))),
      ...driversOf(created.filter(({ calls }) => calls !== undefined)),
    ],
    deviceKinds: kinds.flatMap(({ name }, at) => (created[at]?.calls === undefined ? [name] : [])),
    services: created.flatMap(({ services = [] }) => services),
    findings: () => created.flatMap(({ findings }) => findings?.() ?? []),
    reports: Object.assign({}, ...created.map(({ reports = {} }) => reports)) as Reports, // Merged.
    actions: kinds.flatMap(({ name: kind }, index) =>
      (created[index]?.actions ?? []).map((action) => ({ ...action, kind })),
    ),
    calls: callsOf(created.flatMap(({ calls }) => calls ?? [])),
  }
}

/** The calls of all kinds as one: the kind that has a line of the caller answers. */
function callsOf(kinds: readonly DeviceCalls[]): DeviceCalls {
  const first = async <A>(ask: (calls: DeviceCalls) => Promise<A | NotReady>) => {
    for (const calls of kinds) {
      const answer = await ask(calls)
      if (answer !== 'not_ready') return answer
    }
    return 'not_ready'
  }
  return {
    receive: (key, message) => first((calls) => calls.receive(key, message)),
    next: (key, asker) => first((calls) => calls.next(key, asker)),
    done: (key, report) => first((calls) => calls.done(key, report)),
  }
}
