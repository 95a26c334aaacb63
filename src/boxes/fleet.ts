// The head's side of the link: which boxes are reachable, their devices, and the runs of lines on them.

import { mkdirSync, rmSync } from 'node:fs'

import type { FindingCode } from '../domain/finding-codes.ts'
import type { Finding } from '../domain/finding.ts'
import { type BoxId, type Timestamp, timestamp } from '../domain/ids.ts'
import { OFFLINE_REASONS, type OfflineReason } from '../domain/line.ts'
import type { Found } from '../lines/driver.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { type Link, LinkError, SUBJECTS } from './link.ts'
import { isBehind, differs, Peer } from './peer.ts'
import {
  type Answer,
  ask,
  type Chunk,
  EPOCH_MAX,
  type Hello,
  type OperationName,
  orNull,
  PROTOCOL,
  type Request,
  serve,
  SILENCE_MS,
} from './wire.ts'

/** The stored facts about boxes. */
export type BoxRecords = {
  /** Finds a box that was invited or has joined. */
  find(id: BoxId): { readonly removedAt: Timestamp | null } | null
  /** The highest epoch given to this box alone; 0 if it uses the head's. */
  epochOf(id: BoxId): number
  /** Gives a box an epoch above this one. */
  raiseEpoch(id: BoxId, above: number): Promise<number>
  /** Called when a box reports again, when its version changes, and each minute. Must not throw. */
  heard(id: BoxId, facts: { readonly version: string; readonly platform: string }): void
}

/** The run of a line on a box, which answers the box's requests. */
export type FleetRun = {
  readonly session: string
  readonly box: BoxId
  /** Total length of the items that wait for an earlier item, in characters. */
  readonly waitingLength: number
  item(request: Request<'item'>): Promise<Answer<'item'>> | null
  pass(request: Request<'pass'>): Promise<Answer<'pass'>>
  page(request: Request<'page'>): Answer<'page'>
  file(request: Request<'outgoing_file'>): Promise<Chunk>
  /** Ends the run with an error. */
  finish(error: Error): void
  /** Ends the run because the box is away. */
  leave(reason: OfflineReason): void
}

const PING_MS = 1_000
const TWICE_MS = 10_000
const CHECKUP_MS = 4_000
const REPORT_EVERY_MS = 60_000
/** Most epochs that a head restored from a backup can be behind its boxes. */
const EPOCH_STEP_MAX = 1_000_000

export class Fleet {
  readonly clock: Clock
  /** Folder for files of received messages until they are stored; it is emptied at the start. */
  readonly folder: string
  /** True if there is room for a received file of this size, beside others of its message. */
  readonly takesFile: (size: number, others: number) => Promise<boolean>
  readonly #log: Log
  readonly #version: string
  readonly #records: BoxRecords
  readonly #releaseFile: (request: Request<'release_file'>) => Chunk
  readonly #peers = new Map<BoxId, Peer>()
  readonly #runs = new Map<string, FleetRun>()
  readonly #listeners = new Set<() => void>()
  #link: Link | null = null
  #epoch = 0
  #sessionCount = 0
  #stopServing: () => void = () => {}

  constructor(
    given: Pick<Fleet, 'clock' | 'folder' | 'takesFile'> & {
      readonly log: Log
      readonly version: string
      readonly records: BoxRecords
      /** Reads a piece of an executable that boxes are upgraded to. */
      readonly releaseFile: (request: Request<'release_file'>) => Chunk
    },
  ) {
    this.clock = given.clock
    this.folder = given.folder
    this.takesFile = given.takesFile
    this.#log = given.log
    this.#version = given.version
    this.#records = given.records
    this.#releaseFile = given.releaseFile
  }

  epochOf(box: BoxId): number {
    return this.#peers.get(box)?.epoch ?? this.#epoch
  }

