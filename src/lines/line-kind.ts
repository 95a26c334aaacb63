// Everything that the relay needs to know about a kind of line. A kind is one folder of `kinds/` that exports one
// `LineKind`, and a row in `kinds.ts`; nothing else names it.

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
import { type OutgoingMessage, sentencesOf } from '../domain/message.ts'
import type { OptionTable, OptionValues } from '../domain/option.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { OwnIds, RunProcess, StartProcess, StartReadProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import type { LineDriver } from './driver.ts'

export type LineKind<Table extends OptionTable = OptionTable> = {
  /** Value of `driver` in the API, such as `mac`. */
  readonly name: string
  /** Shown to people, such as "iPhone via Shortcuts". */
  readonly title: string
  /** How to get a line of this kind, as part of a sentence, and the name of its guide; null if it has no guide. */
  readonly start: { readonly words: string; readonly guide: string | null }
  /** False for practice lines, which yield to real lines and may fail on purpose. */
  readonly isReal: boolean
  /** True if its lines send from the number of an iPhone, which is another device. */
  readonly sharesNumber: boolean
  /** The most that its lines can do, even while offline: a message that needs more is refused at once. */
  readonly abilities: Capabilities
  /** The command that starts a relay with lines to try without a device. */
  readonly trialCommand?: string | undefined
  /** Contacts of practice lines: `reader` reads messages, `echo` also replies with the same text. */
  readonly practiceNumbers?: { readonly reader: string; readonly echo: string } | undefined
  readonly options: Table
  /** Offline reasons that come without a finding; `absent` is for a missing device. */
  readonly reasons: { readonly absent: TitledReason; readonly [name: string]: TitledReason }
  /** Sentences for the `error` codes that only its lines report. */
  readonly failures: Readonly<Record<string, string>>
  /** Which lines may be deleted once their device is absent, in words; null if none may. */
  readonly deletable: string | null
  /** Requirements of a line, in the order of its checks. */
  readonly checklist: readonly ChecklistStep[]
  /**
   * Called once, when the relay or the box starts, before anything runs. It must not block, open a
   * device, or start a process: drivers and services do that in their `run`.
   */
  create(host: KindHost, options: OptionValues<Table>, sharers: NumberSharers): CreatedKind
}

export type KindFacts = Pick<LineKind, 'name' | 'isReal' | 'abilities' | 'reasons' | 'deletable'>

/** A line of a kind that this version does not know waits for a version that does. */
export function kindOf(kinds: readonly KindFacts[], name: string): KindFacts {
  const reasons = { absent: OFFLINE_REASONS.device_absent }
  const unknown = { name, isReal: true, abilities: NO_CAPABILITIES, reasons }
  return kinds.find((kind) => kind.name === name) ?? { ...unknown, deletable: null }
}

/** The title of a reason for being offline; a reason of another version is shown by its code. */
export function titleOf(kinds: readonly KindFacts[], code: string): string {
  const own = kinds.flatMap(({ reasons }) => Object.values(reasons))
  const found = [...Object.values(OFFLINE_REASONS), ...own].find((one) => one.code === code)
  return found?.title ?? code.replaceAll('_', ' ')
}

export type TitledReason = OfflineReason & { readonly title: string }

/** A requirement of a line, and the codes of findings and offline reasons that say it is missing. */
export type ChecklistStep = {
  readonly title: string
  readonly codes: readonly string[]
  /** Also checked for this machine, even if it has no line yet. */
  readonly isOfMachine?: true | undefined
  /** The line works without it for now. */
  readonly isOptional?: true | undefined
}

/** The machine, as the relay or its box gives it to a kind of line. */
export type KindHost = {
  readonly clock: Clock
  /** The relay's clock, for dates that the relay sets. */
  readonly relayClock: Clock
  readonly random: Random
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartProcess
  readonly startRead: StartReadProcess
  readonly self: OwnIds
  /** Restarts the relay; null if nothing would start it again. macOS grants a permission only to new processes. */
  readonly restart: ((why: string) => void) | null
  /** `darwin` on macOS. */
  readonly platform: string
  readonly homeFolder: string
  /** A path in the data directory. */
  readonly pathOf: (name: string) => string
  /** Devices that call the relay with their own token, as of now. */
  readonly callers: () => readonly { readonly key: string; readonly number: string }[]
}

