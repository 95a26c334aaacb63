// The head's side of several boxes as one module: nothing of it runs, and no port is open, until there is a
// box or an invitation.

import type { WatchedBox } from '../domain/box.ts'
import type { Finding } from '../domain/finding.ts'
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
import type { Settings } from '../storage/settings.ts'
import type { ChangeFeed } from '../system/change-feed.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import {
  acceptJoin,
  brokerUsersOf,
  createBoxActions,
  INVITATION_PREFIX,
  type BoxActions,
  type BoxAdminTools,
} from './admin.ts'
import { serveJoins } from './enrolment.ts'
import { Fleet } from './fleet.ts'
import { FloodGate } from './flood-gate.ts'
import type { HeadBroker } from './head-broker.ts'
import { createJoinedDriver } from './joined-driver.ts'
import type { Link } from './link.ts'
import { Rollouts } from './rollouts.ts'
import { SignedLink, type Trust } from './signed-link.ts'

export type HeadTools = Pick<BoxAdminTools, 'db' | 'writer' | 'ids' | 'audit'> & {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly changes: Pick<ChangeFeed, 'publish'>
  readonly healthSignal: Signal
  readonly metrics: Metrics
  readonly version: string
  /** Name of this machine, for machines that join. */
  readonly name: string
  /** Folder for files of received messages, until they are stored. */
  readonly folder: string
  /** Folder of the executables that boxes are upgraded to. */
  readonly releases: string
  /** All lines of the relay, as they are now. */
  readonly lines: () => readonly { readonly line: Line; readonly state: LineState }[]
  /** Gets all that may connect now. */
  readonly createBroker: (users: () => ReturnType<typeof brokerUsersOf>) => HeadBroker
  readonly settings: Pick<Settings, 'get'>
  /** Files that were received. */
  readonly store: { takes(size: number, others: number): Promise<boolean> }
  readonly drivers: readonly LineDriver[]
  /** Names of the kinds whose devices can be at a box. */
  readonly deviceKinds: readonly string[]
}

type Tools = HeadTools & { readonly gate: FloodGate }

export type Boxes = {
  readonly services: readonly Service[]
  /** One for each kind: for the devices of this machine and of all boxes. */
  readonly drivers: readonly LineDriver[]
  readonly actions: BoxActions
  absence(box: BoxId): OfflineReason | null
  /** Devices of a kind that the boxes report. */
  devices(kind: string): readonly Found[]
  watched(): readonly WatchedBox[]
  /** Lines that a box may bring without the owner's word. */
  linesMax(): number
  nameOf(box: BoxId): string
  /** Of the broker. */
  findings(): readonly Finding[]
  readonly rollouts: Pick<Rollouts, 'findings'>
}

const ORDER_MS = 5_000

export function createBoxes(tools: HeadTools): Boxes {
  const { db, writer, clock, ids, changes, healthSignal } = tools
  const wake = new Signal()
  const users = () => brokerUsersOf(db, clock.now())
  const broker = tools.createBroker(users)
  const fleet = new Fleet({
    ...tools,
    find: (id) => findBox(db, id),
    epochOf: (id) => epochOf(db, id),
    raiseEpoch: (id, above) => writer.write((tx) => raiseEpochOf(tx, id, above)),
    takesFile: (size, others) => tools.store.takes(size, others),
    heard: (id, facts) => void noteHeard(tools, id, facts),
    releaseFile: (request) => rollouts.chunk(request),
  })
  const drivers = joined(tools, fleet)
  const changed = () => {
    changes.publish([{ what: 'box', id: 'all' }])
    healthSignal.notify()
  }
  fleet.onChange(changed)
  const senders = () => listBoxes(db).flatMap(({ id }) => [id, INVITATION_PREFIX + id])
  const own: Tools = { ...tools, gate: new FloodGate({ ...tools, senders, changed }) }
  const startedAt = ids.now()
  const rollouts = createRollouts(tools, fleet, changed)
  const actions = createBoxActions({
    ...tools,
    rollouts,
    prepare: () => broker.prepare(),
    brokerUsers: () => broker.users(),
    absence: (id) => fleet.absence(id),
    freeBytes: (id) => fleet.snapshot(id)?.health.freeBytes ?? null,
    lastHeardAt: ({ id, lastHeardAt }) => fleet.snapshot(id)?.lastHeardAt ?? lastHeardAt,
    apply: () => {
      wake.notify()
      // Lines of a box that was removed end at once.
      for (const { devicesChanged } of drivers) devicesChanged?.notify()
      changed()
      return broker.apply()
    },
  })
  const boxes: Boxes = {
    services: [
      { name: 'boxes', run: (signal) => run({ tools: own, fleet, broker, users, wake }, signal) },
      rollouts,
    ],
    drivers,
    actions,
    rollouts,
    absence: (id) => fleet.absence(id),
    devices: (kind) => fleet.devices(kind),
    linesMax: () => tools.settings.get('box_lines_max'),
    nameOf: (id) => findBox(db, id)?.name ?? id,
    findings: () => broker.findings(),
    watched: () => watchedBoxes(own, fleet, startedAt),
  }
  tools.metrics.onCollect(() => observe(tools.metrics, boxes.watched()))
  return boxes
}

