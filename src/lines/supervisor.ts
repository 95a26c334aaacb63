import type { Origin } from '../domain/audit.ts'
import type { Handle } from '../domain/handle.ts'
import type { BoxId, LineId } from '../domain/ids.ts'
import {
  DEFAULT_DAILY_CONTACT_LIMIT,
  OFFLINE_REASONS,
  type Line,
  type OfflineReason,
  type Place,
} from '../domain/line.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { Audit } from '../storage/audit.ts'
import { insertLine, type LineSettings, listLines, updateLine } from '../storage/lines.ts'
import type { Writer } from '../storage/writer.ts'
import { whenAborted, withTimeout } from '../system/clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Service } from '../system/service.ts'
import { DriverWatch } from './driver-watch.ts'
import type { Found, PointOfNoReturn } from './driver.ts'
import { adoptLine, changeLine, type LineAdminTools, moveLine, removeLine } from './line-admin.ts'
import { findingsOf, type LineFinding, type LineSnapshot } from './line-state.ts'
import { LineRegistry, type RegistryTools } from './registry.ts'
import { NO_SESSION, type SendAnswer } from './session.ts'

export type SupervisorTools = RegistryTools & {
  readonly writer: Writer
  readonly stamps: LogicalClock
  readonly audit: Pick<Audit, 'record'>
  readonly boxAbsence: BoxAbsence
}

/** Reason why nothing can be asked of a box now; null where it can. */
export type BoxAbsence = (box: BoxId) => OfflineReason | null

/** Longest waits of a stop: for drivers to return, and for sends past their point of no return. */
const STOP_MS_MAX = 10_000
const STOP_SENDS_MS_MAX = 60_000
const READY_MS_MAX = 5_000

/** Finds lines, keeps each of them running, and hands messages to their sessions. */
export class LineSupervisor implements Service {
  readonly name = 'lines'
  readonly #tools: SupervisorTools
  readonly #registry: LineRegistry
  readonly #watches: readonly DriverWatch[]
  /** Drivers that were asked for their devices, whatever they answered. */
  readonly #asked = new Set<string>()
  readonly #ready = Promise.withResolvers<void>()

