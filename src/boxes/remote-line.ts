// One run of a line on a box, as the head sees it. Items come numbered and are taken in order. A granted send ends
// by its outcome, or by the journal of the box.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { BoxId } from '../domain/ids.ts'
import type { OfflineReason } from '../domain/line.ts'
import type { DriverLine, LineListener, LineSession, SendOutcome } from '../lines/driver.ts'
import { deadline, nextTurn, whenAborted, withTimeout } from '../system/clock.ts'
import { fetchFile, readChunk } from './files.ts'
import type { Fleet, FleetRun } from './fleet.ts'
import { LinkError } from './link.ts'
import { RemoteSends } from './remote-sends.ts'
import { type FetchedPaths, filesToFetch, unpackEvent } from './wire-events.ts'
import {
  type Answer,
  askUntil,
  type Chunk,
  ENDING_MS,
  type Item,
  orNull,
  PAGE_BYTES,
  type Request,
  type WireEvent,
  WINDOW,
} from './wire.ts'

export type RemoteOrder = {
  readonly kind: string
  readonly line: DriverLine
  readonly box: BoxId
  readonly listener: LineListener
  readonly signal: AbortSignal
}

/** An item that waits, as text, since the length of a text shows how much memory it takes. */
type Entry = { readonly json: string } & PromiseWithResolvers<Answer<'item'>>

const ASK_MS = 2_000
const AGAIN_MS = 250
const KNOWS_MS = 100
const FILE_MS = 5_000
/** Longest wait for all pieces of a file: 100 MB at 60 KB a second. */
const FILE_MS_MAX = 30 * 60_000
/** Longest wait until the box has ended its earlier run of the line. */
const BUSY_MS_MAX = 120_000
/** Longest wait for the box to end its run. */
const QUIET_MS = 2_000
/** Most characters of items that wait for an earlier one, in all runs of a box. */
const WAITING_MAX = 8_000_000
const TAKEN = { isTaken: true } as const
const OVER = { isOver: true } as const

export class RemoteLine implements FleetRun {
  readonly session: string
  readonly box: BoxId
  readonly #fleet: Fleet
  readonly #order: RemoteOrder
  /** Boot id of the box's process that runs the line. */
  readonly #boot: string
  readonly #sends: RemoteSends
  readonly #entries = new Map<number, Entry>()
  #waitingLength = 0
  #next = 1
  #isTaking = false
  #device: { readonly number: number; readonly session: LineSession } | null = null
  readonly #over = new AbortController()
  #error: Error | null = null

  constructor(fleet: Fleet, order: RemoteOrder) {
    this.#fleet = fleet
    this.#order = order
    this.box = order.box
    this.session = fleet.newSession(order.box)
    this.#boot = fleet.bootOf(order.box) ?? ''
    const { box, session } = this
    const note = { box, boot: this.#boot, session }
    this.#sends = new RemoteSends(
      note,
      (request) => this.#askBox('send', request),
      () => this.finish(new Error('The box has ended the run.')),
    )
  }

  get waitingLength(): number {
    return this.#waitingLength
  }

