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
import { timestamp, type Timestamp, type WebhookId } from '../domain/ids.ts'
import {
  afterAttempt,
  FIRST_PLACES,
  mayBegin,
  type Places,
  type Standing,
  type Taken,
} from '../domain/places.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { Db } from '../storage/database.ts'
import type { DueDelivery } from '../storage/delivery-queue.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import type { Age } from '../system/confirmed-clock.ts'
import { askedMsOf, isSuccess, type Tried, type Turn } from './attempt.ts'
import { DueQueue } from './due-queue.ts'
import { Refusals } from './refusals.ts'
import type { SigningSecret } from './secrets.ts'

/** Time as a webhook's receiver is judged by. */
type LaneClock = Age & Pick<Clock, 'monotonic'>

/** What an attempt changed about its webhook; null where nothing must be written. */
export type LaneChange = {
  readonly breaker: Breaker
  readonly disable: DisabledReason | null
  /** Whether the receiver just went away. */
  readonly isOpened: boolean
  /** Whether the receiver is back, so that all that is pending becomes due. */
  readonly isReleased: boolean
}

const CUT_OFF_MS = 60_000

/**
 * One webhook on its way: what is due to it, what is in flight, and what is thought of its receiver.
 * It decides whose turn is next and sends nothing itself.
 */
export class Lane {
  readonly #queue: DueQueue
  readonly #refusals = new Refusals()
  #webhook: StoredWebhook
  #secrets: readonly SigningSecret[] = []
  #breaker: Breaker
  #places: Places = FIRST_PLACES
  #inFlight = 0
  #isReleasing = false
  /** By the clock that never steps; null while the box has a way to it. */
  #cutOffUntil: number | null = null

  constructor(db: Db, webhook: StoredWebhook) {
    this.#queue = new DueQueue(db, webhook.id)
    this.#webhook = webhook
    this.#breaker = webhook.breaker
  }

