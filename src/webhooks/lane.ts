import { afterFailure, afterSuccess, isOpen, movedBack, type Breaker } from '../domain/breaker.ts'
import { timestamp, type ConversationId, type Timestamp, type WebhookId } from '../domain/ids.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { Db } from '../storage/database.ts'
import {
  dueDeliveries,
  nextDueDelivery,
  probeDelivery,
  requestedDeliveries,
  type DueDelivery,
} from '../storage/delivery-queue.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import type { Age } from '../system/confirmed-clock.ts'
import { isSuccess, type Tried, type Turn } from './attempt.ts'
import type { SigningSecret } from './secrets.ts'

/** What an attempt changed about its webhook; null where nothing must be written. */
export type LaneChange = {
  readonly breaker: Breaker
  readonly disable: DisabledReason | null
  /** Whether the receiver just went away. */
  readonly isOpened: boolean
  /** Whether the receiver is back, so that all that is pending becomes due. */
  readonly isReleased: boolean
}

const READ_AHEAD = 64
const KNOWN_MAX = 512
const CUT_OFF_MS = 60_000
const REST_MS_MAX = 24 * 3_600_000

/**
 * One webhook on its way: what is due to it, what is in flight, and what is thought of its receiver.
 * It decides whose turn is next and sends nothing itself.
 */
export class Lane {
  readonly #db: Db
  readonly #scheduleMs: readonly number[]
  #webhook: StoredWebhook
  #secrets: readonly SigningSecret[] = []
  #breaker: Breaker
  /** Due and not begun; may be out of date only in that a delivery became busy since. */
  #queue: DueDelivery[] = []
  #requested: DueDelivery[] = []
  /** In flight, or answered and not yet recorded. */
  readonly #busy = new Set<number>()
  readonly #conversations = new Set<ConversationId>()
  #inFlight = 0
  #mayHaveDue = true
  #mayHaveRequested = true
  #nextDueAt: number | null = null
  #isReleasing = false
  /** By the clock that never steps; null while the box has a way to it. */
  #cutOffUntil: number | null = null

  constructor(db: Db, webhook: StoredWebhook, scheduleMs: readonly number[]) {
    this.#db = db
    this.#scheduleMs = scheduleMs
    this.#webhook = webhook
    this.#breaker = webhook.breaker
  }

