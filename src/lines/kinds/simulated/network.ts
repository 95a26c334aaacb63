import { guidFromBytes, timestamp, uuidV7 } from '../../../domain/ids.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import { Signal } from '../../../system/signal.ts'
import type { Effect } from './answers.ts'
import { SimulatedFiles } from './files.ts'
import type { CarriedMessage, Chat, NetworkEvent, PendingEvent } from './ledger-tables.ts'
import { Ledger } from './ledger.ts'

export type NetworkTools = { readonly clock: Clock; readonly random: Random }

/** A message that is not in the ledger yet. */
type Posted = CarriedMessage & {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const DUE_MAX = 256
const PRUNE_MAX = 500
const KEPT_MS = 30 * 86_400_000

/** Carries messages between simulated lines and persons; its ledger survives a crash. */
export class SimulatedNetwork {
  readonly ledger: Ledger
  readonly files: SimulatedFiles
  readonly #clock: Clock
  readonly #random: Random
  readonly #signals = new Map<string, Signal>()
  /** Time of each line's next pending event, where known; Infinity for never. */
  readonly #nextDueAt = new Map<string, number>()
  /** Messages of this turn of the event loop. */
  #posted: Posted[] = []
  #time: number
  #monotonic: number

  constructor(ledgerPath: string, { clock, random }: NetworkTools) {
    this.#clock = clock
    this.#random = random
    this.ledger = new Ledger(ledgerPath, this.newGuid())
    this.files = new SimulatedFiles(ledgerPath.replace(/(\.db)?$/, '-files'))
    this.#time = this.ledger.lastCarriedAt() ?? 0
    this.#monotonic = clock.monotonic()
  }

  /** Begins a session of a line and returns its id; earlier sessions carry nothing from now on. */
  beginSession(line: string): string {
    const id = this.newGuid()
    this.ledger.beginSession(line, id)
    return id
  }

  /** Note of a point of no return: `identity:session:seq of the newest message so far`. */
  noteOf(session: string): string {
    return `${this.ledger.identity}:${session}:${this.ledger.carriedSeqs().newest}`
  }

  /**
   * True where this ledger would hold the message of a note, had it been carried: its session is over, so
   * none of its sends can write any more; it is not settled, so the relay's own file is not of an earlier
   * time; and the ledger has neither lost nor pruned the messages after the note.
   */
  isCompleteSince(line: string, note: string | null): boolean {
    const [identity, session = '', seq] = note?.split(':') ?? []
    const { oldest, newest } = this.ledger.carriedSeqs()
    const isSameLedger = identity === this.ledger.identity && this.ledger.hasSession(line, session)
    return isSameLedger && Number(seq) <= newest && Number(seq) >= oldest - 1
  }

  /** Notified when a line has something to read earlier than expected. */
  signalOf(line: string): Signal {
    const known = this.#signals.get(line)
    if (known !== undefined) return known
    const wake = new Signal()
    this.#signals.set(line, wake)
    return wake
  }

  /**
   * Carries a message with its effects; or rejects and has carried nothing. Messages of one turn of the
   * event loop are one transaction of the ledger: they pass their points of no return together.
   */
  carry(message: Omit<CarriedMessage, 'events'>, effects: readonly Effect[]): Promise<void> {
    const events = effects.map((effect) => pendingEventOf(effect, message.carried.at))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#posted.push({ ...message, events, resolve, reject })
    if (this.#posted.length === 1) queueMicrotask(() => this.#carryPosted())
    return promise
  }

  /** Lets something happen that follows from no message; `chats` are the groups that it speaks of. */
  post(effects: readonly Effect[], chats: readonly Chat[]): void {
    const now = this.now()
    const events = effects.map((effect) => pendingEventOf(effect, now))
    this.ledger.post(events, chats, now)
    for (const event of events) this.#expect(event, now)
  }

  /** Events of a line after `position`, in order; due pending events join them first. */
  read(line: string, position: number, limit: number): readonly NetworkEvent[] {
    const now = this.now()
    if (this.#dueAt(line) <= now) {
      this.ledger.bringDue(line, now, DUE_MAX)
      this.#nextDueAt.delete(line)
    }
    return this.ledger.eventsAfter(line, position, limit)
  }

  /** Time until the line's next pending event, in milliseconds; Infinity for none. */
  msUntilNext(line: string): number {
    return Math.max(0, this.#dueAt(line) - this.now())
  }

  /** Deletes a few entries older than 30 days, of `line` only those up to `position`. */
  prune(line: string, position: number): void {
    const before = this.now() - KEPT_MS
    this.ledger.prune(line, { position, before, limit: PRUNE_MAX })
    this.files.prune(before)
  }

  /** The wall clock, except that it never steps back: then time goes on from where it was. */
  now(): number {
    const wall = this.#clock.now()
    const monotonic = this.#clock.monotonic()
    this.#time = wall >= this.#time ? wall : this.#time + (monotonic - this.#monotonic)
    this.#monotonic = monotonic
    return Math.floor(this.#time)
  }

  /** Guids in order of time: an index over them grows at its end, which keeps commits small. */
  newGuid(): string {
    return guidFromBytes(uuidV7(timestamp(this.now()), this.#random.bytes(10)))
  }

  #carryPosted(): void {
    const posted = this.#posted
    this.#posted = []
    try {
      this.ledger.carry(posted)
    } catch (error) {
      for (const { reject } of posted) reject(error)
      return
    }
    for (const { carried, events, resolve } of posted) {
      for (const event of events) this.#expect(event, carried.at)
      resolve()
    }
  }

  /** Wakes a line that waits for something later, or for nothing. */
  #expect({ line, at }: PendingEvent, now: number): void {
    if (at <= now) {
      this.signalOf(line).notify()
      return
    }
    const known = this.#nextDueAt.get(line)
    if (known !== undefined && known <= at) return
    this.#nextDueAt.delete(line)
    this.signalOf(line).notify()
  }

  #dueAt(line: string): number {
    const known = this.#nextDueAt.get(line)
    if (known !== undefined) return known
    const found = this.ledger.nextDueAt(line) ?? Infinity
    this.#nextDueAt.set(line, found)
    return found
  }
}

function pendingEventOf({ afterMs, ...event }: Effect, now: number): PendingEvent {
  return { ...event, at: now + afterMs }
}
