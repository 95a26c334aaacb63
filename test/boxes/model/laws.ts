// The laws of the protocol, checked at every act of a device and at every change of a message or a line.

import type { Database } from 'bun:sqlite'

import type { MessageId } from '../../../src/domain/ids.ts'
import type { Device } from './device.ts'
import type { Disk, Line, Message, Status } from './relay.ts'
import type { Process, World } from './world.ts'

export const LAWS = [
  'nothing is carried twice',
  'no act without a grant',
  'no act without a row in the journal',
  'no status against the ledger of the device',
  'events in order, each once',
  'no receipt before its outcome',
  'one run of a device at a time',
  'nothing is lost',
  'uncertain only for a cause',
] as const
export type Law = (typeof LAWS)[number]

/** Causes for which a message may stay uncertain. */
export type Cause =
  | 'the process died between row and act'
  | 'the process died between act and outcome'
  | 'the device could not say'
  | 'the journal was lost'
  | 'another machine has the box'

/** The journal that a process writes, and those that its machine had. */
export type Machine = {
  readonly name: string
  journal: Database
  isClone: boolean
  /** Boots of journals that were thrown away. */
  readonly lostBoots: Set<string>
  readonly boots: Set<string>
}

export class Laws {
  readonly #world: World
  readonly #disk: Disk
  readonly #devices: readonly Device[]
  readonly machines: Machine[] = []
  readonly machineOf = new Map<Process, Machine>()
  readonly checked = new Map<Law, number>()
  readonly broken: string[] = []
  readonly causes = new Map<Cause, number>()
  /** How messages that were uncertain ended, and why they were. */
  readonly doubts = new Map<string, number>()
  readonly ended = new Map<Status, number>()
  /** Two machines drive one device: the receipts of one are seen by the other. */
  clonedUntil = 0
  readonly #carried = new Map<MessageId, number>()
  readonly #running = new Set<string>()
  /** Place of the last event of each run. */
  readonly #inRun = new WeakMap<object, number>()
  readonly #reported = new Map<string, number>()

  constructor(world: World, disk: Disk, devices: readonly Device[]) {
    this.#world = world
    this.#disk = disk
    this.#devices = devices
  }