/** Lines of other kinds that have an iPhone's number; `isExpected` if there will be some. */
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
  readonly calls?: DeviceCalls | undefined
  readonly actions?: readonly LineAction[] | undefined
}

/** An action on a line that only this kind has: `POST /api/v1/<kind>/lines/{id}/<name>`. */
export type LineAction = {
  readonly name: string
  /** Operation id in generated clients, such as `simulateEvent`. */
  readonly id: string
  readonly summary: string
  readonly description: string
  /** Schemas of its body, by the body's `type`. */
  readonly bodies: Readonly<Record<string, ObjectShape>>
  readonly answer: ObjectShape
  /** `number` is the line's; `body` matches `bodies`. Throws a `RelayError` for the caller. */
  readonly run: (number: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>
}

export type Reports = Readonly<Record<string, () => readonly Readonly<Record<string, unknown>>[]>>

/** No line of the calling device is running. */
export type NotReady = 'not_ready'

/** A message that a device received, as it posts it. */
export type PostedMessage = {
  /** Set by the device; a repeated id means the same message if the content is the same. */
  readonly id: string
  readonly from: string
  readonly text: string
  /** Time of arrival on the device; null if the device does not say. */
  readonly at: Timestamp | null
  /** The recipients, one per line: more than one besides the owner makes a group. */
  readonly recipients?: string | null | undefined
  readonly file?: File | null | undefined
}

export type Requester = {
  readonly waitMs: number
  /** Called again just before a message is handed out: the token may have been revoked meanwhile. */
  readonly isGood: () => boolean
  /** Aborts if the device goes away. */
  readonly signal: AbortSignal
}

export type HandedOver =
  | { readonly answer: 'message'; readonly message: OutgoingMessage }
  | { readonly answer: 'nothing' }
  /** The token was revoked while the device waited. */
  | { readonly answer: 'refused' }

export type DeviceReport = {
  readonly id: string
  readonly isSent: boolean
  readonly error: string | null
}

/**
 * Calls of devices, each with the key of its caller. The HTTP handlers await them, several at once; none
 * throws for a device's mistake.
 */
export type DeviceCalls = {
  /** Resolves once the message is durable. */
  receive(key: string, message: PostedMessage): Promise<'stored' | 'no_sender' | NotReady>
  /** Waits for a message for up to `requester.waitMs`. */
  next(key: string, requester: Requester): Promise<HandedOver | NotReady>
  /** Resolves once the outcome is durable. */
  done(key: string, report: DeviceReport): Promise<'noted' | 'unknown' | NotReady>
}

export type CreatedKinds = ReturnType<typeof createKinds>

/** Creates kinds in the order of the table: a kind that uses `NumberSharers` comes after those it watches. */
export function createKinds(
  host: KindHost,
  given: {
    readonly kinds: readonly LineKind[]
    readonly options: Readonly<Record<string, unknown>>
    readonly lines: () => readonly Line[]
    /** Replace the drivers that look for devices by themselves. */
    readonly drivers?: readonly LineDriver[] | undefined
  },
) {
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
    /** Names of the kinds that look for devices, here or on a box; devices of the others call the relay. */
    deviceKinds: kinds.flatMap(({ name }, at) => (created[at]?.calls === undefined ? [name] : [])),
    services: created.flatMap(({ services = [] }) => services),
    findings: (): readonly Finding[] => created.flatMap(({ findings }) => findings?.() ?? []),
    reports: Object.assign({}, ...created.map(({ reports = {} }) => reports)) as Reports, // Their names differ.
    actions: kinds.flatMap(({ name: kind }, index) =>
      (created[index]?.actions ?? []).map((action) => ({ ...action, kind })),
    ),
    calls: callsOf(created.flatMap(({ calls }) => calls ?? [])),
  }
}

/** The first kind that has a line of the caller answers. */
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
    next: (key, requester) => first((calls) => calls.next(key, requester)),
    done: (key, report) => first((calls) => calls.done(key, report)),
  }
}
