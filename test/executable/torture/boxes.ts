// Kills a head, its boxes and its broker under load and in the middle of their starts, stops some for longer
// than the head waits for a box, and compares the ledgers of all: what clients were answered, what the network
// of each box carried, what the head says, and what receivers got.

import { systemRandom } from '../../../src/system/random.ts'
import { eventually } from '../../support/eventually.ts'
import { Receiver } from '../../support/receiver.ts'
import {
  compareBoxes,
  inboundFaults,
  pendingEvents,
  type BoxFigures,
  type Places,
} from '../box-ledgers.ts'
import { carriedIn } from '../ledgers.ts'
import { Doubts } from './doubts.ts'
import { pendingFiles, Uploads } from './files.ts'
import { Fleet, type FleetProcess } from './fleet.ts'
import { Clients, comeToRest, ENVIRONMENT, prepare } from './load.ts'

const GAP_MS_MIN = 200
const GAP_MS_MAX = 700
/** Whom the kills meet, in turns. */
const VICTIMS = ['broker', 'box', 'head', 'box'] as const
/** Every so many kills, the same process is killed again while it starts. */
const EARLY_EVERY = 3
const START_MS_MAX = 400
/** Longer than a head waits for a hello, so that the process wakes with sessions that are over. */
const STOP_MS_MIN = 6_500
const STOP_MS_MAX = 8_500
const REFUSED_SHARE = 0.1
const SHAPE = { boxes: 2, linesOfBox: 2, ownLines: 1 } as const
/** People whose files come at once. */
const FILE_PEOPLE = ['0187', '0188', '0196', '0198', '0199'] as const
/** Some of them wait for a line that is away. */
const CLIENTS = 16
const ARRIVAL_MS_MAX = 120_000

export type BoxKillsOptions = {
  readonly kills: number
  /** Processes that are stopped and go on, beside the kills. */
  readonly stops: number
}

export async function runBoxKills(options: BoxKillsOptions) {
  using well = new Receiver()
  using unwell = new Receiver(refuseSome)
  const receivers = [well, unwell]
  await using fleet = await Fleet.open({ ...SHAPE, environment: ENVIRONMENT })
  const executioner = new Executioner(fleet)
  const carriedByBoxes = () => fleet.boxes.flatMap(({ dataDir }) => carriedIn(dataDir)).length
  const run = await underLoad(fleet, receivers, async () => {
    await executioner.run(options)
    const isMuch = () => (carriedByBoxes() > options.kills ? true : null)
    await eventually('boxes carried more messages than there were kills', isMuch, ARRIVAL_MS_MAX)
  })
  const { killed, early, stopped } = executioner
  return { killed, early, stopped, ...run }
}

export type FleetRun = BoxFigures & {
  readonly exitCodes: readonly number[]
  /** Messages that were uncertain at some time, by their error. */
  readonly doubts: Readonly<Record<string, number>>
}

/**
 * Runs `work` under the load of clients, waits until nothing is under way, stops all processes, and compares
 * what the parties say.
 */
export async function underLoad(
  fleet: Fleet,
  receivers: readonly Receiver[],
  work: () => Promise<void>,
): Promise<FleetRun> {
  const { api, key, head, boxes } = fleet
  const lines = await prepare(api, receivers, fleet.lineCount)
  const uploads = new Uploads(api, key.id)
  const options = { uploads, filePeople: FILE_PEOPLE, isHasty: true, clients: CLIENTS }
  const clients = new Clients(api, key, lines, options)
  const doubts = new Doubts(api)
  const running = Promise.all([clients.run(), doubts.run()])
  await work()
  await fleet.allOnline()
  clients.stop()
  const places = { head: head.dataDir, boxes: boxes.map(({ dataDir }) => dataDir) }
  await calm(fleet, places)
  doubts.stop()
  await running
  const exitCodes: number[] = []
  for (const one of [...boxes, head]) exitCodes.push(await one.end('SIGTERM'))
  const received = receivers.map((one) => one.received)
  const compared = compareBoxes(places, clients, received)
  const faults = { ...compared.faults, leftBrokers: fleet.brokerPids() }
  return { ...compared, faults, exitCodes, doubts: doubts.counts() }
}

/** Everything has left, come in, and reached its receivers. */
async function calm({ api }: Fleet, places: Places): Promise<void> {
  const eventuallyTrue = (what: string, isTrue: () => boolean) =>
    eventually(what, () => (isTrue() ? true : null), ARRIVAL_MS_MAX)
  const all = [places.head, ...places.boxes]
  await eventuallyTrue('no event is to come', () => all.every((one) => pendingEvents(one) === 0))
  await comeToRest(api)
  await eventuallyTrue('all files came', () => pendingFiles(places.head) === 0)
  const isAllIn = () => inboundFaults(places).inboundMissing.length === 0
  // One that is missing is a fault of the comparison.
  await eventuallyTrue('all came in', isAllIn).catch(() => {})
  await comeToRest(api)
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
    for (let [done, turn] = [0, 1]; done < kills;) {
      await Bun.sleep(between(GAP_MS_MIN, GAP_MS_MAX))
      const count = await this.#killOne(turn)
      done += count
      // Nobody's turn is passed over, or a busy machine would kill no broker.
      if (count > 0) turn += 1
    }
    await sleeps
  }

  /** Number of kills: none while the one whose turn it is sleeps, or has not started again yet. */
  async #killOne(turn: number): Promise<number> {
    const { head, boxes } = this.#fleet
    const kind = VICTIMS[turn % VICTIMS.length] ?? 'box'
    if (kind === 'broker') {
      if (this.#sleeper === 'broker' || !this.#fleet.signalBroker('SIGKILL')) return 0
      this.killed.broker += 1
      return 1
    }
    const victim = kind === 'head' ? head : oneOf(boxes)
    if (victim === this.#sleeper) return 0
    const count = turn % EARLY_EVERY === 0 ? 2 : 1
    for (let kill = 0; kill < count; kill += 1) {
      if (kill > 0) await Bun.sleep(between(0, START_MS_MAX))
      await victim.end('SIGKILL')
      victim.start()
    }
    this.early += count - 1
    this.killed[kind] += count
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