  /** Listens to boxes from now on. Returns a function that stops it and ends every run on them. */
  attach(link: Link, epoch: number): () => void {
    rmSync(this.folder, { recursive: true, force: true })
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    this.#link = link
    this.#epoch = epoch
    for (const peer of this.#peers.values()) peer.epoch = epoch
    this.#stopServing = this.#serve(link, epoch, '*')
    const stopHellos = serve(link, SUBJECTS.hello('*'), {
      // The broker lets a box publish only below its own name.
      hello: (hello, box) => this.#hello(hello, box),
    })
    return () => {
      stopHellos()
      this.#stopServing()
      this.#link = null
      for (const peer of this.#peers.values()) {
        peer.stopServing()
        this.#lose(peer)
      }
    }
  }

  refuses(id: BoxId): boolean {
    return this.#link?.refuses?.(id) === true
  }

  /** Reason why a box can't be asked now; null if it can. */
  absence(id: BoxId): OfflineReason | null {
    const known = this.#records.find(id)
    if (known === null || known.removedAt !== null) return OFFLINE_REASONS.box_removed
    const peer = this.#peers.get(id)
    if (peer?.isHeard !== true) return OFFLINE_REASONS.box_unreachable
    return peer.isOutdated ? OFFLINE_REASONS.box_outdated : null
  }

  /** The devices of one kind at all present boxes. */
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
        // A box of another version may report a code that this version doesn't know, which is shown as it is.
        return findings.map((one) => ({ ...one, code: one.code as FindingCode, box }))
      }),
    )
    return found.flat()
  }

  /** Calls `listener` when a box comes, goes, or changes. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Null for a box that wasn't heard since the head started. */
  snapshot(box: BoxId) {
    const peer = this.#peers.get(box)
    if (peer === undefined) return null
    const { isHeard, lastHeardAt, hello } = peer
    const { version, platform, health, upgrade = null } = hello
    const isTwice = peer.twiceUntil > this.clock.monotonic()
    return { isHeard, lastHeardAt, version, platform, health, upgrade, isTwice }
  }

  /** Asks the box's current process; rejects with a LinkError if no answer comes. */
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

  /** Total length of the items that wait in all runs of a box, in characters. */
  waitingLength(box: BoxId): number {
    return this.#runsOf(box).reduce((sum, run) => sum + run.waitingLength, 0)
  }

  /** Makes the name of a new session on a box. */
  newSession(box: BoxId): string {
    this.#sessionCount += 1
    return `${this.epochOf(box)}.${this.#sessionCount}`
  }

  /** Routes the requests of the run's box to it from now on. */
  open(run: FleetRun): void {
    this.#runs.set(run.session, run)
  }

  close(run: FleetRun): void {
    this.#runs.delete(run.session)
  }

  #present(): readonly Peer[] {
    return [...this.#peers.values()].filter(({ id }) => this.absence(id) === null)
  }

  /** Answers the requests of a box, or of all boxes (`*`), that name this epoch. */
  #serve(link: Link, epoch: number, box: string): () => void {
    const runOf = (session: string, box: string) => {
      const run = this.#runs.get(session)
      return run?.box === box ? run : null
    }
    const handlers: Parameters<typeof serve>[2] = {
      item: async (request, box) => {
        const run = runOf(request.session, box)
        return run === null ? { isOver: true } : run.item(request)
      },
      pass: async (request, box) =>
        (await runOf(request.session, box)?.pass(request)) ?? { isGranted: false },
      page: async (request, box) => runOf(request.session, box)?.page(request) ?? { isOver: true },
      outgoing_file: async (request, box) =>
        (await runOf(request.session, box)?.file(request)) ?? { isMissing: true },
      release_file: async (request) => this.#releaseFile(request),
    }
    return serve(link, SUBJECTS.up(String(epoch), box), handlers, BOX_IN_UP)
  }

  async #hello(hello: Hello, id: BoxId): Promise<Answer<'hello'> | null> {
    const known = this.#records.find(id)
    if (known === null || known.removedAt !== null) return { refused: 'box_removed' }
    const peer = this.#peer(id, hello)
    if (hello.boot === peer.leftBoot && hello.isLeaving !== true) return null
    if (!(await this.#isAbove(peer, hello.fence))) return null
    const role = await this.#roleOf(hello.boot, peer)
    if (role === 'gone') return null
    if (role === 'second') return this.#refuseSecond(peer)
    const isOutdated = hello.protocol !== PROTOCOL || isBehind(hello.version, this.#version)
    this.#take(peer, hello, isOutdated)
    if (isOutdated) return { refused: 'box_outdated' }
    const closed = hello.sessions.filter((session) => this.#runs.get(session)?.box !== id)
    return { epoch: peer.epoch, closed }
  }

  #peer(id: BoxId, hello: Hello): Peer {
    const known = this.#peers.get(id)
    if (known !== undefined) return known
    const peer = new Peer(id, hello, this.#epoch, timestamp(this.clock.now()))
    this.#peers.set(id, peer)
    return peer
  }

  /**
   * Raises the epoch of a box above its fence, since a restored head is behind what its boxes have seen. False if
   * the box claims an epoch too far ahead. The sessions of other boxes go on: only the box itself may be
   * misled by what it says.
   */
  async #isAbove(peer: Peer, fence: number): Promise<boolean> {
    const given = this.#records.epochOf(peer.id)
    const seen = Math.max(fence, given)
    const isTooFar = seen >= EPOCH_MAX || seen - Math.max(peer.epoch, given) > EPOCH_STEP_MAX
    if (isTooFar && !peer.isTooFarAhead)
      this.#log.warn('box names an epoch too far ahead', { box_id: peer.id, epoch: fence })
    peer.isTooFarAhead = isTooFar
    if (isTooFar || seen <= peer.epoch) return !isTooFar
    const epoch = await this.#records.raiseEpoch(peer.id, seen)
    if (this.#link === null) return false
    if (epoch <= peer.epoch) return true
    this.#log.warn('box has seen a later epoch', { box_id: peer.id, epoch: seen })
    this.#endRuns(peer.id, new Error('The box has seen a later epoch.'))
    peer.stopServing()
    peer.epoch = epoch
    peer.stopServing = this.#serve(this.#link, epoch, peer.id)
    return true
  }

  /** An unknown process that says hello replaces the known one only if it alone is alive. */
  async #roleOf(other: string, peer: Peer): Promise<'current' | 'second' | 'gone'> {
    const { id, boot } = peer
    if (boot === other) return 'current'
    if (peer.isDoubted) return 'gone'
    peer.isDoubted = true
    const alive = await Promise.all([boot, other].map((one) => this.#isAlive(id, one)))
    peer.isDoubted = false
    const [isKnownAlive = false, isOtherAlive = false] = alive
    if (!isOtherAlive || this.bootOf(id) !== boot) return 'gone'
    return isKnownAlive ? 'second' : 'current'
  }

  async #isAlive(box: BoxId, boot: string | null): Promise<boolean> {
    if (this.#link === null || boot === null) return false
    const address = { link: this.#link, subject: SUBJECTS.to(box, boot), timeoutMs: PING_MS }
    return (await orNull(ask(address, 'ping', {}))) !== null
  }

  #refuseSecond(peer: Peer): Answer<'hello'> {
    const now = this.clock.monotonic()
    const isNew = peer.twiceUntil <= now
    peer.twiceUntil = now + TWICE_MS
    if (isNew) {
      this.#log.warn('two machines are the same box', { box_id: peer.id })
      this.changed()
    }
    return { refused: 'box_twice' }
  }

  #take(peer: Peer, hello: Hello, isOutdated: boolean): void {
    const isOtherBoot = peer.boot !== hello.boot
    const isNew =
      !peer.isHeard || isOtherBoot || peer.isOutdated !== isOutdated || differs(peer.hello, hello)
    peer.boot = hello.boot
    if (isOtherBoot || isOutdated) this.#endRuns(peer.id, new Error('The box has started again.'))
    peer.hello = hello
    peer.isOutdated = isOutdated
    peer.lastHeardAt = timestamp(this.clock.now())
    if (hello.isLeaving === true) {
      peer.leftBoot = hello.boot
      if (peer.isHeard) this.#lose(peer)
      return
    }
    if (!peer.isHeard) this.#log.info('box is reachable', { box_id: peer.id })
    peer.isHeard = true
    peer.forget()
    peer.forget = this.clock.after(SILENCE_MS, () => this.#lose(peer))
    const now = this.clock.monotonic()
    if (isNew || now - peer.reportedAt >= REPORT_EVERY_MS) {
      peer.reportedAt = now
      this.#records.heard(peer.id, { version: hello.version, platform: hello.platform })
    }
    if (isNew) this.changed()
  }

  #lose(peer: Peer): void {
    peer.forget()
    if (!peer.isHeard) return
    peer.isHeard = false
    this.#log.warn('box is unreachable', { box_id: peer.id })
    for (const run of this.#runsOf(peer.id)) run.leave(OFFLINE_REASONS.box_unreachable)
    this.changed()
  }

  #endRuns(id: BoxId, error: Error): void {
    for (const run of this.#runsOf(id)) run.finish(error)
  }

  #runsOf(id: BoxId): readonly FleetRun[] {
    return [...this.#runs.values()].filter(({ box }) => box === id)
  }

  /** Notifies listeners that boxes or their devices may have changed. */
  changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Index of the box's id in a subject of `up`. */
const BOX_IN_UP = 4

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
