// The head's side of the link: which boxes are there, with which devices, and the runs of lines on them.

import { mkdirSync, rmSync } from 'node:fs'

import type { Finding } from '../domain/finding.ts'
import { type BoxId, type Timestamp, timestamp } from '../domain/ids.ts'
import { OFFLINE_REASONS, type OfflineReason } from '../domain/line.ts'
import type { Found } from '../lines/driver.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { type Link, LinkError, SUBJECTS } from './link.ts'
import {
  type Answer,
  ask,
  type Chunk,
  type Health,
  type Hello,
  type OperationName,
  orNull,
  PROTOCOL,
  type Request,
  serve,
  SILENCE_MS,
} from './wire.ts'

export type FleetTools = {
  readonly clock: Clock
  readonly log: Log
  /** Version of the head. */
  readonly version: string
  /** Folder for files of received messages until they are stored; it is emptied at the start. */
  readonly folder: string
  /** A box that was invited, as it is stored. */
  readonly find: (id: BoxId) => { readonly removedAt: Timestamp | null } | null
  /** Begins an epoch above this one. */
  readonly raiseEpoch: (above: number) => Promise<number>
  /** Called when a box is heard again, when its version changes, and each minute. */
  readonly heard: (
    id: BoxId,
    facts: { readonly version: string; readonly platform: string },
  ) => void
  /** A part of an executable that boxes are upgraded to. */
  readonly releaseFile?: (request: Request<'release_file'>) => Chunk
}

export const BOX_PROBLEMS = ['box_twice', 'box_outdated'] as const
export type BoxProblem = (typeof BOX_PROBLEMS)[number]

/** A box as it is now. */
export type BoxSnapshot = {
  readonly isHeard: boolean
  readonly lastHeardAt: Timestamp
  readonly version: string
  readonly platform: string
  readonly health: Health
  readonly upgrade: Hello['upgrade'] | null
  readonly deviceCount: number
  readonly problem: BoxProblem | null
}

/** The run of a line on a box, as the box's requests reach it. */
export type FleetRun = {
  readonly session: string
  readonly box: BoxId
  item(request: Request<'item'>): Promise<Answer<'item'>> | null
  pass(request: Request<'pass'>): Promise<Answer<'pass'>>
  page(request: Request<'page'>): Answer<'page'>
  file(request: Request<'outgoing_file'>): Promise<Chunk>
  /** Ends it by an error. */
  finish(error: Error): void
  /** Ends it because the box is away. */
  leave(reason: OfflineReason): void
}

type Peer = {
  readonly id: BoxId
  /** Process that the head listens to. */
  boot: string | null
  /** Process that has said that it leaves. */
  leftBoot: string | null
  hello: Hello
  isHeard: boolean
  lastHeardAt: Timestamp
  reportedAt: number
  isOutdated: boolean
  twiceUntil: number
  forget: () => void
}

const PING_MS = 1_000
const TWICE_MS = 10_000
const CHECKUP_MS = 4_000
const REPORT_EVERY_MS = 60_000
/** Minor versions that a box may be behind. */
const BEHIND_MAX = 2

export class Fleet {
  readonly tools: FleetTools
  readonly #peers = new Map<BoxId, Peer>()
  readonly #runs = new Map<string, FleetRun>()
  readonly #listeners = new Set<() => void>()
  #link: Link | null = null
  #epoch = 0
  #sessionCount = 0
  #stopServing: () => void = () => {}
  #raising: Promise<void> | null = null