  get webhook(): StoredWebhook {
    return { ...this.#webhook, breaker: this.#breaker }
  }

  get id(): WebhookId {
    return this.#webhook.id
  }

  get seq(): number {
    return this.#webhook.seq
  }

  get url(): string {
    return this.#webhook.url
  }

  get secrets(): readonly SigningSecret[] {
    return this.#secrets
  }

  /** Deliveries in flight, and answered ones that are not recorded yet, by their seq. */
  get busy(): ReadonlySet<number> {
    return this.#queue.busy
  }

  get standing(): Standing {
    if (this.#breaker.failuresInRow > 0 || this.isCutOff) return 'failing'
    return this.#places.usualMs === null ? 'untried' : 'proven'
  }

  /** Whether the box itself has no way to it. */
  get isCutOff(): boolean {
    return this.#cutOffUntil !== null
  }

  /** Takes the webhook as it is stored now; the breaker only where the webhook was changed. */
  load(webhook: StoredWebhook, secrets: readonly SigningSecret[], now: number): void {
    const isChanged = webhook.updatedAt !== this.#webhook.updatedAt
    this.#breaker = clamped(isChanged ? webhook.breaker : this.#breaker, now)
    if (webhook.url !== this.#webhook.url) this.#places = FIRST_PLACES
    this.#webhook = webhook
    this.#secrets = secrets
    this.#cutOffUntil = null
    this.#queue.readAgain()
  }

  /** Nothing more begins: its webhook was deleted. */
  close(): void {
    this.#webhook = { ...this.#webhook, isActive: false }
  }

  lookForDue(): void {
    this.#queue.lookForDue()
  }

  lookForRequested(): void {
    this.#queue.lookForRequested()
  }

  /** The wall clock stepped back by `ms`, and so did what is on disk. */
  moveBack(ms: number): void {
    this.#breaker = movedBack(this.#breaker, ms)
    this.#queue.readAgain()
  }

  /** Whether it may begin something now; `wait` where others hold the places that it needs. */
  mayBegin(taken: Taken, now: number): 'yes' | 'wait' | 'no' {
    const answer = mayBegin(this.#inFlight, this.#places, this.standing, taken)
    if (answer !== 'wait') return answer
    return this.#queue.mayHaveWork(now) || isProbeDue(this.#breaker, now) ? 'wait' : 'no'
  }

  /** The next delivery to begin, or null; whoever takes it must call `end`. */
  next(now: number, monotonic: number): Turn | null {
    if (this.#isHeld(monotonic)) return null
    const turn = this.#choose(now)
    if (turn === null) return null
    const wasAlone = this.#inFlight === 0
    this.#inFlight += 1
    return { ...turn, version: this.#webhook.updatedAt, wasAlone, begunAt: monotonic }
  }

  /** The exchange is over; the delivery stays busy until `settled`. */
  end({ delivery }: Turn): void {
    this.#inFlight -= 1
    this.#queue.end(delivery)
  }

  /** What an attempt says of the receiver; to be called before its `end`. */
  learn({ turn, startedAt, result }: Tried, clock: LaneClock): LaneChange | null {
    this.#cutOffUntil = null
    if (turn.version !== this.#webhook.updatedAt) return null
    this.#places = afterAttempt(this.#places, {
      startedAt: turn.begunAt,
      endedAt: clock.monotonic(),
      isSuccess: isSuccess(result),
      wasAlone: turn.wasAlone && this.#inFlight === 1,
      wasFull: this.#inFlight >= this.#places.count,
    })
    const before = this.#breaker
    const now = timestamp(clock.now())
    if (isSuccess(result)) return this.#learnSuccess(turn, now)
    const { breaker, disable } = afterFailure(before, {
      startedAt,
      at: now,
      statusCode: result.result === 'answered' ? result.statusCode : null,
      askedMs: askedMsOf(result),
      isProbe: turn.isProbe,
      isOfEvent: this.#refusals.has(turn.delivery.seq),
      ageOf: (at) => clock.ageOf(at),
    })
    this.#breaker = breaker
    this.#refusals.failed(turn.delivery.seq)
    if (isOpen(breaker)) this.#refusals.clear()
    if (disable !== null) this.#webhook = { ...this.#webhook, isActive: false }
    return { breaker, disable, isOpened: isOpen(breaker) && !isOpen(before), isReleased: false }
  }

  /** The box cannot reach it: no attempt was made, and the next look is in a minute. */
  cutOff(turn: Turn, monotonic: number): void {
    this.#cutOffUntil = monotonic + CUT_OFF_MS
    this.settled(turn, null)
    this.#queue.readAgain()
  }

  /** The attempt is on disk; `nextAttemptAt` is when the delivery is due again, or null. */
  settled({ delivery }: Turn, nextAttemptAt: number | null): void {
    this.#queue.settled(delivery, nextAttemptAt)
  }

  /** All that is pending was made due. */
  released(): void {
    this.#isReleasing = false
    this.#queue.readAgain()
  }

  /** Milliseconds until there may be something to begin, or null where only news can tell. */
  waitMs(now: number, monotonic: number): number | null {
    if (!this.#webhook.isActive) return null
    const { restUntil, probeAt } = this.#breaker
    const heldMs = [(this.#cutOffUntil ?? 0) - monotonic, (restUntil ?? 0) - now]
    const dueMs = isOpen(this.#breaker) ? 0 : (this.#queue.nextDueAt ?? 0) - now
    const nextMs = [dueMs, (probeAt ?? 0) - now].filter((ms) => ms > 0)
    return heldMs.find((ms) => ms > 0) ?? (nextMs.length === 0 ? null : Math.min(...nextMs))
  }

  #learnSuccess({ isProbe, delivery }: Turn, now: Timestamp): LaneChange | null {
    const before = this.#breaker
    this.#breaker = afterSuccess(before, isProbe)
    this.#refusals.succeeded(delivery.seq)
    const isReleased = isOpen(before)
    this.#isReleasing ||= isReleased
    if (!isReleased && wasAway(before, now)) this.#queue.tryAllAgain()
    if (this.#breaker === before) return null
    return { breaker: this.#breaker, disable: null, isOpened: false, isReleased }
  }

  #choose(now: number): Pick<Turn, 'delivery' | 'trigger' | 'isProbe'> | null {
    const breaker = this.#breaker
    const requested = this.#queue.takeRequested()
    if (requested !== null) {
      return { delivery: requested, trigger: 'manual', isProbe: isOpen(breaker) }
    }
    if ((breaker.restUntil ?? 0) > now) return null
    const due = isOpen(breaker) ? null : this.#queue.takeDue(now)
    if (due !== null) return { delivery: due, trigger: 'scheduled', isProbe: false }
    const probe = this.#inFlight === 0 ? this.#takeProbe(now) : null
    if (probe === null) return null
    const trigger = probe.nextAttemptAt <= now ? 'scheduled' : 'probe'
    return { delivery: probe, trigger, isProbe: true }
  }

  #takeProbe(now: number): DueDelivery | null {
    if (isProbeDue(this.#breaker, now)) return this.#queue.takeProbe()
    return this.#breaker.failuresInRow === 0 ? this.#queue.takeAgain() : null
  }

  /** Whether nothing may begin now, not even what somebody asked for. */
  #isHeld(monotonic: number): boolean {
    if (!this.#webhook.isActive || this.#secrets.length === 0 || this.#isReleasing) return true
    if (this.#cutOffUntil !== null && monotonic < this.#cutOffUntil) return true
    const isOneByOne = isOpen(this.#breaker) || this.isCutOff
    return isOneByOne && this.#inFlight > 0
  }
}
