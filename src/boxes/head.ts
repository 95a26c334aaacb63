// The head's side of several boxes. Nothing of it runs, and no port is open, until there is a box or an
// invitation.

import type { WatchedBox } from '../domain/box.ts'
import type { BoxId } from '../domain/ids.ts'
import type { Line, LineState, OfflineReason } from '../domain/line.ts'
import { DAY_MS, MINUTE_MS } from '../domain/time.ts'
import type { Found, LineDriver } from '../lines/driver.ts'
import {
  beginEpoch,
  epochOf,
  findBox,
  insistOnSignature,
  listBoxes,
  mustSign,
  raiseEpochOf,
  updateBox,
} from '../storage/boxes.ts'
import type { Core } from '../storage/core.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { acceptJoin, BoxActions, brokerUsersOf, INVITATION_PREFIX } from './admin.ts'
import { serveJoins } from './enrolment.ts'
import { type BoxRecords, Fleet } from './fleet.ts'
import { FloodGate } from './flood-gate.ts'
import type { HeadBroker } from './head-broker.ts'
import { createJoinedDriver } from './joined-driver.ts'
import type { Link } from './link.ts'
import type { BoxView } from './rollout.ts'
import { Rollouts } from './rollouts.ts'
import { SignedLink, type Trust } from './signed-link.ts'

type ListedLine = { readonly line: Line; readonly state: LineState }

const ORDER_MS = 5_000

export class Boxes implements Service {
  readonly name = 'boxes'
  readonly services: readonly Service[]
  /** One for each kind: for the devices of this machine and of all boxes. */
  readonly drivers: readonly LineDriver[]
  readonly actions: BoxActions
  readonly rollouts: Rollouts
  readonly #core: Core
  readonly #broker: HeadBroker
  readonly #machineName: string
  readonly #fleet: Fleet
  readonly #gate: FloodGate
  readonly #lines: () => readonly ListedLine[]
  readonly #deviceKinds: readonly string[]
  readonly #startedAt: number
  readonly #changed: () => void
  /** Notified when boxes or invitations change. */
  readonly #wake = new Signal()

  constructor(
    core: Core,
    given: {
      readonly healthSignal: Signal
      readonly metrics: Metrics
      readonly broker: HeadBroker
      /** Name of this machine, for machines that join. */
      readonly name: string
      readonly version: string
      /** Folder for files of received messages until they are stored. */
      readonly folder: string
      /** Folder of the executables that boxes are upgraded to. */
      readonly releases: string
      /** All lines of the relay, as they are now. */
      readonly lines: () => readonly ListedLine[]
      readonly store: { takes(size: number, others: number): Promise<boolean> }
      readonly drivers: readonly LineDriver[]
      /** Names of the kinds whose devices can be at a box. */
      readonly deviceKinds: readonly string[]
    },
  ) {
    const { broker, version, folder, store, deviceKinds } = given
    this.#core = core
    this.#broker = broker
    this.#machineName = given.name
    this.#lines = given.lines
    this.#deviceKinds = deviceKinds
    const fleet = new Fleet({
      clock: core.clock,
      log: core.log,
      version,
      folder,
      records: recordsIn(core),
      takesFile: (size, others) => store.takes(size, others),
      releaseFile: (request) => this.rollouts.chunk(request),
    })
    this.#fleet = fleet
    this.drivers = joined(given.drivers, deviceKinds, fleet)
    const changed = () => {
      core.changes.publish([{ what: 'box', id: 'all' }])
      given.healthSignal.notify()
    }
    fleet.onChange(changed)
    this.#gate = new FloodGate(core, { senders: () => sendersIn(core), changed })
    this.#startedAt = core.ids.now()
    this.rollouts = new Rollouts(core, {
      folder: given.releases,
      version,
      changed,
      order: (id, order) =>
        fleet.ask(id, 'upgrade', { ...order, epoch: fleet.epochOf(id) }, ORDER_MS),
      viewOf: (id) => this.#viewOf(id),
    })
    this.#changed = changed
    const apply = () => this.#apply()
    this.actions = new BoxActions(core, { broker, fleet, rollout: this.rollouts, apply })
    this.services = [this, this.rollouts]
    given.metrics.onCollect(() => observe(given.metrics, this.watched()))
  }

  readonly absence = (id: BoxId): OfflineReason | null => this.#fleet.absence(id)

  /** Devices of a kind that the boxes report. */
  readonly devices = (kind: string): readonly Found[] => this.#fleet.devices(kind)

  /** Lines that a box may bring before the owner has to add them. */
  readonly linesMax = (): number => this.#core.settings.get('box_lines_max')

  nameOf(id: BoxId): string {
    return findBox(this.#core.db, id)?.name ?? id
  }

  watched(): readonly WatchedBox[] {
    const { db, clock } = this.#core
    const joined = listBoxes(db).filter((box) => box.joinedAt !== null && box.removedAt === null)
    return joined.map(({ id, name, version }) => {
      const heard = this.#fleet.snapshot(id)
      return {
        id,
        name,
        absence: this.#fleet.absence(id),
        silentMs: clock.now() - (heard?.lastHeardAt ?? this.#startedAt),
        version: heard?.version ?? version,
        freeBytes: heard?.health.freeBytes ?? null,
        isTwice: heard?.isTwice === true,
        cutOffUntil: this.#gate.cutOff.get(id) ?? null,
        isUnsigned: this.#fleet.refuses(id),
        refusedDevices: this.#refusedDevices(id),
      }
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#isNeeded()) await this.#live(signal)
      else await this.#wake.wait(this.#core.clock, DAY_MS, signal)
    }
  }

  /** The number of a box's devices that became no line, because it has as many as it may bring. */
  #refusedDevices(box: BoxId): number {
    const own = this.#linesOf(box)
    if (own.length < this.linesMax()) return 0
    const keys = new Set(own.map(({ line }) => line.key))
    const found = this.#deviceKinds.flatMap((kind) => this.#fleet.devices(kind))
    return found.filter((one) => one.box === box && one.number !== null && !keys.has(one.key))
      .length
  }

  #apply(): Promise<boolean> {
    this.#wake.notify()
    // Ends the lines of a removed box at once.
    for (const { devicesChanged } of this.drivers) devicesChanged?.notify()
    this.#changed()
    return this.#broker.apply()
  }

  #linesOf(box: BoxId): readonly ListedLine[] {
    return this.#lines().filter(({ line }) => line.box === box)
  }

