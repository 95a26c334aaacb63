// A scripted relay: a queue of messages, grants, events and checkpoints that outlive its process. It does what the
// real one does with the outcomes of the seam, and runs lines by the real parts of `lines/`.

import { Fleet } from '../../../src/boxes/fleet.ts'
import { createJoinedDriver } from '../../../src/boxes/joined-driver.ts'
import { deviceHandle } from '../../../src/domain/handle.ts'
import { timestamp, type BoxId, type LineId, type MessageId } from '../../../src/domain/ids.ts'
import type { OutgoingMessage } from '../../../src/domain/message.ts'
import type { DriverLine, LineDriver, LineEvent, SendOutcome } from '../../../src/lines/driver.ts'
import { LineRun } from '../../../src/lines/line-runner.ts'
import { LineSessions, type SendAnswer } from '../../../src/lines/session.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { silentLog } from '../../../src/system/log.ts'
import { TEST_START } from '../../support/test-clock.ts'
import { KIND } from './device.ts'
import type { Laws } from './laws.ts'
import type { Process, World } from './world.ts'

export type Status = 'queued' | 'sending' | 'uncertain' | 'sent' | 'failed' | 'expired'

export type Message = {
  readonly id: MessageId
  readonly createdAt: number
  /** The only line that may send it; null for any. */
  readonly pinned: LineId | null
  status: Status
  lineId: LineId
  note: string | null
  tries: number
  dueAt: number
  changedAt: number
  /** Its outcome has come, be it written or not. */
  isAnswered: boolean
}

export type Line = {
  readonly id: LineId
  readonly key: string
  readonly number: string
  readonly box: BoxId
  checkpoint: string | null
}

/** What outlives the process. */
export class Disk {
  readonly messages = new Map<MessageId, Message>()
  readonly lines: readonly Line[]
  epoch = 0
  /** Epochs that boxes were given for themselves. */
  readonly boxEpochs = new Map<string, number>()
  /** Times at which nothing can be written. */
  isFull = false

  constructor(lines: readonly Line[]) {
    this.lines = lines
  }
}

const EXPIRES_MS = 900_000
const UNCERTAIN_MS_MAX = 1_200_000
/** Receipts of a message come for so long. */
const KEPT_MS = 30_000
const TRIES_MAX = 6
const TICK_MS = 120
const COMMIT_MS = 12

type Tools = {
  readonly world: World
  readonly process: Process
  readonly disk: Disk
  readonly laws: Laws
  readonly folder: string
}