  constructor(tools: FleetTools) {
    this.tools = tools
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Listens to boxes from now on; the returned function ends that, and every run on them. */
  attach(link: Link, epoch: number): () => void {
    const { folder } = this.tools
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#link = link
    this.#begin(epoch)
    const stopHellos = serve(link, SUBJECTS.hello('*'), {
      // The broker lets a box publish below its own name only.
      hello: (hello, box) => this.#hello(hello, box),
    })
    return () => {
      stopHellos()
      this.#stopServing()
      this.#link = null
      for (const peer of this.#peers.values()) this.#lose(peer)
    }
  }

  /** Reason why nothing can be asked of a box now; null where it can. */
  absence(id: BoxId): OfflineReason | null {
    const known = this.tools.find(id)
    if (known === null || known.removedAt !== null) return OFFLINE_REASONS.box_removed
    const peer = this.#peers.get(id)
    if (peer?.isHeard !== true) return OFFLINE_REASONS.box_unreachable
    return peer.isOutdated ? OFFLINE_REASONS.box_outdated : null
  }

  /** The devices of one kind at all boxes that are here. */
  devices(kind: string): readonly Found[] {
    return this.#present().flatMap(({ id: box, hello }) =>
      hello.devices.flatMap((device) =>
        device.kind === kind ? [{ key: device.key, number: device.number, box }] : [],
      ),
    )
  }

  /** Findings of the boxes' drivers of one kind. */
  async checkup(kind: string): Promise<readonly Finding[]> {
    const asked = this.#present().filter(({ hello }) => hello.kinds.includes(kind))
    const found = await Promise.all(
      asked.map(async ({ id: box }): Promise<readonly Finding[]> => {
        const answer = await orNull(this.ask(box, 'checkup', { kind }, CHECKUP_MS))
        const findings = answer?.findings ?? [silent(kind)]
        return findings.map((finding) => ({ ...finding, box }))
      }),
    )
    return found.flat()
  }

  /** Calls `listener` when a box comes, goes, or is another than before. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Null for a box that was not heard in this life of the head. */
  snapshot(box: BoxId): BoxSnapshot | null {
    const peer = this.#peers.get(box)
    if (peer === undefined) return null
    const { isHeard, lastHeardAt, hello } = peer
    const { version, platform, health, devices, upgrade = null } = hello
    const isTwice = peer.twiceUntil > this.tools.clock.monotonic()
    const problem = peer.isOutdated ? 'box_outdated' : null
    return {
      isHeard,
      lastHeardAt,
      version,
      platform,
      health,
      upgrade,
      deviceCount: devices.length,
      problem: isTwice ? 'box_twice' : problem,
    }
  }

  /** Asks the box's current process; rejects with a LinkError where no answer comes. */
  async ask<Name extends OperationName>(
    box: BoxId,
    name: Name,
    request: Request<Name>,
    timeoutMs: number,
  ): Promise<Answer<Name>> {
    const boot = this.bootOf(box)
    if (this.#link === null || boot === null) throw new LinkError('The box was not heard yet.')
    return ask({ link: this.#link, subject: SUBJECTS.to(box, boot), timeoutMs }, name, request)
  }

  bootOf(box: BoxId): string | null {
    return this.#peers.get(box)?.boot ?? null
  }

  /** Name of a new session. */
  newSession(): string {
    this.#sessionCount += 1
    return `${this.#epoch}.${this.#sessionCount}`
  }

  /** The run gets the requests of its box from now on. */
  open(run: FleetRun): void {
    this.#runs.set(run.session, run)
  }

  close(run: FleetRun): void {
    this.#runs.delete(run.session)
  }

  #present(): readonly Peer[] {
    return [...this.#peers.values()].filter(({ id }) => this.absence(id) === null)
  }

  #begin(epoch: number): void {
    const link = this.#link
    if (link === null) return
    for (const run of this.#runs.values()) run.finish(new Error('The head has begun a new epoch.'))
    this.#stopServing()
    this.#epoch = epoch
    const runOf = (session: string, box: string) => {
      const run = this.#runs.get(session)
      return run?.box === box ? run : null
    }
    const handlers: Parameters<typeof serve>[2] = {
      item: async (request, box) =>
        (await runOf(request.session, box)?.item(request)) ?? { isOver: true },
      pass: async (request, box) =>
        (await runOf(request.session, box)?.pass(request)) ?? { isGranted: false },
      page: async (request, box) => runOf(request.session, box)?.page(request) ?? { isOver: true },
      outgoing_file: async (request, box) =>
        (await runOf(request.session, box)?.file(request)) ?? { isMissing: true },
      release_file: async (request) => this.tools.releaseFile?.(request) ?? { isMissing: true },
    }
    this.#stopServing = serve(link, SUBJECTS.up(String(epoch), '*'), handlers, BOX_IN_UP)
  }

  async #hello(hello: Hello, id: BoxId): Promise<Answer<'hello'> | null> {
    const known = this.tools.find(id)
    if (known === null || known.removedAt !== null) return { refused: 'box_removed' }
    const peer = this.#peer(id, hello)
    if (hello.boot === peer.leftBoot && hello.isLeaving !== true) return null
    if (hello.fence > this.#epoch) await this.#raise(hello.fence)
    const place = await this.#placeOf(hello.boot, peer)
    if (place === 'is_gone') return null
    if (place === 'is_second') return this.#refuseSecond(peer)
    const isOutdated = hello.protocol !== PROTOCOL || isBehind(hello.version, this.tools.version)
    this.#take(peer, hello, isOutdated)
    if (isOutdated) return { refused: 'box_outdated' }
    const closed = hello.sessions.filter((session) => this.#runs.get(session)?.box !== id)
    return { epoch: this.#epoch, closed }
  }

  #peer(id: BoxId, hello: Hello): Peer {
    const known = this.#peers.get(id)
    if (known !== undefined) return known
    const peer: Peer = {
      id,
      boot: null,
      leftBoot: null,
      hello,
      isHeard: false,
      lastHeardAt: timestamp(this.tools.clock.now()),
      reportedAt: -Infinity,
      isOutdated: false,
      twiceUntil: -Infinity,
      forget: () => {},
    }
    this.#peers.set(id, peer)
    return peer
  }

  /** A box has seen a later epoch: this head's is older than its own database. */
  async #raise(above: number): Promise<void> {
    this.#raising ??= this.tools
      .raiseEpoch(above)
      .then((epoch) => this.#begin(epoch))
      .finally(() => (this.#raising = null))
    await this.#raising
  }

  /** Another process takes the place of the known one only where it is alive, and that one is not. */
  async #placeOf(other: string, { id, boot }: Peer): Promise<'is_it' | 'is_second' | 'is_gone'> {
    if (boot === null || boot === other) return 'is_it'
    const alive = await Promise.all([boot, other].map((one) => this.#isAlive(id, one)))
    const [isKnownAlive = false, isOtherAlive = false] = alive
    if (!isOtherAlive || this.bootOf(id) !== boot) return 'is_gone'
    return isKnownAlive ? 'is_second' : 'is_it'
  }

  async #isAlive(box: BoxId, boot: string): Promise<boolean> {
    if (this.#link === null) return false
    const address = { link: this.#link, subject: SUBJECTS.to(box, boot), timeoutMs: PING_MS }
    return (await orNull(ask(address, 'ping', {}))) !== null
  }

  #refuseSecond(peer: Peer): Answer<'hello'> {
    const now = this.tools.clock.monotonic()
    const isNews = peer.twiceUntil <= now
    peer.twiceUntil = now + TWICE_MS
    if (isNews) {
      this.tools.log.warn('two machines are the same box', { box_id: peer.id })
      this.#changed()
    }
    return { refused: 'box_twice' }
  }

  #take(peer: Peer, hello: Hello, isOutdated: boolean): void {
    const { clock, heard, log } = this.tools
    const isOtherBoot = peer.boot !== hello.boot
    const isNews =
      !peer.isHeard || isOtherBoot || peer.isOutdated !== isOutdated || isOther(peer.hello, hello)
    peer.boot = hello.boot
    if (isOtherBoot || isOutdated) this.#endRuns(peer.id, new Error('The box has started again.'))
    peer.hello = hello
    peer.isOutdated = isOutdated
    peer.lastHeardAt = timestamp(clock.now())
    if (hello.isLeaving === true) {
      peer.leftBoot = hello.boot
      if (peer.isHeard) this.#lose(peer)
      return
    }
    if (!peer.isHeard) log.info('box is reachable', { box_id: peer.id })
    peer.isHeard = true
    peer.forget()
    peer.forget = clock.after(SILENCE_MS, () => this.#lose(peer))
    if (isNews || clock.monotonic() - peer.reportedAt >= REPORT_EVERY_MS) {
      peer.reportedAt = clock.monotonic()
      heard(peer.id, { version: hello.version, platform: hello.platform })
    }
    if (isNews) this.#changed()
  }

  #lose(peer: Peer): void {
    peer.forget()
    if (!peer.isHeard) return
    peer.isHeard = false
    this.tools.log.warn('box is unreachable', { box_id: peer.id })
    for (const run of this.#runsOf(peer.id)) run.leave(OFFLINE_REASONS.box_unreachable)
    this.#changed()
  }

  #endRuns(id: BoxId, error: Error): void {
    for (const run of this.#runsOf(id)) run.finish(error)
  }

  #runsOf(id: BoxId): readonly FleetRun[] {
    return [...this.#runs.values()].filter(({ box }) => box === id)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Place of the box's id in a subject of `up`. */
const BOX_IN_UP = 4

function isOther(one: Hello, other: Hello): boolean {
  const facts = ({ version, platform, devices, kinds, upgrade }: Hello) =>
    JSON.stringify([version, platform, devices, kinds, upgrade])
  return facts(one) !== facts(other)
}

/** True where the box's version is older than what the head's supports. */
function isBehind(box: string, head: string): boolean {
  const [[major = 0, minor = 0], [headMajor = 0, headMinor = 0]] = [partsOf(box), partsOf(head)]
  return major < headMajor || (major === headMajor && minor < headMinor - BEHIND_MAX)
}

function partsOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}

function silent(kind: string): Finding {
  return {
    code: 'driver_failed',
    severity: 'error',
    title: `The ${kind} driver of a box cannot be asked`,
    why: 'The box did not answer in time.',
    fix: 'Hookline retries automatically. If this persists, run "hookline doctor" on the box.',
    key: null,
    depends_on: null,
  }
}
