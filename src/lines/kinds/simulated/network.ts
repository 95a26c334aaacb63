import { guidFromBytes, timestamp, uuidV7 } from '../../../domain/ids.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import { Signal } from '../../../system/signal.ts'
import type { Consequence, Letter } from './correspondents.ts'
import { Ledger, type CarriedLetter, type Happening, type News } from './ledger.ts'

export type NetworkTools = { readonly clock: Clock; readonly random: Random }

/** A letter as a session of its line posts it. */
type PostedLetter = Letter & { readonly session: string }

/** A letter that is not in the ledger yet. */
type Posted = CarriedLetter & {
  readonly resolve: (guid: string) => void
  readonly reject: (error: unknown) => void
}

const DUE_MAX = 256
const PRUNE_MAX = 500
const KEPT_MS = 30 * 86_400_000

/** Carries messages between simulated lines and persons, and does not forget when we crash. */
export class SimulatedNetwork {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #random: Random
  readonly #signals = new Map<string, Signal>()
  /** When the next of a line's future is due, where that is known; Infinity for never. */
  readonly #nextDueAt = new Map<string, number>()
  /** What was posted in this turn. */
  #posted: Posted[] = []
  #time: number
  #monotonic: number

  /** `path` is that of the ledger. */
  constructor(path: string, { clock, random }: NetworkTools) {
    this.#clock = clock
    this.#random = random
    this.#ledger = new Ledger(path, this.#newGuid())
    this.#time = this.#ledger.lastCarriedAt() ?? 0
    this.#monotonic = clock.monotonic()
  }

  /** Says which network this is: one with a new ledger is another one. */
  get identity(): string {
    return this.#ledger.identity
  }

  /** Begins a session of a line and gives its id; earlier ones carry nothing from now on. */
  beginSession(line: string): string {
    const id = this.#newGuid()
    this.#ledger.sessions.begin(line, id)
    return id
  }

  /** What became of all that earlier sessions of a line left open is durable. */
  settleSessions(line: string): void {
    this.#ledger.sessions.settle(line)
  }

  /** The note of a point of no return: `identity:session:seq of the newest message so far`. */
  noteOf(session: string): string {
    return `${this.identity}:${session}:${this.#ledger.carriedSeqs().newest}`
  }

  /**
   * Whether this ledger would hold the message of a note, had it been carried. Its session is over, so
   * no send of it can write any more; it is not settled, so the relay's own file is not of an earlier
   * time; and the ledger has neither lost nor pruned what came after the note.
   */
  isCompleteSince(line: string, note: string | null): boolean {
    const [identity, session = '', seq] = note?.split(':') ?? []
    const { oldest, newest } = this.#ledger.carriedSeqs()
    const isSameLedger = identity === this.identity && this.#ledger.sessions.has(line, session)
    return isSameLedger && Number(seq) <= newest && Number(seq) >= oldest - 1
  }

  /** Rung when a line has something to read earlier than it was told. */
  signalOf(line: string): Signal {
    const known = this.#signals.get(line)
    if (known !== undefined) return known
    const wake = new Signal()
    this.#signals.set(line, wake)
    return wake
  }

  /**
   * Carries a message, with all that follows from it, and resolves with its guid; or rejects and has
   * carried nothing. What is posted in one turn is one transaction of the ledger: messages pass their
   * points of no return together.
   */
  carry(
    messageId: string,
    { session, ...letter }: PostedLetter,
    consequences: readonly Consequence[],
  ): Promise<string> {
    const guid = this.#newGuid()
    const at = this.#now()
    const news = consequences.map((consequence) => this.#newsOf(consequence, guid, at))
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const carried = { ...letter, messageId, guid, at }
    this.#posted.push({ carried, session, news, resolve, reject })
    if (this.#posted.length === 1) queueMicrotask(() => this.#carryPosted())
    return promise
  }

  /** What a line is told after `position`, in order; makes happen what is due. */
  read(line: string, position: number, limit: number): readonly Happening[] {
    const now = this.#now()
    if (this.#dueAt(line) <= now) {
      this.#ledger.bringDue(line, now, DUE_MAX)
      this.#nextDueAt.delete(line)
    }
    return this.#ledger.happeningsAfter(line, position, limit)
  }

  /** Milliseconds until something happens to a line; Infinity where nothing is to come. */
  msUntilNext(line: string): number {
    return Math.max(0, this.#dueAt(line) - this.#now())
  }

  lastPosition(): number {
    return this.#ledger.lastPosition()
  }

  guidOf(messageId: string): string | null {
    return this.#ledger.guidOf(messageId)
  }

  hasHistory(line: string, handle: string): boolean {
    return this.#ledger.hasHistory(line, handle)
  }

  /** Forgets a few entries older than 30 days, but none of `line` that it was not told yet. */
  prune(line: string, told: number): void {
    this.#ledger.prune(line, { told, before: this.#now() - KEPT_MS, limit: PRUNE_MAX })
  }

  close(): void {
    this.#ledger.close()
  }

  #carryPosted(): void {
    const posted = this.#posted
    this.#posted = []
    try {
      this.#ledger.carry(posted)
    } catch (error) {
      for (const { reject } of posted) reject(error)
      return
    }
    for (const { carried, news, resolve } of posted) {
      for (const one of news) this.#expect(one, carried.at)
      resolve(carried.guid)
    }
  }

  #newsOf({ line, afterMs, news }: Consequence, guid: string, now: number): News {
    const at = now + afterMs
    if (news.kind !== 'message')
      return { line, kind: news.kind, guid, handle: null, text: null, at }
    const { kind, from, text } = news
    return { line, kind, guid: this.#newGuid(), handle: from, text, at }
  }

  /** A line that waits for something later, or for nothing, is woken. */
  #expect({ line, at }: News, now: number): void {
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
    const found = this.#ledger.nextDueAt(line) ?? Infinity
    this.#nextDueAt.set(line, found)
    return found
  }

  /** The wall clock, but never back: where that steps back, time goes on from where it was. */
  #now(): number {
    const wall = this.#clock.now()
    const monotonic = this.#clock.monotonic()
    this.#time = wall >= this.#time ? wall : this.#time + (monotonic - this.#monotonic)
    this.#monotonic = monotonic
    return Math.floor(this.#time)
  }

  /** In order of time: an index over guids then grows at its end, which keeps commits small. */
  #newGuid(): string {
    return guidFromBytes(uuidV7(timestamp(this.#now()), this.#random.bytes(10)))
  }
}
