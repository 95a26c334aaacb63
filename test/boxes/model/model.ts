// The model of the protocol: a head and two boxes, the real agents, fleet and joined drivers, on a network that
// drops, doubles, delays and reorders every request and answer; processes are killed, paused, cut off and cloned.

import { Database } from 'bun:sqlite'

import { BoxAgent } from '../../../src/boxes/box-agent.ts'
import { Journal } from '../../../src/boxes/journal.ts'
import type { BoxId, LineId, MessageId } from '../../../src/domain/ids.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { silentLog } from '../../../src/system/log.ts'
import { NO_UPGRADE } from '../../support/box-rig.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import { createModelDriver, Device } from './device.ts'
import { count, LAWS, Laws, type Machine } from './laws.ts'
import { Disk, Relay } from './relay.ts'
import { CALM, Process, World } from './world.ts'

export type ModelFigures = {
  readonly steps: number
  readonly line: string
  readonly faults: readonly string[]
}

const BOXES = ['box_one', 'box_two'] as const
const CALM_MS = 400_000
const TROUBLE_EVERY_MS = 6_000
/** For so long a clone, and what it was given, may be there. */
const CLONED_MS = 180_000
/** Longest wait of a row for its turn. */
const SLOW_DISK_MS = 9_000
const MESSAGE_EVERY_MS = 500
const EVENT_EVERY_MS = 700

/** Runs so many deliveries of requests and answers, then a calm, and checks every law. */
export async function runModel(steps: number, seed: number): Promise<ModelFigures> {
  using folder = new ScratchFolder()
  const model = new Model(seed, folder)
  await model.run(steps)
  return model.figures()
}

type Site = {
  readonly box: BoxId
  readonly devices: readonly Device[]
  readonly machine: Machine
  process: Process | null
}

class Model {
  readonly #world: World
  readonly #folder: ScratchFolder
  readonly #disk: Disk
  readonly #laws: Laws
  readonly #sites: Site[] = []
  readonly #clones: Site[] = []
  readonly #troubles = new Map<string, number>()
  #head: Process | null = null
  #isCalm = false
  #messageCount = 0
  #processCount = 0