  /** Runs until the signal aborts, the box is away, or the box or an event fails. */
  async run(): Promise<void> {
    const { signal } = this.#order
    const absence = this.#fleet.absence(this.box)
    const onAbort = () => this.finish(null)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    this.#fleet.open(this)
    if (absence !== null) this.leave(absence)
    try {
      await this.#start()
      await whenAborted(this.#over.signal)
      await withTimeout(this.#fleet.clock, QUIET_MS, this.#end(), null)
    } finally {
      this.#fleet.close(this)
      signal.removeEventListener('abort', onAbort)
    }
    if (this.#error !== null && !signal.aborted) throw this.#error
  }

  /** Ends the session: no event follows, and no send is granted any more. */
  finish(error: Error | null): void {
    if (this.#over.signal.aborted) return
    this.#error = error
    this.#over.abort()
    this.#fleet.close(this)
    for (const { resolve } of this.#entries.values()) resolve(OVER)
    this.#entries.clear()
    this.#waitingLength = 0
    this.#sends.end()
  }

  /** Ends the run because the box is away, and reports the line as offline for that reason. */
  leave(reason: OfflineReason): void {
    if (this.#over.signal.aborted) return
    this.finish(new Error('The box is away.'))
    this.#order.listener.onEvent({ type: 'offline', reason }).catch(() => {})
  }

  /** Resolves once the item is taken; null for an item that came too early: the box repeats it. */
  item({ seq, item }: Request<'item'>): Promise<Answer<'item'>> | null {
    if (this.#over.signal.aborted) return Promise.resolve(OVER)
    const known = this.#entries.get(seq)
    if (known !== undefined) return known.promise
    if (seq < this.#next) return Promise.resolve(TAKEN)
    if (seq >= this.#next + WINDOW) return null
    const json = JSON.stringify(item)
    // The next item is always let in, since the others wait for it.
    const waiting = this.#fleet.waitingLength(this.box)
    if (seq > this.#next && waiting + json.length > WAITING_MAX) return null
    this.#waitingLength += json.length
    const entry = { json, ...Promise.withResolvers<Answer<'item'>>() }
    this.#entries.set(seq, entry)
    void this.#take()
    return entry.promise
  }

  pass(request: Request<'pass'>): Promise<Answer<'pass'>> {
    return this.#sends.pass(request)
  }

  page({ list, from }: Request<'page'>): Answer<'page'> {
    const { unsettled, open, awaited = [] } = this.#order.line
    const { entries, next } = pageOf<unknown>({ unsettled, open, awaited }[list], from)
    return { [list]: entries, next }
  }

  /** Reads a piece of a file of a message that this session is sending. */
  async file({ send, sha256, offset }: Request<'outgoing_file'>): Promise<Chunk> {
    const file = this.#sends.message(send)?.attachments?.find((one) => one.sha256 === sha256)
    return file === undefined ? { isMissing: true } : readChunk(file.path, offset)
  }

  async #start(): Promise<void> {
    const { clock } = this.#fleet
    const { kind, line } = this.#order
    const { id, key, number, checkpoint } = line
    const until = clock.monotonic() + BUSY_MS_MAX
    const request = { session: this.session, kind, line: { id, key, number, checkpoint } }
    while (!this.#over.signal.aborted) {
      const answer = await this.#askBox('run', request)
      if (answer === null || 'isRunning' in answer) return
      if ('refused' in answer) this.finish(new Error(`The box refuses the run: ${answer.refused}`))
      else if (clock.monotonic() > until) this.finish(new Error('The box is busy.'))
      await clock.sleep(AGAIN_MS, this.#over.signal)
    }
  }

  /** Takes the arrived items in order: in one turn those that can share a commit, the next once these are durable. */
  async #take(): Promise<void> {
    if (this.#isTaking) return
    this.#isTaking = true
    try {
      while (this.#entries.has(this.#next) && !this.#over.signal.aborted) await this.#takeSome()
    } catch (error) {
      this.finish(error instanceof Error ? error : new Error(String(error)))
    }
    this.#isTaking = false
  }

  async #takeSome(): Promise<void> {
    const batch = this.#nextBatch()
    await Promise.all(batch.map(([seq, item]) => this.#takeItem(seq, item)))
    for (const [seq] of batch) {
      const entry = this.#entries.get(seq)
      if (entry === undefined) continue
      entry.resolve(TAKEN)
      this.#entries.delete(seq)
      this.#waitingLength -= entry.json.length
    }
  }

  #nextBatch(): readonly (readonly [number, Item])[] {
    const batch: (readonly [number, Item])[] = []
    for (;;) {
      const entry = this.#entries.get(this.#next)
      if (entry === undefined) return batch
      const item = JSON.parse(entry.json) as Item // Its form was checked on arrival.
      const isAlone = item.type !== 'event' || filesToFetch(item.event).length > 0
      if (isAlone && batch.length > 0) return batch
      batch.push([this.#next, item])
      this.#next += 1
      if (isAlone) return batch
    }
  }

  async #takeItem(seq: number, item: Item): Promise<void> {
    if (this.#over.signal.aborted) return
    switch (item.type) {
      case 'event':
        if (filesToFetch(item.event).length > 0) await this.#takeLoaded(item.event, seq)
        else await this.#publish(item.event, NO_PATHS)
        return
      case 'outcome':
        this.#sends.settle(item.send, item.outcome)
        // The outcome reaches the writer before a later event does.
        await nextTurn()
        return
      case 'ended':
        this.finish(new Error(item.error ?? 'The driver left the line by itself.'))
    }
  }

  async #publish(event: WireEvent, paths: FetchedPaths): Promise<void> {
    const sessionOf = (number: number, capacity: number) => this.#sessionOf(number, capacity)
    await this.#order.listener.onEvent(unpackEvent(event, sessionOf, paths))
  }

  /** Fetches the files of an event before it is published, and removes them once they are stored. */
  async #takeLoaded(event: WireEvent, seq: number): Promise<void> {
    const { folder, takesFile } = this.#fleet
    const paths = new Map<string, string | null>()
    const made: string[] = []
    let others = 0
    try {
      for (const { guid, file } of filesToFetch(event)) {
        if (file.state !== 'available') continue
        if (!(await takesFile(file.size, others))) {
          paths.set(guid, null)
          continue
        }
        const path = join(folder, `${this.session}-${seq}-${made.length}`)
        made.push(path)
        // The folder can be deleted while the relay runs.
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        others += file.size
        if (await this.#fetch({ path, size: file.size }, { seq, guid })) paths.set(guid, path)
      }
      if (!this.#over.signal.aborted) await this.#publish(event, paths)
    } finally {
      for (const path of made) rmSync(path, { force: true })
    }
  }

  async #fetch(
    wanted: { readonly path: string; readonly size: number },
    { seq, guid }: { readonly seq: number; readonly guid: string },
  ): Promise<boolean> {
    const { clock } = this.#fleet
    const limit = deadline(clock, FILE_MS_MAX, this.#over.signal)
    const ask = (offset: number) => {
      const request = { session: this.session, seq, guid, offset }
      return this.#fleet.ask(this.box, 'received_file', request, FILE_MS)
    }
    try {
      return await fetchFile(wanted, (offset) => askUntil(clock, limit.signal, () => ask(offset)))
    } finally {
      limit.clear()
    }
  }

  /** The session with this number of the driver: the same object as long as the number is the same. */
  #sessionOf(deviceSession: number, capacity: number): LineSession {
    if (this.#device?.number === deviceSession) return this.#device.session
    const session: LineSession = {
      capacity,
      knows: async (handle) => {
        const request = { session: this.session, deviceSession, handle }
        const { isKnown } = await this.#fleet.ask(this.box, 'knows', request, KNOWS_MS)
        if (isKnown === null) throw new LinkError('The device cannot be asked.')
        return isKnown
      },
      send: (message, pointOfNoReturn, signal): Promise<SendOutcome> =>
        this.#sends.give({ message, pointOfNoReturn, signal, deviceSession }),
    }
    this.#device = { number: deviceSession, session }
    return session
  }

  /** Asks until there is an answer; null once the session is over. */
  #askBox<Name extends 'run' | 'send'>(
    name: Name,
    request: Request<Name>,
  ): Promise<Answer<Name> | null> {
    const { clock } = this.#fleet
    return askUntil(clock, this.#over.signal, () =>
      this.#fleet.ask(this.box, name, request, ASK_MS),
    )
  }

  /**
   * Ends the run on the box, and settles granted sends by what the box knows: the same process, or the journal if
   * another process has started. After 90 seconds their outcome is unknown.
   */
  async #end(): Promise<void> {
    const { clock } = this.#fleet
    const { kind, line } = this.#order
    const limit = deadline(clock, ENDING_MS)
    const order = { session: this.session, kind, key: line.key, boot: this.#boot }
    while (!limit.signal.aborted) {
      const messages = this.#sends.granted()
      const request = { ...order, mark: this.#sends.mark, messages }
      const asked = this.#fleet.ask(this.box, 'end', request, ASK_MS)
      const answer = await orNull(asked)
      const records = answer !== null && 'records' in answer ? answer.records : null
      for (const record of records ?? []) this.#sends.settleBy(record)
      const isGone = answer === null && this.#fleet.absence(this.box) !== null
      if (messages.length === 0 && (records !== null || isGone)) break
      if (records === null) await clock.sleep(AGAIN_MS, limit.signal)
    }
    limit.clear()
    this.#sends.giveUp()
  }
}

const NO_PATHS: FetchedPaths = new Map()

function pageOf<Item>(all: readonly Item[], from: number) {
  let [to, bytes] = [from, 0]
  while (to < all.length && bytes < PAGE_BYTES) {
    bytes += Buffer.byteLength(JSON.stringify(all[to]))
    to += 1
  }
  return { entries: all.slice(from, to), next: to < all.length ? to : null }
}
