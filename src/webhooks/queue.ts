import {
  afterFailure,
  afterSuccess,
  clamped,
  isOpen,
  isProbeDue,
  movedBack,
  wasAway,
  type Breaker,
} from '../domain/breaker.ts'
import { timestamp, type ConversationId, type Timestamp, type WebhookId } from '../domain/ids.ts'
import {
  afterAttempt,
  FIRST_SLOTS,
  isLate,
  lastAnswerOf,
  mayBegin,
  type Slots,
  type Standing,
  type Taken,
} from '../domain/slots.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { Db } from '../storage/database.ts'
import {
  dueDeliveries,
  nextDueDelivery,
  nextPendingDelivery,
  requestedDeliveries,
  untriedDelivery,
  type DueDelivery,
} from '../storage/delivery-queue.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import type { Age } from '../system/confirmed-clock.ts'
import {
  retryAfterMsOf,
  isSuccess,
  RejectedDeliveries,
  type AttemptResult,
  type DueAttempt,
} from './attempt.ts'
import type { SigningSecret } from './signature.ts'

/** Changes that an attempt made to a webhook and that must be saved. */
export type ReceiverChange = {
  readonly breaker: Breaker
  readonly disable: DisabledReason | null
  readonly isOpened: boolean
  /** True if the receiver is back, so that all pending deliveries become due. */
  readonly isReleased: boolean
}

/** The time of a pass of the loop by both clocks; `full`: the monotonic time since which slots are scarce, or null. */
export type Moment = {
  readonly now: number
  readonly monotonic: number
  readonly full: number | null
}

const UNREACHABLE_MS = 60_000

/** One webhook's pending deliveries, attempts in flight and receiver state; sends nothing itself. */
export class WebhookQueue {
  readonly pending: PendingDeliveries
  readonly #refusals = new RejectedDeliveries()
  #webhook: StoredWebhook
  #secrets: readonly SigningSecret[] = []
  #breaker: Breaker
  #slots: Slots = FIRST_SLOTS
  /** The oldest first. */
  readonly #inFlight = new Set<DueAttempt>()
  /** Monotonic clock. */
  #answeredAt = Number.NEGATIVE_INFINITY
  #isReleasing = false
  /** Monotonic time of the next try; null while this machine can reach the receiver. */
  #unreachableUntil: number | null = null

  constructor(db: Db, webhook: StoredWebhook) {
    this.pending = new PendingDeliveries(db, webhook.seq)
    this.#webhook = webhook
    this.#breaker = webhook.breaker
  }

  get id(): WebhookId {
    return this.#webhook.id
  }

  get seq(): number {
    return this.#webhook.seq
  }

