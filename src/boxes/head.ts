// The head's side of several boxes. Nothing of it runs, and no port is open, until there is a box or an
// invitation.

import type { WatchedBox } from '../domain/box.ts'
import type { BoxId } from '../domain/ids.ts'
import type { Line, LineState } from '../domain/line.ts'
import { DAY_MS, MINUTE_MS } from '../domain/time.ts'
import type { LineDriver } from '../lines/driver.ts'
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

export type Boxes = ReturnType<typeof createBoxes>

const ORDER_MS = 5_000

export function createBoxes(
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
  const { db, clock, log } = core
  const { broker, name, version, folder, lines, store, deviceKinds, metrics } = given
  const wake = new Signal()
  const fleet = new Fleet({
    clock,
    log,
    version,
    folder,
    records: recordsIn(core),
    takesFile: (size, others) => store.takes(size, others),
    releaseFile: (request) => rollouts.chunk(request),
  })
  const drivers = joined(given.drivers, deviceKinds, fleet)
  const changed = () => {
    core.changes.publish([{ what: 'box', id: 'all' }])
    given.healthSignal.notify()
  }
  fleet.onChange(changed)
  const senders = () => listBoxes(db).flatMap(({ id }) => [id, INVITATION_PREFIX + id])
  const gate = new FloodGate(core, { senders, changed })
  const startedAt = core.ids.now()
  const linesOf = (id: BoxId) => lines().filter(({ line }) => line.box === id)
  const rollouts = new Rollouts(core, {
    folder: given.releases,
    version,
    changed,
    order: (id, order) =>
      fleet.ask(id, 'upgrade', { ...order, epoch: fleet.epochOf(id) }, ORDER_MS),
    viewOf: (id) => viewOf(core, fleet, id, linesOf(id)),
  })
  const apply = () => {
    wake.notify()
    // Lines of a box that was removed end at once.
    for (const { devicesChanged } of drivers) devicesChanged?.notify()
    changed()
    return broker.apply()
  }
  const head: Head = { core, name, fleet, gate, broker, wake }
  const refused = (id: BoxId) =>
    refusedDevices(core, fleet, { id, lines: linesOf(id), deviceKinds })
  const watched = () => watchedBoxes(head, startedAt, refused)
  metrics.onCollect(() => observe(metrics, watched()))
  return {
    services: [{ name: 'boxes', run: (signal: AbortSignal) => run(head, signal) }, rollouts],
    /** One for each kind: for the devices of this machine and of all boxes. */
    drivers,
    actions: new BoxActions(core, { broker, fleet, rollout: rollouts, apply }),
    rollouts,
    absence: (id: BoxId) => fleet.absence(id),
    /** Devices of a kind that the boxes report. */
    devices: (kind: string) => fleet.devices(kind),
    watched,
    /** Lines that a box may bring before the owner has to add them. */
    linesMax: () => linesMax(core),
    nameOf: (id: BoxId) => findBox(db, id)?.name ?? id,
  }
}

function linesMax({ settings }: Core): number {
  return settings.get('box_lines_max')
}

function watchedBoxes(
  { core: { db, clock }, fleet, gate }: Head,
  startedAt: number,
  refused: (box: BoxId) => number,
): readonly WatchedBox[] {
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
      isTwice: heard?.isTwice === true,
      cutOffUntil: gate.cutOff.get(id) ?? null,
      isUnsigned: fleet.refuses(id),
      refusedDevices: refused(id),
    }
  })
}

/** The number of a box's devices that became no line, because it has as many as it may bring. */
function refusedDevices(
  core: Core,
  fleet: Fleet,
  box: {
    readonly id: BoxId
    readonly lines: readonly ListedLine[]
    readonly deviceKinds: readonly string[]
  },
): number {
  if (box.lines.length < linesMax(core)) return 0
  const keys = new Set(box.lines.map(({ line }) => line.key))
  const found = box.deviceKinds.flatMap((kind) => fleet.devices(kind))
  return found.filter((one) => one.box === box.id && one.number !== null && !keys.has(one.key))
    .length
}

function viewOf(
  { db }: Core,
  fleet: Fleet,
  id: BoxId,
  lines: readonly ListedLine[],
): BoxView | null {
  const box = findBox(db, id)
  if (box === null || box.removedAt !== null) return null
  const heard = fleet.snapshot(id)
  const { version, platform, upgrade } = heard ?? { ...box, upgrade: null }
  const enabled = lines.filter(({ line }) => line.isEnabled)
  return {
    isReachable: heard?.isHeard === true,
    version,
    platform,
    upgrade,
    lines: enabled.map(({ line, state }) => ({ line, isOnline: state.status === 'online' })),
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
          // A box that joined a cluster with a direct token has joined once it is heard.
          const joinedAt = findBox(tx, id)?.joinedAt ?? ids.now()
          updateBox(tx, id, { ...facts, joinedAt, lastHeardAt: ids.now() })
        })
        .catch((error: unknown) =>
          log.warn('facts of a box are not stored', { box_id: id, error }),
        ),
  }
}

type Head = {
  readonly core: Core
  readonly name: string
  readonly fleet: Fleet
  readonly gate: FloodGate
  readonly broker: HeadBroker
  readonly wake: Signal
}

async function run(head: Head, signal: AbortSignal): Promise<void> {
  const { core, wake } = head
  while (!signal.aborted) {
    if (isNeeded(core)) await live(head, signal)
    else await wake.wait(core.clock, DAY_MS, signal)
  }
}

function isNeeded({ db, clock }: Core): boolean {
  const { boxes, invitations } = brokerUsersOf(db, clock.now())
  return boxes.length + invitations.length > 0
}

/** Runs from the first box or invitation to the end of the last one. */
async function live(head: Head, stop: AbortSignal): Promise<void> {
  const { core, fleet, gate, broker, wake } = head
  const over = new AbortController()
  const serving = broker.run(AbortSignal.any([stop, over.signal]))
  const link = await broker.connect().catch(async (error: unknown) => {
    over.abort()
    await serving
    throw error
  })
  const leave = await serve(head, gate.over(link))
  try {
    while (!stop.aborted && isNeeded(core)) {
      const before = linesMax(core)
      await Promise.race([wake.wait(core.clock, MINUTE_MS, stop), serving])
      gate.refresh()
      if (linesMax(core) !== before) fleet.changed()
    }
  } finally {
    leave()
    await link.close()
    over.abort()
    await serving
  }
}

/** A box is known by the key that it joined with. */
function trustIn({ db, writer, log }: Core): Trust {
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

/** Answers boxes, and machines that join, in a new epoch. Returns a function that stops answering. */
async function serve({ core, name, fleet, broker }: Head, link: Link): Promise<() => void> {
  const epoch = await core.writer.write((tx) => beginEpoch(tx))
  const key = await broker.key()
  const stopJoins = serveJoins(link, {
    name,
    key: key.publicKey,
    accept: (request) => acceptJoin(core, request),
    apply: () => broker.apply(),
  })
  const detach = fleet.attach(new SignedLink(link, key, trustIn(core), core), epoch)
  return () => {
    stopJoins()
    detach()
  }
}
