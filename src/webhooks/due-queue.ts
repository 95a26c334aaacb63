import type { ConversationId, WebhookId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import {
  dueDeliveries,
  nextDueDelivery,
  nextPendingDelivery,
  requestedDeliveries,
  untriedDelivery,
  type DueDelivery,
} from '../storage/delivery-queue.ts'

const READ_AHEAD = 64
const KNOWN_MAX = 512

/** The pending deliveries of one webhook: what is due, read ahead, and what is under way. */
export class DueQueue {
  readonly #db: Db
  readonly #id: WebhookId
  /** Due and not begun; may be out of date only in that a delivery became busy since. */
  #due: DueDelivery[] = []
  #requested: DueDelivery[] = []
  readonly #busy = new Set<number>()
  readonly #conversations = new Set<ConversationId>()
  #mayHaveDue = true
  #mayHaveRequested = true
  #nextDueAt: number | null = null
  /** The seq of the last probe. */
  #probed = 0
  /** How far what had failed was gone through once more; null where that is done. */
  #triedAgain: number | null = null

  constructor(db: Db, id: WebhookId) {
    this.#db = db
    this.#id = id
  }

  /** Deliveries in flight, and answered ones that are not recorded yet, by their seq. */
  get busy(): ReadonlySet<number> {
    return this.#busy
  }

  /** When the next delivery becomes due, or null. */
  get nextDueAt(): number | null {
    return this.#nextDueAt
  }

  /** Whether there may be something to begin, besides a probe. */
  mayHaveWork(now: number): boolean {
    const isKnown = this.#due.length > 0 || this.#requested.length > 0
    return isKnown || this.#mayHaveRequested || this.#mayHaveDueAt(now)
  }

  lookForDue(): void {
    this.#mayHaveDue = true
  }

  lookForRequested(): void {
    this.#mayHaveRequested = true
  }

  /** Forgets what was read. */
  readAgain(): void {
    this.#due = []
    this.#requested = []
    this.#mayHaveRequested = true
    this.#mayHaveDue = true
  }

  /** What somebody asked to be tried at once; null for none that may go now. */
  takeRequested(): DueDelivery | null {
    if (this.#mayHaveRequested) {
      const rows = requestedDeliveries(this.#db, this.#id, READ_AHEAD)
      this.#requested = rows.filter(({ seq }) => !this.#busy.has(seq))
      this.#mayHaveRequested = rows.length === READ_AHEAD
    }
    const delivery = this.#requested.find((requested) => this.#isFree(requested))
    if (delivery === undefined) return null
    this.#requested = without(this.#requested, delivery)
    return this.#begin(delivery)
  }

  takeDue(now: number): DueDelivery | null {
    this.#mayHaveDue = this.#mayHaveDueAt(now)
    return this.#takeRead() ?? (this.#readDue(now) ? this.#takeRead() : null)
  }

  /**
   * A delivery that was never tried, else the next of the others, in turns: one that the receiver
   * refuses for its own sake must not be the only one that is tried.
   */
  takeProbe(): DueDelivery | null {
    const next = (after: number) => nextPendingDelivery(this.#db, this.#id, after)
    const delivery = untriedDelivery(this.#db, this.#id) ?? next(this.#probed) ?? next(0)
    if (delivery === null || !this.#isFree(delivery)) return null
    this.#probed = delivery.seq
    return this.#begin(delivery)
  }

  /** From now on `takeAgain` goes once through all that is pending. */
  tryAllAgain(): void {
    this.#triedAgain = 0
  }

  takeAgain(): DueDelivery | null {
    while (this.#triedAgain !== null) {
      const delivery = nextPendingDelivery(this.#db, this.#id, this.#triedAgain)
      this.#triedAgain = delivery?.seq ?? null
      if (delivery !== null && this.#isFree(delivery)) return this.#begin(delivery)
    }
    return null
  }

  /** The exchange is over; the delivery stays busy until `settled`. */
  end({ conversationId }: DueDelivery): void {
    if (conversationId !== null) this.#conversations.delete(conversationId)
  }

  /** The attempt is on disk; `nextAttemptAt` is when the delivery is due again, or null. */
  settled({ seq }: DueDelivery, nextAttemptAt: number | null): void {
    this.#busy.delete(seq)
    if (nextAttemptAt === null) return
    this.#nextDueAt = Math.min(this.#nextDueAt ?? nextAttemptAt, nextAttemptAt)
  }

  #begin(delivery: DueDelivery): DueDelivery {
    const { seq, conversationId } = delivery
    this.#due = without(this.#due, delivery)
    this.#busy.add(seq)
    if (conversationId !== null) this.#conversations.add(conversationId)
    return delivery
  }

  #mayHaveDueAt(now: number): boolean {
    return this.#mayHaveDue || (this.#nextDueAt !== null && this.#nextDueAt <= now)
  }

  #takeRead(): DueDelivery | null {
    const delivery = this.#due.find((due) => this.#isFree(due))
    return delivery === undefined ? null : this.#begin(delivery)
  }

  /** Reads on behind what is known already; says whether it looked. */
  #readDue(now: number): boolean {
    const known = this.#due.length + this.#busy.size
    if (!this.#mayHaveDue || known >= KNOWN_MAX) return false
    const limit = READ_AHEAD + known
    const rows = dueDeliveries(this.#db, this.#id, now, limit)
    const read = new Set(this.#due.map(({ seq }) => seq))
    this.#due.push(...rows.filter(({ seq }) => !this.#busy.has(seq) && !read.has(seq)))
    this.#mayHaveDue = rows.length === limit
    if (!this.#mayHaveDue) this.#nextDueAt = nextDueDelivery(this.#db, this.#id, now)
    return true
  }

  #isFree({ seq, conversationId }: DueDelivery): boolean {
    if (this.#busy.has(seq)) return false
    return conversationId === null || !this.#conversations.has(conversationId)
  }
}

function without(list: readonly DueDelivery[], { seq }: DueDelivery): DueDelivery[] {
  return list.filter((delivery) => delivery.seq !== seq)
}