  get webhook(): StoredWebhook {
    return { ...this.#webhook, breaker: this.#breaker }
  }

  get receiver() {
    const { id, url, attachmentLinks, format, isPublicOnly, keyId, isCallback } = this.#webhook
    const secrets = this.#secrets
    return { id, url, attachmentLinks, format, isPublicOnly, keyId, isCallback, secrets }
  }

  standing(monotonic: number): Standing {
    if (this.#breaker.failuresInRow > 0 || this.isUnreachable) return 'failing'
    if (this.#slots.usualMs === null) return 'untried'
    const [oldest] = this.#inFlight
    return oldest && isLate(this.#slots, oldest.begunAt, monotonic) ? 'late' : 'proven'
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  /** This machine has no route to the receiver. */
  get isUnreachable(): boolean {
    return this.#unreachableUntil !== null
  }

  /** Loads the stored webhook; takes over its breaker only if the webhook was changed. */
  load(webhook: StoredWebhook, secrets: readonly SigningSecret[], now: number): void {
    const isChanged = webhook.updatedAt !== this.#webhook.updatedAt
    this.#breaker = clamped(isChanged ? webhook.breaker : this.#breaker, now)
    if (webhook.url !== this.#webhook.url) this.#slots = FIRST_SLOTS
    this.#webhook = webhook
    this.#secrets = secrets
    this.#unreachableUntil = null
    this.pending.readAgain()
  }

  close(): void {
    this.#webhook = { ...this.#webhook, isActive: false }
  }

  moveBack(ms: number): void {
    this.#breaker = movedBack(this.#breaker, ms)
    this.pending.readAgain()
  }

  /** Returns the slot to begin in, or `wait` if other webhooks hold the slots that this one needs. */
  mayBegin(taken: Taken, { now, monotonic, full }: Moment): 'common' | 'kept' | 'wait' | 'no' {
    const standing = this.standing(monotonic)
    const lastAnswer = lastAnswerOf(this.#answeredAt, full, monotonic)
    const candidate = { inFlight: this.inFlight, slots: this.#slots, standing, lastAnswer }
    const answer = mayBegin(candidate, taken)
    if (answer !== 'wait') return answer
    return this.pending.mayHaveWork(now) || isProbeDue(this.#breaker, now) ? 'wait' : 'no'
  }

  /** The next delivery to attempt, or null. The caller must call `end` after the attempt. */
  next(now: number, monotonic: number): DueAttempt | null {
    if (this.#isHeld(monotonic)) return null
    const chosen = this.#choose(now)
    if (chosen === null) return null
    const wasAlone = this.inFlight === 0
    const { updatedAt: version } = this.#webhook
    const attempt: DueAttempt = { ...chosen, version, wasAlone, begunAt: monotonic }
    this.#inFlight.add(attempt)
    return attempt
  }

  /** Called when the exchange is over; the delivery stays busy until it is settled. */
  end(attempt: DueAttempt): void {
    this.#inFlight.delete(attempt)
    this.pending.end(attempt.delivery)
  }

  /** The changes that an attempt made, or null. Call it before `end`. */
  applyResult(result: AttemptResult, clock: Age & Pick<Clock, 'monotonic'>): ReceiverChange | null {
    const { attempt } = result
    this.#unreachableUntil = null
    if (attempt.version !== this.#webhook.updatedAt) return null
    const endedAt = clock.monotonic()
    if (isSuccess(result)) this.#answeredAt = endedAt
    this.#slots = afterAttempt(this.#slots, {
      startedAt: attempt.begunAt,
      endedAt,
      isSuccess: isSuccess(result),
      wasAlone: attempt.wasAlone && this.inFlight === 1,
      wasFull: this.inFlight >= this.#slots.count,
    })
    const now = timestamp(clock.now())
    return isSuccess(result)
      ? this.#applySuccess(attempt, now)
      : this.#applyFailure(result, now, clock)
  }

  /** Called if this machine can't reach the receiver: not counted as an attempt; the next try is in a minute. */
  markUnreachable({ delivery }: DueAttempt, monotonic: number): void {
    this.#unreachableUntil = monotonic + UNREACHABLE_MS
    this.pending.settle(delivery, null)
    this.pending.readAgain()
  }

  released(): void {
    this.#isReleasing = false
    this.pending.readAgain()
  }

  /** Milliseconds until there may be something to send, or null if only a signal can bring it. */
  waitMs(now: number, monotonic: number): number | null {
    if (!this.#webhook.isActive) return null
    const { restUntil, probeAt } = this.#breaker
    const heldMs = [(this.#unreachableUntil ?? 0) - monotonic, (restUntil ?? 0) - now]
    const dueMs = isOpen(this.#breaker) ? 0 : (this.pending.nextDueAt ?? 0) - now
    const nextMs = [dueMs, (probeAt ?? 0) - now].filter((ms) => ms > 0)
    return heldMs.find((ms) => ms > 0) ?? (nextMs.length === 0 ? null : Math.min(...nextMs))
  }

  #applySuccess({ isProbe, delivery }: DueAttempt, now: Timestamp): ReceiverChange | null {
    const before = this.#breaker
    this.#breaker = afterSuccess(before, isProbe)
    this.#refusals.succeeded(delivery.seq)
    const isReleased = isOpen(before)
    this.#isReleasing ||= isReleased
    if (!isReleased && wasAway(before, now)) this.pending.retryAll()
    if (this.#breaker === before) return null
    return { breaker: this.#breaker, disable: null, isOpened: false, isReleased }
  }

  #applyFailure(result: AttemptResult, now: Timestamp, clock: Age): ReceiverChange {
    const { attempt, startedAt, answer } = result
    const before = this.#breaker
    const { breaker, disable } = afterFailure(before, {
      startedAt,
      at: now,
      statusCode: answer.result === 'answered' ? answer.statusCode : null,
      askedMs: retryAfterMsOf(result),
      isProbe: attempt.isProbe,
      isOfEvent: this.#refusals.has(attempt.delivery.seq),
      ageOf: (at) => clock.ageOf(at),
    })
    this.#breaker = breaker
    this.#refusals.failed(attempt.delivery.seq)
    if (isOpen(breaker)) this.#refusals.clear()
    if (disable !== null) this.#webhook = { ...this.#webhook, isActive: false }
    return { breaker, disable, isOpened: isOpen(breaker) && !isOpen(before), isReleased: false }
  }

  #choose(now: number): Pick<DueAttempt, 'delivery' | 'trigger' | 'isProbe'> | null {
    const breaker = this.#breaker
    const requested = this.pending.takeRequested()
    if (requested !== null) {
      return { delivery: requested, trigger: 'manual', isProbe: isOpen(breaker) }
    }
    if ((breaker.restUntil ?? 0) > now) return null
    const due = isOpen(breaker) ? null : this.pending.takeDue(now)
    if (due !== null) return { delivery: due, trigger: 'scheduled', isProbe: false }
    const probe = this.inFlight === 0 ? this.#takeProbe(now) : null
    if (probe === null) return null
    const trigger = probe.nextAttemptAt <= now ? 'scheduled' : 'probe'
    return { delivery: probe, trigger, isProbe: true }
  }

  #takeProbe(now: number): DueDelivery | null {
    if (isProbeDue(this.#breaker, now)) return this.pending.takeProbe()
    return this.#breaker.failuresInRow === 0 ? this.pending.takeRetry() : null
  }

  /** True if nothing may be sent now, not even a requested delivery. */
  #isHeld(monotonic: number): boolean {
    if (!this.#webhook.isActive || this.#secrets.length === 0 || this.#isReleasing) return true
    if (this.#unreachableUntil !== null && monotonic < this.#unreachableUntil) return true
    const isOneByOne = isOpen(this.#breaker) || this.isUnreachable
    return isOneByOne && this.inFlight > 0
  }
}

const READ_AHEAD = 64
const KNOWN_MAX = 512

/** The pending deliveries of one webhook: due ones, read ahead, and those in flight. */
class PendingDeliveries {
  readonly #db: Db
  readonly #webhookSeq: number
  /** Due and not started. May be stale in one way only: a delivery became busy since. */
  #due: DueDelivery[] = []
  #requested: DueDelivery[] = []
  /** Seqs of deliveries in flight, and of answered ones that aren't recorded yet. */
  readonly busy = new Set<number>()
  readonly #conversations = new Set<ConversationId>()
  #mayHave = { due: true, requested: true }
  nextDueAt: number | null = null
  #lastProbedSeq = 0
  /** Position of `takeRetry`; null after it has visited every delivery. */
  #retriedSeq: number | null = null

  constructor(db: Db, webhookSeq: number) {
    this.#db = db
    this.#webhookSeq = webhookSeq
  }

  /** True if there may be something to send, apart from a probe. */
  mayHaveWork(now: number): boolean {
    const isKnown = this.#due.length > 0 || this.#requested.length > 0
    return isKnown || this.#mayHave.requested || this.#mayHaveDueAt(now)
  }

  markMayHave(what: 'due' | 'requested'): void {
    this.#mayHave[what] = true
  }

  readAgain(): void {
    this.#due = []
    this.#requested = []
    this.#mayHave = { due: true, requested: true }
  }

  /** A delivery that a caller asked to send at once, if one may go now. */
  takeRequested(): DueDelivery | null {
    if (this.#mayHave.requested) {
      const rows = requestedDeliveries(this.#db, this.#webhookSeq, READ_AHEAD)
      this.#requested = rows.filter(({ seq }) => !this.busy.has(seq))
      this.#mayHave.requested = rows.length === READ_AHEAD
    }
    const delivery = this.#requested.find((requested) => this.#isFree(requested))
    if (delivery === undefined) return null
    this.#requested = this.#requested.filter((other) => other !== delivery)
    return this.#begin(delivery)
  }

  takeDue(now: number): DueDelivery | null {
    this.#mayHave.due = this.#mayHaveDueAt(now)
    return this.#takeRead() ?? (this.#readDue(now) ? this.#takeRead() : null)
  }

  /**
   * A delivery that was never tried, otherwise the next one in rotation, so that the probe isn't always the one
   * delivery whose content the receiver rejects.
   */
  takeProbe(): DueDelivery | null {
    const next = (after: number) => nextPendingDelivery(this.#db, this.#webhookSeq, after)
    const delivery =
      untriedDelivery(this.#db, this.#webhookSeq) ?? next(this.#lastProbedSeq) ?? next(0)
    if (delivery === null || !this.#isFree(delivery)) return null
    this.#lastProbedSeq = delivery.seq
    return this.#begin(delivery)
  }

  /** Lets `takeRetry` visit every pending delivery once. */
  retryAll(): void {
    this.#retriedSeq = 0
  }

  takeRetry(): DueDelivery | null {
    while (this.#retriedSeq !== null) {
      const delivery = nextPendingDelivery(this.#db, this.#webhookSeq, this.#retriedSeq)
      this.#retriedSeq = delivery?.seq ?? null
      if (delivery !== null && this.#isFree(delivery)) return this.#begin(delivery)
    }
    return null
  }

  /** Called when the exchange is over; the delivery stays busy until `settle`. */
  end({ conversationId }: DueDelivery): void {
    if (conversationId !== null) this.#conversations.delete(conversationId)
  }

  /** Called when the attempt is on disk. `nextAttemptAt` is when the delivery is due again, or null. */
  settle({ seq }: DueDelivery, nextAttemptAt: number | null): void {
    this.busy.delete(seq)
    if (nextAttemptAt === null) return
    this.nextDueAt = Math.min(this.nextDueAt ?? nextAttemptAt, nextAttemptAt)
  }

  #begin(delivery: DueDelivery): DueDelivery {
    const { seq, conversationId } = delivery
    const at = this.#due.findIndex((due) => due.seq === seq)
    if (at !== -1) this.#due.splice(at, 1)
    this.busy.add(seq)
    if (conversationId !== null) this.#conversations.add(conversationId)
    return delivery
  }

  #mayHaveDueAt(now: number): boolean {
    return this.#mayHave.due || (this.nextDueAt !== null && this.nextDueAt <= now)
  }

  #takeRead(): DueDelivery | null {
    const delivery = this.#due.find((due) => this.#isFree(due))
    return delivery === undefined ? null : this.#begin(delivery)
  }

  /** Reads further due deliveries; returns false without a query if there can be none or enough are known. */
  #readDue(now: number): boolean {
    const known = this.#due.length + this.busy.size
    if (!this.#mayHave.due || known >= KNOWN_MAX) return false
    const limit = READ_AHEAD + known
    const rows = dueDeliveries(this.#db, this.#webhookSeq, now, limit)
    const read = new Set(this.#due.map(({ seq }) => seq))
    this.#due.push(...rows.filter(({ seq }) => !this.busy.has(seq) && !read.has(seq)))
    this.#mayHave.due = rows.length === limit
    if (!this.#mayHave.due) this.nextDueAt = nextDueDelivery(this.#db, this.#webhookSeq, now)
    return true
  }

  #isFree({ seq, conversationId }: DueDelivery): boolean {
    if (this.busy.has(seq)) return false
    return conversationId === null || !this.#conversations.has(conversationId)
  }
}