  constructor(seed: number, folder: ScratchFolder) {
    this.#world = new World(seed)
    this.#folder = folder
    const devices = ['11', '12', '21'].map((key, place) => new Device(key, place !== 1))
    this.#disk = new Disk(
      devices.map(({ key, number }) => ({
        id: `line_${key}` as LineId, // Drivers only hand it on.
        key,
        number,
        box: boxOf(key),
        checkpoint: null,
      })),
    )
    this.#laws = new Laws(this.#world, this.#disk, devices)
    for (const name of BOXES) {
      const box = name as BoxId // The same.
      const own = devices.filter(({ key }) => boxOf(key) === box)
      this.#sites.push({ box, devices: own, machine: this.#newMachine(name), process: null })
    }
  }

  async run(steps: number): Promise<void> {
    const world = this.#world
    this.#startHead()
    for (const site of this.#sites) this.#startBox(site)
    this.#everySo(MESSAGE_EVERY_MS, () => this.#accept())
    this.#everySo(EVENT_EVERY_MS, () => this.#receive())
    this.#everySo(TROUBLE_EVERY_MS, () => this.#trouble())
    while (world.steps < steps && this.#laws.broken.length === 0) await world.next()
    this.#calmDown()
    await world.pass(CALM_MS)
    this.#laws.finish()
  }

  figures(): ModelFigures {
    const { checked, broken, causes, ended, doubts } = this.#laws
    const lines = [
      `${this.#world.steps} deliveries in ${Math.round(this.#world.now / 1_000)} s`,
      `${this.#messageCount} messages: ${wordsOf(ended)}`,
      `checked: ${LAWS.map((law) => `${law} ${checked.get(law) ?? 0}`).join(', ')}`,
      `uncertain in the end: ${wordsOf(causes)}`,
      `doubts: ${wordsOf(doubts)}`,
      `troubles: ${wordsOf(this.#troubles)}`,
    ]
    return { steps: this.#world.steps, line: lines.join('\n  '), faults: broken }
  }

  #everySo(meanMs: number, act: () => void): void {
    this.#world.after(this.#world.between(1, 2 * meanMs), () => {
      if (this.#isCalm) return
      act()
      this.#everySo(meanMs, act)
    })
  }

  #accept(): void {
    const world = this.#world
    this.#messageCount += 1
    const id = `msg_${String(this.#messageCount).padStart(9, '0')}` as MessageId // Drivers take it as it is.
    const line = world.random.of(this.#disk.lines)
    const pinned = world.isChance(0.5) ? line.id : null
    const times = { createdAt: world.now, dueAt: 0, changedAt: 0, isAnswered: false }
    const message = { id, pinned, lineId: line.id, note: null, tries: 0, ...times }
    this.#disk.messages.set(id, { ...message, status: 'queued' })
  }

  #receive(): void {
    const device = this.#world.random.of(this.#sites.flatMap(({ devices }) => devices))
    device.log.push({ guid: `in-${device.key}-${device.log.length}`, carriedId: null })
  }

  #startHead(): void {
    const world = this.#world
    const process = this.#process('head')
    this.#head = process
    const [disk, laws, folder] = [this.#disk, this.#laws, this.#folder.file('received')]
    void new Relay({ world, process, disk, laws, folder })
  }

  #startBox(site: Site): void {
    const world = this.#world
    const { box: boxId, devices, machine } = site
    const process = this.#process(machine.name)
    site.process = process
    this.#laws.machineOf.set(process, machine)
    const { clock, link } = process
    const random = {
      bytes: (length: number) => Uint8Array.from({ length }, () => world.random.below(256)),
      chance: () => world.random.chance(),
    }
    const journal = new Journal(mortal(machine.journal, process, world), {
      clock,
      random,
      machine: machine.name,
    })
    machine.boots.add(journal.boot)
    const insert = journal.insert.bind(journal)
    const delayed: Journal['insert'] = async (entry, isCurrent) => {
      if (world.isChance(world.faults.late))
        await clock.sleep(world.between(1, SLOW_DISK_MS), NEVER)
      return insert(entry, isCurrent)
    }
    Object.assign(journal, { insert: delayed })
    const folder = this.#folder.file(machine.name)
    const agent = new BoxAgent(
      { id: boxId, link, journal, clock, log: silentLog, folder },
      {
        facts: () => ({ version: '1.0.0', platform: 'darwin', health: {} }),
        drivers: [createModelDriver(world, process, devices, this.#laws)],
        upgrade: NO_UPGRADE,
      },
    )
    void agent.run(NEVER)
  }

  #process(name: string): Process {
    this.#processCount += 1
    return new Process(this.#world, `${name} ${this.#processCount}`)
  }

  #newMachine(name: string, journal = new Database(':memory:', { strict: true })): Machine {
    const machine = {
      name,
      journal,
      isClone: false,
      lostBoots: new Set<string>(),
      boots: new Set<string>(),
    }
    this.#laws.machines.push(machine)
    return machine
  }

  #kill(process: Process | null): void {
    if (process === null) return
    process.isDead = true
    this.#world.buried(process)
  }

  #trouble(): void {
    const world = this.#world
    const site = world.random.of(this.#sites)
    const [name, act] = world.random.of(Object.entries(this.#acts(site)))
    count(this.#troubles, name)
    act()
  }

  #acts(site: Site): Readonly<Record<string, () => void>> {
    const world = this.#world
    const restart = (wipes: boolean) => {
      this.#kill(site.process)
      site.process = null
      if (wipes) this.#wipe(site.machine)
      world.after(world.between(200, 5_000), () => {
        if (site.process === null) this.#startBox(site)
      })
    }
    const pause = (process: Process | null) => {
      if (process === null) return
      process.isPaused = true
      world.after(world.between(100, 14_000), () => process.wake())
    }
    const cutOff = (process: Process | null, mostMs: number) => {
      if (process === null) return
      process.isCutOff = true
      world.after(world.between(100, mostMs), () => (process.isCutOff = false))
    }
    return {
      'box killed': () => restart(false),
      'box killed again': () => restart(false),
      'box killed, journal wiped': () => restart(world.isChance(0.3)),
      'head killed': () => {
        this.#kill(this.#head)
        this.#head = null
        world.after(world.between(200, 5_000), () => {
          if (this.#head === null) this.#startHead()
        })
      },
      'box paused': () => pause(site.process),
      'head paused': () => pause(this.#head),
      'box cut off': () => cutOff(site.process, 12_000),
      'box cut off for long': () => cutOff(site.process, 150_000),
      'disk of the head full': () => {
        this.#disk.isFull = true
        world.after(world.between(10, 4_000), () => (this.#disk.isFull = false))
      },
      'box cloned, at times': () => {
        if (world.isChance(0.1)) this.#clone(site)
      },
    }
  }

  #wipe(machine: Machine): void {
    for (const boot of machine.boots) machine.lostBoots.add(boot)
    machine.journal = new Database(':memory:', { strict: true })
  }

  /** A copy of the disk starts on another machine, at times while the first is cut off. */
  #clone(site: Site): void {
    const world = this.#world
    if (this.#clones.length > 0) return
    const name = `clone ${this.#processCount}`
    const machine = this.#newMachine(
      name,
      Database.deserialize(site.machine.journal.serialize(), { strict: true }),
    )
    machine.isClone = true
    this.#laws.clonedUntil = world.now + CLONED_MS
    const clone: Site = { ...site, machine, process: null }
    this.#clones.push(clone)
    this.#startBox(clone)
    if (site.process !== null && world.isChance(0.5)) {
      const { process } = site
      process.isCutOff = true
      world.after(world.between(1_000, 30_000), () => (process.isCutOff = false))
    }
    world.after(world.between(5_000, 40_000), () => {
      this.#kill(clone.process)
      this.#clones.splice(this.#clones.indexOf(clone), 1)
    })
  }

  #calmDown(): void {
    this.#isCalm = true
    this.#world.faults = CALM
    this.#disk.isFull = false
    for (const { process } of this.#clones) this.#kill(process)
    const alive = [this.#head, ...this.#sites.map(({ process }) => process)]
    for (const process of alive) {
      if (process === null) continue
      process.isCutOff = false
      process.wake()
    }
  }
}

function boxOf(key: string): BoxId {
  return (key.startsWith('1') ? BOXES[0] : BOXES[1]) as BoxId // Drivers only hand it on.
}

/** The database as a process has it: with that it is gone, and at times it cannot be written. */
function mortal(database: Database, process: Process, world: World): Database {
  const guarded = {
    run: (sql: string) => database.run(sql),
    query: (sql: string) => database.query(sql),
    transaction: (work: () => unknown) => {
      const all = database.transaction(work)
      const immediate = () => {
        if (process.isDead) throw new Error('The process is dead.')
        if (world.isChance(world.faults.lost / 10)) throw new Error('The disk is full.')
        return all.immediate()
      }
      return Object.assign(() => all(), { immediate })
    },
  }
  return guarded as unknown as Database // All that the journal uses of it.
}

function wordsOf(counts: ReadonlyMap<string, number>): string {
  const words = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, number]) => `${key} ${number}`)
  return words.join(', ') || 'none'
}