  #viewOf(id: BoxId): BoxView | null {
    const box = findBox(this.#core.db, id)
    if (box === null || box.removedAt !== null) return null
    const heard = this.#fleet.snapshot(id)
    const { version, platform, upgrade } = heard ?? { ...box, upgrade: null }
    const enabled = this.#linesOf(id).filter(({ line }) => line.isEnabled)
    const lines = enabled.map(({ line, state }) => ({ line, isOnline: state.status === 'online' }))
    return { isReachable: heard?.isHeard === true, version, platform, upgrade, lines }
  }

  #isNeeded(): boolean {
    const { boxes, invitations } = brokerUsersOf(this.#core.db, this.#core.clock.now())
    return boxes.length + invitations.length > 0
  }

  /** Runs from the first box or invitation to the end of the last one. */
  async #live(stop: AbortSignal): Promise<void> {
    const over = new AbortController()
    const serving = this.#broker.run(AbortSignal.any([stop, over.signal]))
    const link = await this.#broker.connect().catch(async (error: unknown) => {
      over.abort()
      await serving
      throw error
    })
    const leave = await this.#serve(this.#gate.over(link))
    try {
      while (!stop.aborted && this.#isNeeded()) {
        const before = this.linesMax()
        await Promise.race([this.#wake.wait(this.#core.clock, MINUTE_MS, stop), serving])
        this.#gate.refresh()
        if (this.linesMax() !== before) this.#fleet.changed()
      }
    } finally {
      leave()
      await link.close()
      over.abort()
      await serving
    }
  }

  /** Answers boxes, and machines that join, in a new epoch. Returns a function that stops answering. */
  async #serve(link: Link): Promise<() => void> {
    const epoch = await this.#core.writer.write((tx) => beginEpoch(tx))
    const key = await this.#broker.key()
    const stopJoins = serveJoins(link, {
      name: this.#machineName,
      key: key.publicKey,
      accept: (request) => acceptJoin(this.#core, request),
      apply: () => this.#broker.apply(),
    })
    const signed = new SignedLink(link, key, trustIn(this.#core), this.#core)
    const detach = this.#fleet.attach(signed, epoch)
    return () => {
      stopJoins()
      detach()
    }
  }
}

/** A kind without a device on this machine has a driver too: a box may have such a device at any time. */
function joined(
  drivers: readonly LineDriver[],
  deviceKinds: readonly string[],
  fleet: Fleet,
): readonly LineDriver[] {
  const isHere = (kind: string) => drivers.some((driver) => driver.kind === kind)
  const join = (driver: LineDriver) =>
    deviceKinds.includes(driver.kind) ? createJoinedDriver(driver, driver.kind, fleet) : driver
  const elsewhere = deviceKinds.filter((kind) => !isHere(kind))
  return [...drivers.map(join), ...elsewhere.map((kind) => createJoinedDriver(null, kind, fleet))]
}

function observe(metrics: Metrics, boxes: readonly WatchedBox[]): void {
  const samples = boxes.map(
    ({ name, absence }) => [{ box: name }, absence === null ? 1 : 0] as const,
  )
  metrics.replace('hookline_box_up', 'Whether a box is reachable.', samples)
}

function recordsIn({ db, writer, ids, log }: Core): BoxRecords {
  return {
    find: (id) => findBox(db, id),
    epochOf: (id) => epochOf(db, id),
    raiseEpoch: (id, above) => writer.write((tx) => raiseEpochOf(tx, id, above)),
    heard: (id, facts) =>
      void writer
        .write((tx) => {
          // A box that joined a cluster with a direct token counts as joined once it is heard.
          const joinedAt = findBox(tx, id)?.joinedAt ?? ids.now()
          updateBox(tx, id, { ...facts, joinedAt, lastHeardAt: ids.now() })
        })
        .catch((error: unknown) =>
          log.warn('facts of a box are not stored', { box_id: id, error }),
        ),
  }
}

/** A box is known by the key that it joined with. */
function trustIn({ db, writer, log }: Core): Trust {
  return {
    peer(id) {
      const box = findBox(db, id as BoxId) // Only compared with stored ids.
      const key = box?.publicKey ?? null
      return box === null || key === null ? null : { key, mustSign: mustSign(db, box.id, key) }
    },
    insist: (id, key) =>
      void writer
        .write((tx) => insistOnSignature(tx, id as BoxId, key)) // `peer` found it.
        .catch((error: unknown) => log.warn('key of a box is not stored', { box_id: id, error })),
  }
}

/** Boxes and invitations, by the last word of their subjects. */
function sendersIn({ db }: Core): readonly string[] {
  return listBoxes(db).flatMap(({ id }) => [id, INVITATION_PREFIX + id])
}