type Work = {
  readonly run: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/** One life of the head. */
export class Relay {
  readonly #tools: Tools
  readonly #fleet: Fleet
  readonly #driver: LineDriver
  readonly #inHand = new Set<MessageId>()
  readonly #lines: readonly LineLife[]
  readonly #waiting: Work[] = []
  #groups: Promise<void> = Promise.resolve()

  constructor(tools: Tools) {
    const { world, process, disk, laws, folder } = tools
    const { clock } = process
    this.#tools = tools
    this.#fleet = new Fleet({
      clock,
      log: silentLog,
      version: '1.0.0',
      folder,
      records: {
        find: () => ({ removedAt: null }),
        epochOf: (id) => disk.boxEpochs.get(id) ?? 0,
        raiseEpoch: (id, above) =>
          this.#commit(() => {
            const epoch = Math.max(disk.boxEpochs.get(id) ?? 0, above) + 1
            disk.boxEpochs.set(id, epoch)
            return epoch
          }),
        heard: () => {},
      },
      takesFile: async () => true,
      releaseFile: () => ({ isMissing: true }),
    })
    this.#driver = createJoinedDriver(null, KIND, this.#fleet)
    for (const message of disk.messages.values()) {
      if (message.status === 'sending') laws.changes(message, 'uncertain', 'head')
    }
    disk.epoch += 1
    this.#lines = disk.lines.map((line) => new LineLife(line, process, () => this.#dispatch()))
    this.#fleet.attach(process.link, disk.epoch)
    this.#fleet.onChange(() => clock.after(world.between(1, 50), () => this.#look()))
    for (const life of this.#lines) void this.#run(life)
    this.#tick()
  }

  #tick(): void {
    const { clock } = this.#tools.process
    this.#look()
    this.#dispatch()
    clock.after(TICK_MS, () => this.#tick())
  }

  /** Ends the runs of lines whose device is not there, as the supervisor does. */
  #look(): void {
    for (const life of this.#lines) {
      life.isFound = this.#isThere(life.line)
      if (!life.isFound) life.lose()
    }
  }

  #isThere({ box, key }: Line): boolean {
    if (this.#fleet.absence(box) !== null) return false
    return this.#fleet.devices(KIND).some((found) => found.box === box && found.key === key)
  }

  async #run(life: LineLife): Promise<void> {
    const { clock } = this.#tools.process
    for (;;) {
      if (life.isFound) {
        const name = {}
        const run = new LineRun({
          take: (event) => this.#take(life, name, event),
          onFailure: () => life.sessions.end(),
        })
        life.run = run
        await run.run(this.#driver, this.#driverLine(life.line))
        life.lose()
        await life.sessions.drained()
      }
      await clock.sleep(life.isFound ? 1_000 : TICK_MS, NEVER)
    }
  }

  #driverLine(line: Line): DriverLine {
    const { disk } = this.#tools
    const unsettled = [...disk.messages.values()]
      .filter(({ status, lineId }) => lineId === line.id && isUnsettled(status))
      .map((message) => ({ message: this.#outgoing(message), note: message.note }))
    return { ...line, unsettled, open: [] }
  }

  #outgoing({ id }: Message): OutgoingMessage {
    const at = timestamp(TEST_START)
    return { id, to: deviceHandle('+15550001111'), text: id, createdAt: at, platformGuid: null }
  }

  async #take(life: LineLife, run: object, event: LineEvent): Promise<void> {
    if (event.type === 'online') {
      life.sessions.open(event.session)
      this.#dispatch()
      return
    }
    if (event.type === 'offline') {
      life.sessions.end()
      return
    }
    await this.#commit(() => this.#store(life.line, run, event))
  }

  #store(line: Line, run: object, event: StoredEvent): void {
    const { laws, disk } = this.#tools
    if (event.type === 'settled') {
      const message = disk.messages.get(event.messageId)
      if (message?.lineId !== line.id || !isUnsettled(message.status)) return
      this.#settle(message, event.outcome)
      return
    }
    if (event.type === 'message') laws.reports(line, run, event.message.guid, event.checkpoint)
    if (event.type === 'receipt') laws.reports(line, run, event.receipt.guid, event.checkpoint)
    if ('checkpoint' in event && event.checkpoint !== null) line.checkpoint = event.checkpoint
  }

  #settle(message: Message, outcome: SendOutcome): void {
    const { laws } = this.#tools
    if (outcome.outcome === 'accepted') laws.changes(message, 'sent', 'settled')
    if (outcome.outcome !== 'not_sent') return
    laws.changes(message, outcome.proof === true ? 'queued' : 'failed', 'settled')
  }

  #dispatch(): void {
    const { disk, world } = this.#tools
    for (const message of disk.messages.values()) {
      if (message.status === 'queued') this.#offer(message)
      const isOld = message.status === 'queued' && world.now - message.createdAt > EXPIRES_MS
      if (isOld && !this.#inHand.has(message.id))
        this.#tools.laws.changes(message, 'expired', 'age')
      this.#forget(message)
    }
  }

  /** Messages that are over are counted, and kept no longer. */
  #forget(message: Message): void {
    const { disk, world, laws } = this.#tools
    const isGivenUp =
      message.status === 'uncertain' && world.now - message.changedAt > UNCERTAIN_MS_MAX
    if (!isGivenUp && (message.status === 'queued' || isUnsettled(message.status))) return
    if (this.#inHand.has(message.id) || world.now - message.changedAt < KEPT_MS) return
    laws.ends(message)
    disk.messages.delete(message.id)
  }

  #offer(message: Message): void {
    const { world } = this.#tools
    if (this.#inHand.has(message.id) || message.dueAt > world.now) return
    const life = this.#lines.find(
      ({ line, sessions, inHand }) =>
        (message.pinned === null || message.pinned === line.id) &&
        inHand < (sessions.current?.capacity ?? 0),
    )
    if (life !== undefined) void this.#attempt(message, life)
  }

  async #attempt(message: Message, life: LineLife): Promise<void> {
    const session = life.sessions.current
    if (session === null) return
    const { id } = message
    this.#inHand.add(id)
    life.inHand += 1
    const answer = await session.send(this.#outgoing(message), (note) =>
      this.#commit(() => this.#grant(message, life.line, note)),
    )
    message.isAnswered = true
    const write = () => this.#commit(() => this.#apply(message, answer))
    for (let isWritten = false; !isWritten;) {
      isWritten = await write().then(
        () => true,
        () => false,
      )
      if (!isWritten) await this.#tools.process.clock.sleep(1_000, NEVER)
    }
    this.#inHand.delete(id)
    life.inHand -= 1
  }

  #grant(message: Message, line: Line, note: string | null): boolean {
    if (message.status !== 'queued') return false
    message.lineId = line.id
    message.note = note
    message.isAnswered = false
    this.#tools.laws.changes(message, 'sending', 'grant')
    return true
  }

  #apply(message: Message, { outcome, isSessionOver }: SendAnswer): void {
    const { laws } = this.#tools
    switch (outcome.outcome) {
      case 'accepted':
      case 'held':
        laws.changes(message, 'sent', 'outcome')
        return
      case 'unknown':
        if (message.status !== 'queued' && message.status !== 'sending') return
        laws.changes(message, 'uncertain', outcome.reason)
        return
      case 'not_sent':
        if (message.status !== 'queued' && message.status !== 'sending') return
        this.#requeue(message, outcome.reason, isSessionOver)
        return
      case 'partly_sent':
      case 'postponed':
        throw new Error('This device never says so.')
    }
  }

  #requeue(message: Message, reason: string, isSessionOver: boolean): void {
    const { laws, world } = this.#tools
    message.dueAt = world.now + 1_000
    if (reason !== 'withdrawn' && !isSessionOver) message.tries += 1
    laws.changes(message, message.tries < TRIES_MAX ? 'queued' : 'failed', reason)
  }

  /** Works that wait together are written together, or none of them is; later ones come after them. */
  #commit<T>(run: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.push({ run, resolve, reject })
    if (this.#waiting.length === 1) this.#groups = this.#writeNext(this.#groups)
    return promise
  }

  async #writeNext(before: Promise<void>): Promise<void> {
    const { process, world } = this.#tools
    await before
    const group = this.#waiting.splice(0)
    await process.clock.sleep(world.between(0, COMMIT_MS), NEVER)
    this.#write(group)
  }

  #write(group: readonly Work[]): void {
    const { disk, world } = this.#tools
    if (disk.isFull || world.isChance(world.faults.lost / 40)) {
      for (const { reject } of group) reject(new Error('The disk is full.'))
      return
    }
    for (const { run, resolve } of group) resolve(run() as never) // `#commit` tied the types.
  }
}

type StoredEvent = Exclude<LineEvent, { readonly type: 'online' | 'offline' }>

class LineLife {
  readonly line: Line
  readonly sessions: LineSessions
  run: LineRun | null = null
  isFound = false
  inHand = 0

  constructor(line: Line, { clock }: Process, onTraffic: () => void) {
    this.line = line
    const log = silentLog
    this.sessions = new LineSessions({ clock, log }, () => {}, onTraffic)
  }

  lose(): void {
    this.run?.end()
    this.run = null
    this.sessions.end()
  }
}

function isUnsettled(status: Status): boolean {
  return status === 'sending' || status === 'uncertain'
}
