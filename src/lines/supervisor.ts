import type { ScopedFinding } from '../domain/finding.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import { DEFAULT_DAILY_CONTACT_LIMIT, type Line } from '../domain/line.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import type { Core } from '../storage/core.ts'
import { insertLine, listLines, updateLine } from '../storage/lines.ts'
import { whenAborted, withTimeout } from '../system/clock.ts'
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
import type { Found, LineDriver, PointOfNoReturn } from './driver.ts'
import { LineAdmin } from './line-admin.ts'
import { type KindFacts, kindOf } from './line-kind.ts'
import { type LineMessages, LineRunner } from './line-runner.ts'
import { findingsOf, type LineSnapshot } from './line-state.ts'
import { LineRegistry } from './registry.ts'
import { NO_SESSION, type SendAnswer } from './session.ts'

export type BoxDevices = {
  readonly absence: BoxAbsence
  /** The devices of a kind at boxes. They are used even if this machine's driver fails. */
  readonly devices: (kind: string) => readonly Found[]
  /** Lines that a box may add without the owner's approval. */
  readonly linesMax: () => number
}

/** Longest waits of a stop: for drivers to return, and for sends past their point of no return. */
const STOP_MS_MAX = 10_000
const STOP_SENDS_MS_MAX = 60_000
const READY_MS_MAX = 5_000

/** Finds lines, keeps each of them running, and hands messages to their sessions. */
export class LineSupervisor implements Service {
  readonly name = 'lines'
  readonly admin: LineAdmin
  readonly #core: Core
  readonly #kinds: readonly KindFacts[]
  readonly #boxes: BoxDevices
  readonly #registry: LineRegistry
  readonly #watches: readonly DriverWatch[]
  /** Kinds whose drivers have been asked for their devices, with any result. */
  readonly #asked = new Set<string>()
  readonly #ready = Promise.withResolvers<void>()

  constructor(
    core: Core,
    given: {
      readonly kinds: readonly KindFacts[]
      readonly drivers: readonly LineDriver[]
      readonly boxes: BoxDevices
      readonly messages: LineMessages
    },
  ) {
    const { kinds, drivers, messages } = given
    this.#core = core
    this.#kinds = kinds
    this.#boxes = given.boxes
    this.#registry = new LineRegistry((line, onChange) => {
      const driver = drivers.find(({ kind }) => kind === line.driver) ?? null
      const kind = kindOf(kinds, line.driver)
      return new LineRunner(core, line, { driver, kind, messages, onChange })
    })
    this.#registry.onChange(() => this.#checkReady())
    this.#watches = drivers.map((driver) => {
      const onFound = (here: readonly Found[] | null) => this.#applyFound(driver.kind, here)
      const onFailure = (error: Error) => this.#discoveryFailed(driver.kind, error)
      return new DriverWatch(core, driver, { onFound, onFailure })
    })
    this.admin = new LineAdmin(core, this.#registry, kinds, (kind) => this.#discoverNow(kind))
    for (const line of listLines(core.db)) this.#registry.add(line)
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#registry.start(signal)
    await Promise.all([...this.#watches.map((watch) => watch.run(signal)), whenAborted(signal)])
    await this.#stop()
  }

  /** Resolves once the state of every line is known, or after five seconds. */
  async whenReady(): Promise<void> {
    this.#checkReady()
    await withTimeout(this.#core.clock, READY_MS_MAX, this.#ready.promise, null)
  }

  /** Oldest first; the same array until something changes. */
  lines(): readonly LineSnapshot[] {
    return this.#registry.lines()
  }

  find(id: string): LineSnapshot | null {
    return this.#registry.get(id)?.snapshot() ?? null
  }

  get practiceKinds(): readonly string[] {
    return this.#kinds.flatMap(({ isReal, name }) => (isReal ? [] : [name]))
  }

  /** Called after any change of a line's state or settings. */
  onChange(listener: (id: LineId) => void): void {
    this.#registry.onChange(listener)
  }

  /** True if the device has history with `handle`; null if it does not answer within 100 ms. */
  async knows(id: LineId, handle: Handle): Promise<boolean | null> {
    return (await this.#registry.get(id)?.knows(handle)) ?? null
  }

  /**
   * Hands a message to the line's session. Called by dispatch only. Never rejects: without a session the answer is
   * `NO_SESSION`. Resolves in the turn in which the driver answers, which may take minutes.
   */
  send(
    id: LineId,
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
  ): Promise<SendAnswer> {
    return this.#registry.get(id)?.send(message, pointOfNoReturn) ?? Promise.resolve(NO_SESSION)
  }

  async checkup(signal: AbortSignal): Promise<readonly ScopedFinding[]> {
    const found = await Promise.all(
      this.#watches.map(async (watch) => {
        return [watch.driver.kind, await watch.checkup(signal)] as const
      }),
    )
    return findingsOf(this.lines(), new Map(found))
  }

  #discoverNow(kind: string): void {
    for (const watch of this.#watches) if (watch.driver.kind === kind) watch.discoverNow()
  }

  /** `here` has the devices of this machine, or is null while they are unknown. */
  async #applyFound(kind: string, here: readonly Found[] | null): Promise<void> {
    const known = this.#registry.ofDriver(kind).map((runner) => runner.line)
    const isReal = this.#kinds.some(({ name, isReal }) => name === kind && isReal)
    const places = { boxAbsence: this.#boxes.absence, isReal, isHereKnown: here !== null }
    const discovery = discoveryOf(known, [...(here ?? []), ...this.#boxes.devices(kind)], places)
    const { present, absent, movedLines, newDevices } = discovery
    for (const { id, reason } of absent) this.#registry.get(id)?.lost(reason)
    for (const { id } of movedLines) this.#registry.get(id)?.lost(null)
    for (const { id, number, obstacle } of present) this.#registry.get(id)?.found(number, obstacle)
    if (movedLines.length + newDevices.length > 0) await this.#storeFound(kind, discovery, places)
    this.#asked.add(kind)
    this.#checkReady()
  }

  async #storeFound(
    kind: string,
    { movedLines, newDevices }: Discovery,
    places: Places,
  ): Promise<void> {
    const { writer, ids, log } = this.#core
    const lines = await writer.write((tx): readonly Line[] => {
      const taken = movedLines.flatMap(
        ({ id, ...device }) => updateLine(tx, id, { ...device, movesTo: null }) ?? [],
      )
      const limit = { dailyContactLimit: DEFAULT_DAILY_CONTACT_LIMIT }
      const coming = admitted(newDevices, listLines(tx), this.#boxes.linesMax())
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
    const { clock } = this.#core
    const runners = this.#registry.runners()
    await withTimeout(clock, STOP_MS_MAX, this.#registry.ended(), null)
    for (const runner of runners) runner.giveUp('waiting')
    const drained = Promise.all(runners.map((runner) => runner.drained()))
    await withTimeout(clock, STOP_SENDS_MS_MAX - STOP_MS_MAX, drained, null)
    for (const runner of runners) runner.giveUp('all')
    await drained
  }
}
