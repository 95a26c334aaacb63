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

/** The pending deliveries of one webhook: due ones, read ahead, and those under way. */
export class PendingDeliveries {
  readonly #db: Db
  readonly #id: WebhookId
  /** Due and not begun; outdated at most in that a delivery became busy since. */
  #due: DueDelivery[] = []
  #requested: DueDelivery[] = []
  readonly #busy = new Set<number>()
  readonly #conversations = new Set<ConversationId>()
  #mayHaveDue = true
  #mayHaveRequested = true
  #nextDueAt: number | null = null
  #lastProbedSeq = 0
  /** Position of `takeRetry`; null once it has gone through everything. */
  #retriedSeq: number | null = null

  constructor(db: Db, id: WebhookId) {
    this.#db = db
    this.#id = id
  }

  /** Deliveries in flight, and answered ones that are not recorded yet, by their seq. */
  get busy(): ReadonlySet<number> {
    return this.#busy
  }

  get nextDueAt(): number | null {
    return this.#nextDueAt
  }

  /** True where there may be something to begin, besides a probe. */
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

  readAgain(): void {
    this.#due = []
    this.#requested = []
    this.#mayHaveRequested = true
    this.#mayHaveDue = true
  }

  /** A delivery that a caller asked to be tried at once, if one may go now. */
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
   * A delivery that was never tried, else the next of the others in rotation: one that the receiver
   * refuses for its own sake must not be the only one that is tried.
   */
  takeProbe(): DueDelivery | null {
    const next = (after: number) => nextPendingDelivery(this.#db, this.#id, after)
    const delivery = untriedDelivery(this.#db, this.#id) ?? next(this.#lastProbedSeq) ?? next(0)
    if (delivery === null || !this.#isFree(delivery)) return null
    this.#lastProbedSeq = delivery.seq
    return this.#begin(delivery)
  }

  /** Lets `takeRetry` go once through all that is pending. */
  retryAll(): void {
    this.#retriedSeq = 0
  }

  takeRetry(): DueDelivery | null {
    while (this.#retriedSeq !== null) {
      const delivery = nextPendingDelivery(this.#db, this.#id, this.#retriedSeq)
      this.#retriedSeq = delivery?.seq ?? null
      if (delivery !== null && this.#isFree(delivery)) return this.#begin(delivery)
    }
    return null
  }

  /** The exchange is over; the delivery stays busy until `settle`. */
  end({ conversationId }: DueDelivery): void {
    if (conversationId !== null) this.#conversations.delete(conversationId)
  }

  /** The attempt is on disk; `nextAttemptAt` is when the delivery is due again, or null. */
  settle({ seq }: DueDelivery, nextAttemptAt: number | null): void {
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

  /** Reads on behind what is known already; returns false where it did not look. */
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