  /** A device is about to do what cannot be taken back. */
  acts(process: Process, { key }: Device, id: MessageId): void {
    const status = this.#disk.messages.get(id)?.status ?? 'forgotten'
    const isGranted = status === 'sending' || status === 'uncertain'
    this.#check('no act without a grant', isGranted, `${id} is ${status} on ${key}`)
    const machine = this.machineOf.get(process)
    const row = machine === undefined ? null : rowOf(machine.journal, id)
    const hasRow = row !== null && row.outcome === null
    this.#check('no act without a row in the journal', hasRow, `${id} on ${key}`)
    const count = (this.#carried.get(id) ?? 0) + 1
    this.#carried.set(id, count)
    this.#check('nothing is carried twice', count === 1, `${id} on ${key} by ${process.name}`)
  }

  /** A process begins to run a device, of which it has so many sends; the returned function is called at the end. */
  runs(process: Process, { key }: Device, sends: number): () => void {
    const name = `${key} by ${process.name}`
    const isAlone = !this.#running.has(name) && sends === 0
    this.#check('one run of a device at a time', isAlone, `${name}, ${sends} sends`)
    this.#running.add(name)
    return () => this.#running.delete(name)
  }

  /** A message has another status from now on. */
  changes(message: Message, to: Status, why: string): void {
    const isCarried = this.#carried.has(message.id)
    const from = message.status
    message.status = to
    message.changedAt = this.#world.now
    const isDenied = to === 'queued' || to === 'failed' || to === 'expired'
    const isTrue = to === 'sent' ? isCarried : !(isDenied && isCarried)
    const fact = `${message.id} from ${from} to ${to} (${why}), ${isCarried ? '' : 'not '}carried`
    this.#check('no status against the ledger of the device', isTrue, fact)
    if (from === 'uncertain' || to === 'uncertain') count(this.doubts, `${why}: ${from} to ${to}`)
  }

  /** A line's event is durable, with its checkpoint. In one run no event comes again. */
  reports(line: Line, run: object, guid: string, checkpoint: string | null): void {
    const device = this.#devices.find(({ key }) => key === line.key)
    const known = this.#reported.get(line.key) ?? 0
    const place = Number(checkpoint)
    const isIt = device?.log[place - 1]?.guid === guid
    // A repeat has a guid that is known; news is the very next one.
    const isNext = isIt && place <= known + 1 && place > (this.#inRun.get(run) ?? 0)
    this.#inRun.set(run, place)
    const fact = `${guid} of ${line.key} at ${checkpoint}, after ${known}`
    this.#check('events in order, each once', isNext, fact)
    this.#reported.set(line.key, Math.max(known, place))
    const carriedId = device?.log[place - 1]?.carriedId ?? null
    if (carriedId !== null) this.#comesBehind(carriedId, fact)
  }

  /** A receipt comes behind the outcome of its message. */
  #comesBehind(carriedId: MessageId, fact: string): void {
    const message = this.#disk.messages.get(carriedId)
    if (message === undefined || this.#world.now < this.clonedUntil) return
    const isEarly = !message.isAnswered && message.status === 'sending'
    this.#check('no receipt before its outcome', !isEarly && message.status !== 'queued', fact)
  }

  /** A message is over, or was uncertain for so long that nobody waits for it. */
  ends(message: Message): void {
    count(this.ended, message.status)
    if (message.status !== 'uncertain') return
    const cause = this.#causeOf(message)
    if (cause !== null) count(this.causes, cause)
    this.#check('uncertain only for a cause', cause !== null, `${message.id} ${message.note}`)
  }

  /** After a calm, all that was accepted has ended. */
  finish(): void {
    for (const message of this.#disk.messages.values()) {
      const isOver = message.status !== 'queued' && message.status !== 'sending'
      this.#check('nothing is lost', isOver, `${message.id} is ${message.status}`)
      this.ends(message)
    }
    for (const line of this.#disk.lines) {
      const device = this.#devices.find(({ key }) => key === line.key)
      const [known, all] = [this.#reported.get(line.key) ?? 0, device?.log.length ?? 0]
      this.#check('nothing is lost', known === all, `${known} of ${all} events of ${line.key}`)
    }
  }

  #causeOf({ id, note, lineId }: Message): Cause | null {
    const line = this.#disk.lines.find((one) => one.id === lineId)
    const device = this.#devices.find(({ key }) => key === line?.key)
    const boot = note === null ? '' : String(JSON.parse(note).boot)
    const machine = this.machines.find(({ boots }) => boots.has(boot))
    if (machine === undefined) return null
    if (machine.lostBoots.has(boot)) return 'the journal was lost'
    if (machine.isClone) return 'another machine has the box'
    return this.#causeIn(machine, id, device?.remembers ?? true)
  }

  #causeIn(machine: Machine, id: MessageId, remembers: boolean): Cause | null {
    const row = rowOf(machine.journal, id)
    if (row === null) return null
    if (row.outcome !== null) {
      const isUnknown = JSON.parse(row.outcome).outcome === 'unknown'
      return isUnknown && !remembers ? 'the device could not say' : null
    }
    if (remembers) return null
    const isCarried = this.#carried.has(id)
    return `the process died between ${isCarried ? 'act and outcome' : 'row and act'}`
  }

  #check(law: Law, isKept: boolean, fact: string): void {
    count(this.checked, law)
    if (!isKept) this.broken.push(`${law}: ${fact} (at ${this.#world.now} ms)`)
  }
}

function rowOf(journal: Database, id: MessageId) {
  const sql = 'SELECT outcome FROM sends WHERE message_id = $id'
  return journal.query<{ outcome: string | null }, [{ id: string }]>(sql).get({ id })
}

export function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