function watchedBoxes(tools: Tools, fleet: Fleet, startedAt: number): readonly WatchedBox[] {
  const { db, clock } = tools
  const joined = listBoxes(db).filter((box) => box.joinedAt !== null && box.removedAt === null)
  return joined.map(({ id, name, version }) => {
    const heard = fleet.snapshot(id)
    return {
      id,
      name,
      absence: fleet.absence(id),
      silentMs: clock.now() - (heard?.lastHeardAt ?? startedAt),
      version: heard?.version ?? version,
      freeBytes: heard?.health.freeBytes ?? null,
      isTwice: heard?.problem === 'box_twice',
      cutOffUntil: tools.gate.cutOff.get(id) ?? null,
      isUnsigned: fleet.refuses(id),
      refusedDevices: refusedDevices(tools, fleet, id),
    }
  })
}

function refusedDevices(
  { deviceKinds, lines, settings }: HeadTools,
  fleet: Fleet,
  box: BoxId,
): number {
  const own = lines().filter(({ line }) => line.box === box)
  if (own.length < settings.get('box_lines_max')) return 0
  const keys = new Set(own.map(({ line }) => line.key))
  const found = deviceKinds.flatMap((kind) => fleet.devices(kind))
  return found.filter((one) => one.box === box && one.number !== null && !keys.has(one.key)).length
}

function createRollouts(tools: HeadTools, fleet: Fleet, changed: () => void): Rollouts {
  const { db, releases: folder, lines } = tools
  return new Rollouts({
    ...tools,
    folder,
    changed,
    order: (id, order) =>
      fleet.ask(id, 'upgrade', { ...order, epoch: fleet.epochOf(id) }, ORDER_MS),
    viewOf(id) {
      const box = findBox(db, id)
      if (box === null || box.removedAt !== null) return null
      const heard = fleet.snapshot(id)
      const { version, platform, upgrade } = heard ?? { ...box, upgrade: null }
      const own = lines().filter(({ line }) => line.box === id && line.isEnabled)
      return {
        isReachable: heard?.isHeard === true,
        version,
        platform,
        upgrade,
        lines: own.map(({ line, state }) => ({ line, isOnline: state.status === 'online' })),
      }
    },
  })
}

/** Kinds without a device of this machine have a driver too: a box may have one at any time. */
function joined({ drivers, deviceKinds }: HeadTools, fleet: Fleet): readonly LineDriver[] {
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

/** Stores the facts of a box that is heard. The first ones complete the joining of a user of a cluster. */
async function noteHeard(
  { writer, ids, log }: HeadTools,
  id: BoxId,
  facts: { readonly version: string; readonly platform: string },
): Promise<void> {
  try {
    await writer.write((tx) => {
      const joinedAt = findBox(tx, id)?.joinedAt ?? ids.now()
      updateBox(tx, id, { ...facts, joinedAt, lastHeardAt: ids.now() })
    })
  } catch (error) {
    log.warn('facts of a box are not stored', { box_id: id, error })
  }
}

type Head = {
  readonly tools: Tools
  readonly fleet: Fleet
  readonly broker: HeadBroker
  readonly users: () => ReturnType<typeof brokerUsersOf>
  readonly wake: Signal
}

async function run(head: Head, signal: AbortSignal): Promise<void> {
  const { tools, users, wake } = head
  const isNeeded = () => users().boxes.length + users().invitations.length > 0
  while (!signal.aborted) {
    if (isNeeded()) await live(head, isNeeded, signal)
    else await wake.wait(tools.clock, DAY_MS, signal)
  }
}

/** From the first box or invitation to the end of the last one. */
async function live(head: Head, isNeeded: () => boolean, stop: AbortSignal): Promise<void> {
  const { tools, fleet, broker, wake } = head
  const over = new AbortController()
  const serving = broker.run(AbortSignal.any([stop, over.signal]))
  const link = await broker.connect().catch(async (error: unknown) => {
    over.abort()
    await serving
    throw error
  })
  const leave = await serve(head, tools.gate.over(link))
  const linesMax = () => tools.settings.get('box_lines_max')
  try {
    while (!stop.aborted && isNeeded()) {
      const before = linesMax()
      await Promise.race([wake.wait(tools.clock, MINUTE_MS, stop), serving])
      tools.gate.refresh()
      if (linesMax() !== before) fleet.changed()
    }
  } finally {
    leave()
    await link.close()
    over.abort()
    await serving
  }
}

/** A box is known by the key that it joined with. */
function trustIn({ db, writer, log }: HeadTools): Trust {
  return {
    peer(id) {
      const box = findBox(db, id as BoxId) // Only compared with ids.
      const key = box?.publicKey ?? null
      return box === null || key === null ? null : { key, mustSign: mustSign(db, box.id, key) }
    },
    insist: (id, key) =>
      void writer
        .write((tx) => insistOnSignature(tx, id as BoxId, key)) // `peer` found it.
        .catch((error: unknown) => log.warn('key of a box is not stored', { box_id: id, error })),
  }
}

/** Answers boxes, and machines that join, in a new epoch. Returns a function that ends it. */
async function serve({ tools, fleet, broker }: Head, link: Link): Promise<() => void> {
  const epoch = await tools.writer.write((tx) => beginEpoch(tx))
  const key = await broker.key()
  const stopJoins = serveJoins(link, {
    name: tools.name,
    key: key.publicKey,
    accept: (request) => acceptJoin(tools, request),
    apply: () => broker.apply(),
  })
  const detach = fleet.attach(new SignedLink(link, key, trustIn(tools), tools), epoch)
  return () => {
    stopJoins()
    detach()
  }
}
