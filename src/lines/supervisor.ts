import type { Origin } from '../domain/audit.ts'
import type { ScopedFinding } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import { DEFAULT_DAILY_CONTACT_LIMIT, type Line, type Place } from '../domain/line.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { Audit } from '../storage/audit.ts'
import { insertLine, type LineSettings, listLines, updateLine } from '../storage/lines.ts'
import type { Writer } from '../storage/writer.ts'
import { whenAborted, withTimeout } from '../system/clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Service } from '../system/service.ts'
import {
  admitted,
  type BoxAbsence,
  discoveryOf,
  type Discovery,
  obstacleOf,
  type Places,
} from './discovery.ts'
import { DriverWatch } from './driver-watch.ts'
import type { Found, PointOfNoReturn } from './driver.ts'
import { adoptLine, changeLine, type LineAdminTools, moveLine, removeLine } from './line-admin.ts'
import { findingsOf, type LineSnapshot } from './line-state.ts'
import { LineRegistry, type RegistryTools } from './registry.ts'
import { NO_SESSION, type SendAnswer } from './session.ts'

export type SupervisorTools = RegistryTools & {
  readonly writer: Writer
  readonly ids: LogicalClock
  readonly audit: Pick<Audit, 'record'>
  readonly boxes: {
    readonly absence: BoxAbsence
    /** Devices of a kind that the boxes report: no failing driver of this machine holds them up. */
    readonly devices: (kind: string) => readonly Found[]
    /** Lines that a box may bring without the owner's word. */
    readonly linesMax: () => number
  }
}

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
      const onFound = (here: readonly Found[] | null) => this.#applyFound(driver.kind, here)
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
  async checkup(signal: AbortSignal): Promise<readonly ScopedFinding[]> {
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

  /** `here` are the devices of this machine, null while they are unknown. */
  async #applyFound(kind: string, here: readonly Found[] | null): Promise<void> {
    const { boxes } = this.#tools
    const known = this.#registry.ofDriver(kind).map((runner) => runner.line)
    const isReal = this.#tools.kinds.some(({ name, isReal }) => name === kind && isReal)
    const places = { boxAbsence: boxes.absence, isReal, isHereKnown: here !== null }
    const discovery = discoveryOf(known, [...(here ?? []), ...boxes.devices(kind)], places)
    const { present, absent, takeOvers, arrivals } = discovery
    for (const { id, reason } of absent) this.#registry.get(id)?.lost(reason)
    for (const { id } of takeOvers) this.#registry.get(id)?.lost(null)
    for (const { id, number, obstacle } of present) this.#registry.get(id)?.found(number, obstacle)
    if (takeOvers.length + arrivals.length > 0) await this.#storeFound(kind, discovery, places)
    this.#asked.add(kind)
    this.#checkReady()
  }

  /** Stores what is new, and lets it run. */
  async #storeFound(
    kind: string,
    { takeOvers, arrivals }: Discovery,
    places: Places,
  ): Promise<void> {
    const { writer, ids, log, boxes } = this.#tools
    const lines = await writer.write((tx): readonly Line[] => {
      const taken = takeOvers.flatMap(
        ({ id, ...device }) => updateLine(tx, id, { ...device, movesTo: null }) ?? [],
      )
      const limit = { dailyContactLimit: DEFAULT_DAILY_CONTACT_LIMIT }
      const coming = admitted(arrivals, listLines(tx), boxes.linesMax())
      const fresh = coming.map((device) =>
        insertLine(tx, ids, { driver: kind, ...device, ...limit }),
      )
      return [...taken, ...fresh]
    })
    for (const line of lines) {
      log.info('line found', { line_id: line.id, driver: kind })
      const runner = this.#registry.get(line.id) ?? this.#registry.add(line)
      runner.replace(line)
      const known = this.#registry.ofDriver(kind).map((one) => one.line)
      runner.found(line.number, obstacleOf(line, known, places))
    }
  }

  #discoveryFailed(kind: string, error: Error): void {
    const here = this.#registry.ofDriver(kind).filter(({ line }) => line.box === null)
    for (const runner of here) runner.discoveryFailed(error)
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