  get webhook(): StoredWebhook {
    return { ...this.#webhook, breaker: this.#breaker }
  }

  get id(): WebhookId {
    return this.#webhook.id
  }

  get url(): string {
    return this.#webhook.url
  }

  get secrets(): readonly SigningSecret[] {
    return this.#secrets
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether its last word was not a success: then it must not take the last places of all. */
  get isSuspect(): boolean {
    return this.#breaker.failuresInRow > 0 || this.isCutOff
  }

  /** Whether the box itself has no way to it. */
  get isCutOff(): boolean {
    return this.#cutOffUntil !== null
  }

  /** Takes the webhook as it is stored now; the breaker only where the webhook was changed. */
  load(webhook: StoredWebhook, secrets: readonly SigningSecret[], now: number): void {
    if (webhook.updatedAt !== this.#webhook.updatedAt) this.#breaker = webhook.breaker
    const { restUntil } = this.#breaker
    if (restUntil !== null && restUntil > now + REST_MS_MAX) {
      this.#breaker = { ...this.#breaker, restUntil: timestamp(now + REST_MS_MAX) }
    }
    this.#webhook = webhook
    this.#secrets = secrets
    this.#cutOffUntil = null
    this.#readAgain()
  }

  /** Nothing more begins: its webhook was deleted. */
  close(): void {
    this.#webhook = { ...this.#webhook, isActive: false }
  }

  lookForDue(): void {
    this.#mayHaveDue = true
  }

  lookForRequested(): void {
    this.#mayHaveRequested = true
  }

  /** The wall clock stepped back by `ms`, and so did what is on disk. */
  moveBack(ms: number): void {
    this.#breaker = movedBack(this.#breaker, ms)
    this.#readAgain()
  }

  /** The next delivery to begin, or null; whoever takes it must call `end`. */
  next(now: number, monotonic: number): Turn | null {
    const turn = this.#choose(now, monotonic)
    if (turn === null) return null
    const { seq, conversationId } = turn.delivery
    this.#busy.add(seq)
    if (conversationId !== null) this.#conversations.add(conversationId)
    this.#inFlight += 1
    return turn
  }

  /** The exchange is over; the delivery stays busy until `settled`. */
  end({ delivery }: Turn): void {
    this.#inFlight -= 1
    if (delivery.conversationId !== null) this.#conversations.delete(delivery.conversationId)
  }

  /** What an attempt says of the receiver. */
  learn({ turn, result }: Tried, clock: Age): LaneChange | null {
    this.#cutOffUntil = null
    if (turn.version !== this.#webhook.updatedAt) return null
    const before = this.#breaker
    if (isSuccess(result)) {
      this.#breaker = afterSuccess(before)
      this.#isReleasing ||= isOpen(before)
      if (this.#breaker === before) return null
      return { breaker: this.#breaker, disable: null, isOpened: false, isReleased: isOpen(before) }
    }
    const isAnswered = result.result === 'answered'
    const seconds = isAnswered ? result.retryAfterSeconds : null
    const failure = {
      at: timestamp(clock.now()),
      statusCode: isAnswered ? result.statusCode : null,
      retryAfterMs: seconds === null ? null : seconds * 1_000,
      isProbe: turn.isProbe,
      ageOf: (at: Timestamp) => clock.ageOf(at),
    }
    const { breaker, disable } = afterFailure(before, failure, this.#scheduleMs)
    this.#breaker = breaker
    if (disable !== null) this.#webhook = { ...this.#webhook, isActive: false }
    return { breaker, disable, isOpened: isOpen(breaker) && !isOpen(before), isReleased: false }
  }

  /** The box cannot reach it: no attempt was made, and the next look is in a minute. */
  cutOff(turn: Turn, monotonic: number): void {
    this.#cutOffUntil = monotonic + CUT_OFF_MS
    this.settled(turn, null)
    this.#readAgain()
  }

  /** The attempt is on disk; `nextAttemptAt` is when the delivery is due again, or null. */
  settled({ delivery }: Turn, nextAttemptAt: number | null): void {
    this.#busy.delete(delivery.seq)
    if (nextAttemptAt === null) return
    this.#nextDueAt = Math.min(this.#nextDueAt ?? nextAttemptAt, nextAttemptAt)
  }

  /** All that is pending was made due. */
  released(): void {
    this.#isReleasing = false
    this.#readAgain()
  }

  /** Milliseconds until there may be something to begin, or null where only news can tell. */
  waitMs(now: number, monotonic: number): number | null {
    if (!this.#webhook.isActive) return null
    const restMs = (this.#breaker.restUntil ?? 0) - now
    const dueMs = isOpen(this.#breaker) ? 0 : (this.#nextDueAt ?? 0) - now
    const cutOffMs = (this.#cutOffUntil ?? 0) - monotonic
    const waitMs = [cutOffMs, restMs, dueMs].find((ms) => ms > 0)
    return waitMs ?? null
  }

  #choose(now: number, monotonic: number): Turn | null {
    if (this.#isHeld(monotonic)) return null
    const isProbe = isOpen(this.#breaker)
    const version = this.#webhook.updatedAt
    const requested = this.#takeRequested()
    if (requested !== null) return { delivery: requested, trigger: 'manual', isProbe, version }
    if ((this.#breaker.restUntil ?? 0) > now) return null

    const delivery = isProbe ? this.#takeProbe() : this.#takeDue(now)
    if (delivery === null) return null
    const trigger = delivery.nextAttemptAt <= now ? 'scheduled' : 'probe'
    return { delivery, trigger, isProbe, version }
  }

  /** Whether nothing may begin now, not even what somebody asked for. */
  #isHeld(monotonic: number): boolean {
    if (!this.#webhook.isActive || this.#secrets.length === 0 || this.#isReleasing) return true
    if (this.#cutOffUntil !== null && monotonic < this.#cutOffUntil) return true
    const isOneByOne = isOpen(this.#breaker) || this.isCutOff
    return isOneByOne && this.#inFlight > 0
  }

  #takeRequested(): DueDelivery | null {
    if (this.#mayHaveRequested) {
      const rows = requestedDeliveries(this.#db, this.#webhook.id, READ_AHEAD)
      this.#requested = rows.filter(({ seq }) => !this.#busy.has(seq))
      this.#mayHaveRequested = rows.length === READ_AHEAD
    }
    const delivery = this.#requested.find((requested) => this.#isFree(requested))
    if (delivery === undefined) return null
    this.#requested = without(this.#requested, delivery)
    this.#queue = without(this.#queue, delivery)
    return delivery
  }

  #takeProbe(): DueDelivery | null {
    const delivery = probeDelivery(this.#db, this.#webhook.id)
    if (delivery === null || this.#busy.has(delivery.seq)) return null
    this.#queue = without(this.#queue, delivery)
    return delivery
  }

  #takeDue(now: number): DueDelivery | null {
    if (this.#nextDueAt !== null && this.#nextDueAt <= now) this.#mayHaveDue = true
    return this.#takeQueued() ?? (this.#readDue(now) ? this.#takeQueued() : null)
  }

  #takeQueued(): DueDelivery | null {
    const index = this.#queue.findIndex((delivery) => this.#isFree(delivery))
    return index < 0 ? null : (this.#queue.splice(index, 1)[0] ?? null)
  }

  /** Reads on behind what is known already; says whether it looked. */
  #readDue(now: number): boolean {
    const known = this.#queue.length + this.#busy.size
    if (!this.#mayHaveDue || known >= KNOWN_MAX) return false
    const limit = READ_AHEAD + known
    const rows = dueDeliveries(this.#db, this.#webhook.id, now, limit)
    const queued = new Set(this.#queue.map(({ seq }) => seq))
    this.#queue.push(...rows.filter(({ seq }) => !this.#busy.has(seq) && !queued.has(seq)))
    this.#mayHaveDue = rows.length === limit
    if (!this.#mayHaveDue) this.#nextDueAt = nextDueDelivery(this.#db, this.#webhook.id, now)
    return true
  }

  #readAgain(): void {
    this.#queue = []
    this.#requested = []
    this.#mayHaveRequested = true
    this.#mayHaveDue = true
  }

  #isFree({ seq, conversationId }: DueDelivery): boolean {
    if (this.#busy.has(seq)) return false
    return conversationId === null || !this.#conversations.has(conversationId)
  }
}

function without(list: readonly DueDelivery[], { seq }: DueDelivery): DueDelivery[] {
  return list.filter((delivery) => delivery.seq !== seq)
}