  constructor(tools: SupervisorTools) {
    const { clock, log, drivers } = tools
    this.#tools = tools
    this.#registry = new LineRegistry(tools)
    this.#registry.onChange(() => this.#checkReady())
    this.#watches = drivers.map((driver) => {
      const onFound = (found: readonly Found[]) => this.#applyFound(driver.kind, found)
      const onFailure = (error: Error) => this.#discoveryFailed(driver.kind, error)
      return new DriverWatch(driver, { clock, log, onFound, onFailure })
    })
    for (const line of listLines(tools.db)) this.#registry.add(line)
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#registry.start(signal)
    await Promise.all([...this.#watches.map((watch) => watch.run(signal)), whenAborted(signal)])
    await this.#stop()
  }

  /** Resolves when the state of every line is known, or after five seconds. */
  async whenReady(): Promise<void> {
    this.#checkReady()
    await withTimeout(this.#tools.clock, READY_MS_MAX, this.#ready.promise, null)
  }

  /** All lines, by creation, oldest first; the same array until something changes. */
  lines(): readonly LineSnapshot[] {
    return this.#registry.lines()
  }

  find(id: string): LineSnapshot | null {
    return this.#registry.get(id)?.snapshot() ?? null
  }

  /** Names of the kinds that are not real. */
  get practiceKinds(): readonly string[] {
    return this.#tools.kinds.flatMap(({ isReal, name }) => (isReal ? [] : [name]))
  }

  /** Calls `listener` after any change of a line's state or settings. */
  onChange(listener: (id: LineId) => void): void {
    this.#registry.onChange(listener)
  }

  /** True where the device has history with `handle`; null where it cannot be asked in 100 ms. */
  async knows(id: LineId, handle: Handle): Promise<boolean | null> {
    return (await this.#registry.get(id)?.knows(handle)) ?? null
  }

  /** Hands a message to the line's session; resolves in the turn in which the driver answers. */
  send(
    id: LineId,
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
  ): Promise<SendAnswer> {
    return this.#registry.get(id)?.send(message, pointOfNoReturn) ?? Promise.resolve(NO_SESSION)
  }

  /** Changes what the owner may change; throws `not_found`. */
  patch(id: string, changes: Partial<LineSettings>, origin: Origin): Promise<LineSnapshot> {
    return changeLine(this.#adminTools(origin), id, changes)
  }

  /** Deletes a line that is not configured any more; throws `phone_line_in_use` for any other. */
  remove(id: string, origin: Origin): Promise<void> {
    return removeLine(this.#adminTools(origin), id)
  }

  /**
   * Gives a vanished line the device of another one, whichever of the two is named first; with the
   * same id twice, accepts the line's changed number.
   */
  adopt(id: string, from: string, origin: Origin): Promise<LineSnapshot> {
    return adoptLine(this.#adminTools(origin), id, from)
  }

  /** Lets a line continue at another place, or leaves it where it is: see `moveLine`. */
  async move(id: string, place: Place | null, origin: Origin): Promise<LineSnapshot> {
    const moved = await moveLine(this.#adminTools(origin), id, place)
    for (const watch of this.#watches) if (watch.driver.kind === moved.line.driver) watch.look()
    return moved
  }

  /** Findings of the drivers, and every line that is offline. */
  async checkup(signal: AbortSignal): Promise<readonly LineFinding[]> {
    const found = await Promise.all(
      this.#watches.map(async (watch) => {
        return [watch.driver.kind, await watch.checkup(signal)] as const
      }),
    )
    return findingsOf(this.lines(), new Map(found))
  }

  #adminTools(origin: Origin): LineAdminTools {
    return { ...this.#tools, registry: this.#registry, origin }
  }

  async #applyFound(kind: string, found: readonly Found[]): Promise<void> {
    const known = this.#registry.ofDriver(kind).map((runner) => runner.line)
    const isReal = this.#tools.kinds.some(({ name, isReal }) => name === kind && isReal)
    const { boxAbsence } = this.#tools
    const discovery = discoveryOf(known, found, { boxAbsence, isReal })
    const { present, absent, takeOvers, arrivals } = discovery
    for (const { id, reason } of absent) this.#registry.get(id)?.lost(reason)
    for (const { id } of takeOvers) this.#registry.get(id)?.lost(null)
    for (const { id, number, obstacle } of present) this.#registry.get(id)?.found(number, obstacle)
    if (takeOvers.length + arrivals.length > 0) await this.#storeFound(kind, discovery)
    this.#asked.add(kind)
    this.#checkReady()
  }

  /** Stores what is new, and lets it run. */
  async #storeFound(kind: string, { takeOvers, arrivals }: Discovery): Promise<void> {
    const { writer, stamps, log } = this.#tools
    const lines = await writer.write((tx): readonly Line[] => {
      const taken = takeOvers.flatMap(
        ({ id, ...device }) => updateLine(tx, id, { ...device, movesTo: null }) ?? [],
      )
      const limit = { dailyContactLimit: DEFAULT_DAILY_CONTACT_LIMIT }
      const fresh = arrivals.map((device) =>
        insertLine(tx, stamps, { driver: kind, ...device, ...limit }),
      )
      return [...taken, ...fresh]
    })
    for (const line of lines) {
      log.info('line found', { line_id: line.id, driver: kind })
      const runner = this.#registry.get(line.id) ?? this.#registry.add(line)
      runner.replace(line)
      runner.found(line.number)
    }
  }

  #discoveryFailed(kind: string, error: Error): void {
    for (const runner of this.#registry.ofDriver(kind)) runner.discoveryFailed(error)
    this.#asked.add(kind)
    this.#checkReady()
  }

  #checkReady(): void {
    if (this.#asked.size < this.#watches.length) return
    const isStarting = ({ state }: LineSnapshot) =>
      state.status === 'offline' && state.reason.code === 'starting'
    if (!this.lines().some(isStarting)) this.#ready.resolve()
  }

  async #stop(): Promise<void> {
    const { clock } = this.#tools
    const runners = this.#registry.runners()
    await withTimeout(clock, STOP_MS_MAX, this.#registry.ended(), null)
    for (const runner of runners) runner.giveUp('waiting')
    const drained = Promise.all(runners.map((runner) => runner.drained()))
    await withTimeout(clock, STOP_SENDS_MS_MAX - STOP_MS_MAX, drained, null)
    for (const runner of runners) runner.giveUp('all')
    await drained
  }
}

type Device = { readonly key: string; readonly number: string; readonly box: BoxId | null }

/** Consequences of a driver's answer for its known lines. */
export type Discovery = {
  readonly present: readonly {
    readonly id: LineId
    readonly number: string | null
    /** Reason not to run it all the same. */
    readonly obstacle: OfflineReason | null
  }[]
  /** `reason` is null for that of the kind. */
  readonly absent: readonly { readonly id: LineId; readonly reason: OfflineReason | null }[]
  /** Vanished lines whose number came back on another device. */
  readonly takeOvers: readonly ({ readonly id: LineId } & Device)[]
  /** Devices that become new lines. One whose number is not known yet is not among them. */
  readonly arrivals: readonly Device[]
}

/** `known` are all lines of one driver, oldest first, `found` the devices attached now. */
export function discoveryOf(
  known: readonly Line[],
  found: readonly Found[],
  places: { readonly boxAbsence: BoxAbsence; readonly isReal: boolean },
): Discovery {
  const devices = new Map(found.map((device) => [identityOf(device), device]))
  const present: { id: LineId; number: string | null; obstacle: OfflineReason | null }[] = []
  const vanished = new Map<LineId, { line: Line; reason: OfflineReason | null }>()
  for (const line of known) {
    const device = devices.get(identityOf(line))
    const reason = absenceOf(line, places.boxAbsence)
    const obstacle =
      places.isReal && hasOlderTwin(line, known, places.boxAbsence)
        ? OFFLINE_REASONS.number_twice
        : null
    if (device === undefined || reason !== null) vanished.set(line.id, { line, reason })
    else present.push({ id: line.id, number: device.number, obstacle })
    devices.delete(identityOf(line))
  }

  const takeOvers: ({ id: LineId } & Device)[] = []
  const arrivals: Device[] = []
  for (const { key, number, box = null } of devices.values()) {
    if (number === null) continue
    const device = { key, number, box }
    const [heir, ...others] = [...vanished.values()].filter((one) => mayTakeOver(one, device))
    if (heir === undefined || others.length > 0) {
      arrivals.push(device)
      continue
    }
    vanished.delete(heir.line.id)
    takeOvers.push({ id: heir.line.id, ...device })
  }
  const absent = [...vanished.values()].map(({ line, reason }) => ({ id: line.id, reason }))
  return { present, absent, takeOvers, arrivals }
}

function identityOf({
  box,
  key,
}: {
  readonly box?: BoxId | null | undefined
  readonly key: string
}) {
  return `${box ?? ''}\0${key}`
}

/** Reason why the line cannot run, whatever was found. */
function absenceOf({ box, movesTo }: Line, boxAbsence: BoxAbsence): OfflineReason | null {
  if (movesTo !== null) return OFFLINE_REASONS.line_moving
  return box === null ? null : boxAbsence(box)
}

/** Of two machines with one number, the newer line waits until the owner has decided. */
function hasOlderTwin(line: Line, known: readonly Line[], boxAbsence: BoxAbsence): boolean {
  const older = known.slice(0, known.indexOf(line))
  const twins = older.filter(({ box, number }) => number === line.number && box !== line.box)
  return twins.some(({ box }) => box === null || !isRemoved(boxAbsence(box)))
}

function isRemoved(reason: OfflineReason | null): boolean {
  return reason?.code === OFFLINE_REASONS.box_removed.code
}

/**
 * A device continues the vanished line with its number: at the place that the line moves to, or else at the
 * same one. A box that is silent may still send: only the line of a removed box continues elsewhere.
 */
function mayTakeOver(
  { line, reason }: { readonly line: Line; readonly reason: OfflineReason | null },
  { number, box }: Device,
): boolean {
  if (line.number !== number) return false
  if (line.movesTo !== null) return line.movesTo === (box ?? 'here')
  return line.box === box || isRemoved(reason)
}
