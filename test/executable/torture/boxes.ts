// Kills a head, its boxes and its broker under load and in the middle of their starts, stops some for longer
// than the head waits for a box, and compares the ledgers of all: what clients were told, what the network
// of each box carried, what the head says, and what receivers got.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { systemRandom } from '../../../src/system/random.ts'
import { Receiver } from '../../support/receiver.ts'
import { eventually } from '../../support/relay-process.ts'
import { carriedIn, disagreements, readLedgers, unexplained } from '../ledgers.ts'
import { Doubts } from './doubts.ts'
import { fileCounts, fileFaults, pendingFiles, Uploads } from './files.ts'
import { Fleet, type FleetProcess } from './fleet.ts'
import { Clients, comeToRest, ENVIRONMENT, prepare } from './load.ts'

const GAP_MS_MIN = 200
const GAP_MS_MAX = 550
/** The share of kills that are followed by one of the same process while it starts. */
const EARLY_SHARE = 0.2
const START_MS_MAX = 400
/** Longer than a head waits for a hello, so that the process wakes with sessions that are over. */
const STOP_MS_MIN = 6_500
const STOP_MS_MAX = 8_500
const REFUSED_SHARE = 0.1
const SHAPE = { boxes: 2, linesOfBox: 2, ownLines: 1 } as const
/** People whose files come at once. */
const FILE_PEOPLE = ['0187', '0188', '0196', '0198', '0199'] as const
const ARRIVAL_MS_MAX = 120_000

export type BoxKillsOptions = {
  readonly kills: number
  /** Processes that are stopped and go on, beside the kills. */
  readonly stops: number
  readonly boxes?: number
}

export type FleetFigures = {
  readonly told: number
  readonly repeats: number
  readonly carried: number
  /** Of them by boxes. */
  readonly remote: number
  readonly inbound: number
  readonly posts: number
  readonly files: number
  readonly parts: number
  /** Every list is empty when all is well. */
  readonly faults: Readonly<Record<string, readonly unknown[]>>
}

export async function runBoxKills(options: BoxKillsOptions) {
  using well = new Receiver()
  using unwell = new Receiver(refuseSome)
  const shape = { ...SHAPE, boxes: options.boxes ?? SHAPE.boxes }
  await using fleet = await Fleet.open({ ...shape, environment: ENVIRONMENT })
  const executioner = new Executioner(fleet)
  const { clients, doubts } = await underLoad(fleet, [well, unwell], () => executioner.run(options))
  const exitCodes = await endAll(fleet)
  return {
    killed: executioner.killed,
    early: executioner.early,
    stopped: executioner.stopped,
    exitCodes,
    doubts: doubts.counts(),
    ...compareLedgers(fleet, clients, [well, unwell]),
  }
}

/** Runs `work` under the load of clients, waits until nothing is under way, and gives what was counted. */
export async function underLoad(
  fleet: Fleet,
  receivers: readonly Receiver[],
  work: () => Promise<void>,
) {
  const { api, key } = fleet
  const lines = await prepare(api, receivers, fleet.lineCount)
  const uploads = new Uploads(api, key.id)
  const clients = new Clients(api, key, lines, { uploads, filePeople: FILE_PEOPLE })
  const doubts = new Doubts(api)
  const running = Promise.all([clients.run(), doubts.run()])
  await work()
  await fleet.allOnline()
  clients.stop()
  await calm(fleet)
  doubts.stop()
  await running
  return { clients, doubts }
}

/** Everything has left, come in, and reached its receivers. */
async function calm(fleet: Fleet): Promise<void> {
  const isStill = () => placesOf(fleet).every((place) => pendingEvents(place) === 0)
  const limit = ARRIVAL_MS_MAX
  await eventually('the networks are still', () => (isStill() ? true : null), limit)
  const { dataDir } = fleet.head
  await comeToRest(fleet.api)
  await eventually('all files came', () => (pendingFiles(dataDir) === 0 ? true : null), limit)
  await eventually(
    'all came in',
    () => (inboundFaults(fleet).missing.length > 0 ? null : true),
    limit,
  ).catch(() => {})
  await comeToRest(fleet.api)
}

/** Kills and stops processes at random. */
class Executioner {
  readonly killed = { head: 0, box: 0, broker: 0 }
  readonly stopped = { box: 0, broker: 0 }
  early = 0
  readonly #fleet: Fleet
  #sleeper: FleetProcess | 'broker' | null = null

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  async run({ kills, stops }: BoxKillsOptions): Promise<void> {
    const sleeps = this.#stopSome(stops)
    for (let done = 0; done < kills;) {
      await Bun.sleep(between(GAP_MS_MIN, GAP_MS_MAX))
      done += await this.#killOne()
    }
    await sleeps
  }

  /** Number of kills. */
  async #killOne(): Promise<number> {
    const { head, boxes } = this.#fleet
    const chance = systemRandom.chance()
    if (chance < 1 / 3) {
      if (this.#sleeper === 'broker' || !this.#fleet.signalBroker('SIGKILL')) return 0
      this.killed.broker += 1
      return 1
    }
    const box = oneOf(boxes)
    const isHead = chance < 2 / 3
    const victim = isHead ? head : box
    if (victim === this.#sleeper) return 0
    const count = systemRandom.chance() < EARLY_SHARE ? 2 : 1
    for (let kill = 0; kill < count; kill += 1) {
      if (kill > 0) await Bun.sleep(between(0, START_MS_MAX))
      await victim.end('SIGKILL')
      victim.start()
    }
    this.early += count - 1
    this.killed[isHead ? 'head' : 'box'] += count
    return count
  }

  async #stopSome(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1) {
      await Bun.sleep(between(GAP_MS_MIN, GAP_MS_MAX))
      const isBroker = systemRandom.chance() < 1 / 3
      await (isBroker ? this.#stopBroker() : this.#stopBox(oneOf(this.#fleet.boxes)))
    }
  }

  async #stopBox(box: FleetProcess): Promise<void> {
    this.#sleeper = box
    box.signal('SIGSTOP')
    await Bun.sleep(between(STOP_MS_MIN, STOP_MS_MAX))
    box.signal('SIGCONT')
    this.#sleeper = null
    this.stopped.box += 1
  }

  /** A head that starts meanwhile ends it, and begins another one. */
  async #stopBroker(): Promise<void> {
    const fleet = this.#fleet
    await eventually('there is a broker', () => (fleet.signalBroker('SIGSTOP') ? true : null))
    this.#sleeper = 'broker'
    await Bun.sleep(between(STOP_MS_MIN, STOP_MS_MAX))
    fleet.signalBroker('SIGCONT')
    this.#sleeper = null
    this.stopped.broker += 1
  }
}

export async function endAll(fleet: Fleet): Promise<readonly number[]> {
  const codes: number[] = []
  for (const one of [...fleet.boxes, fleet.head]) codes.push(await one.end('SIGTERM'))
  return codes
}

/** After the end of all processes: what the parties say of the same messages. */
export function compareLedgers(
  fleet: Fleet,
  clients: Clients,
  receivers: readonly Receiver[],
): FleetFigures {
  const { dataDir } = fleet.head
  const places = placesOf(fleet)
  const ledgers = readLedgers(dataDir, places)
  const posts = receivers.map(({ received }) => received)
  // Files that nothing needs are swept much later.
  const { orphans: _orphans, ...files } = fileFaults(dataDir, posts.flat(), places)
  const { missing, double, unknown } = inboundFaults(fleet)
  const boxes = fleet.boxes.map((box) => box.dataDir)
  return {
    told: clients.told.length,
    repeats: clients.repeats,
    carried: ledgers.carried.size,
    remote: new Set(boxes.flatMap(carriedIn)).size,
    inbound: places.flatMap(inboundOf).length,
    posts: posts.flat().length,
    ...fileCounts(dataDir, places),
    faults: {
      contradictions: clients.contradictions,
      stepsBack: clients.stepsBack,
      inboundMissing: missing,
      inboundDouble: double,
      inboundUnknown: unknown,
      withoutJournalRow: boxes.flatMap(withoutRow),
      damagedJournals: boxes.flatMap(journalDamage),
      leftBrokers: fleet.brokerPids(),
      ...disagreements(ledgers, clients.told, posts),
      ...unexplained(ledgers),
      ...files,
    },
  }
}

function placesOf({ head, boxes }: Fleet): readonly string[] {
  return [head, ...boxes].map(({ dataDir }) => dataDir)
}

/** Messages to lines that the head does not have, has twice, or has without the network. */
function inboundFaults(fleet: Fleet) {
  using relay = new Database(join(fleet.head.dataDir, 'hookline.db'), { readonly: true })
  const rows = relay
    .query<{ guid: string }, []>(
      "SELECT platform_guid AS guid FROM messages WHERE direction = 'inbound'",
    )
    .all()
  const stored = Map.groupBy(rows, ({ guid }) => guid)
  const sent = new Set(placesOf(fleet).flatMap(inboundOf))
  return {
    missing: [...sent].filter((guid) => !stored.has(guid)),
    double: [...stored].filter(([, all]) => all.length > 1).map(([guid]) => guid),
    unknown: [...stored.keys()].filter((guid) => !sent.has(guid)),
  }
}

function inboundOf(place: string): readonly string[] {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  const sql = "SELECT guid FROM events WHERE kind = 'message'"
  return network
    .query<{ guid: string }, []>(sql)
    .all()
    .map(({ guid }) => guid)
}

function pendingEvents(place: string): number {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  const sql = 'SELECT count(*) AS count FROM pending'
  return network.query<{ count: number }, []>(sql).get()?.count ?? 0
}

/** Messages that the network of a box carried, and its journal does not know. */
function withoutRow(box: string): readonly string[] {
  using journal = new Database(join(box, 'box.db'), { readonly: true })
  const rows = journal.query<{ id: string }, []>('SELECT message_id AS id FROM sends').all()
  const known = new Set(rows.map(({ id }) => id))
  return carriedIn(box).filter((id) => !known.has(id))
}

function journalDamage(box: string): readonly string[] {
  using journal = new Database(join(box, 'box.db'), { readonly: true })
  const rows = journal.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
}

function oneOf<T>(all: readonly T[]): T {
  const found = all[Math.floor(systemRandom.chance() * all.length)]
  if (found === undefined) throw new Error('There is nothing to choose from.')
  return found
}

function between(least: number, most: number): number {
  return least + systemRandom.chance() * (most - least)
}

export function refuseSome(): Response {
  return new Response(null, { status: systemRandom.chance() < REFUSED_SHARE ? 500 : 200 })
}
