import { movedBack, type Breaker } from '../domain/breaker.ts'
import type { Finding } from '../domain/finding.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import { IN_FLIGHT_MAX } from '../domain/slots.ts'
import { WEBHOOKS_MAX, type DisabledReason } from '../domain/webhook.ts'
import type { Tx } from '../storage/database.ts'
import {
  clampDeliveries,
  isPending,
  moveDeliveriesBack,
  pendingDeliveries,
  recordAttempt,
  releaseDeliveries,
} from '../storage/delivery-queue.ts'
import { findWebhook, listWebhooks, saveBreaker, updateWebhook } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Seal } from '../system/seal.ts'
import type { Service } from '../system/service.ts'
import {
  attemptDelivery,
  countAttempt,
  observeAttempt,
  recordOf,
  type AttemptResult,
  type AttemptTools,
  type DueAttempt,
} from './attempt.ts'
import { findingsOf } from './findings.ts'
import type { Subscribers } from './publish.ts'
import { WebhookQueue, type ReceiverChange } from './queue.ts'
import type { DeliverySignals } from './signals.ts'
import { openSecrets } from './signature.ts'

export type DeliveryTools = AttemptTools & {
  readonly writer: Writer
  readonly ids: LogicalClock
  readonly seal: Seal
  readonly deliverySignals: DeliverySignals
  readonly subscribers: Subscribers
  readonly metrics: Metrics
  /** False while the disk is too full to write down what happened. */
  readonly canDeliver: () => boolean
}

const UNRECORDED_MAX = 256
const RECORD_AGAIN_MS = 1_000
const HELD_UP_MS = 10_000
const LAST_ATTEMPTS_MS = 10_000
const NOT_RUNNING = AbortSignal.abort()

/**
 * Sends what is due, from one queue for each webhook. Whatever matters is on disk: after a crash
 * an attempt that was not recorded is made again, under the same `webhook-id`.
 */
export class DeliveryLoop implements Service {
  readonly name = 'deliveries'
  readonly #tools: DeliveryTools
  readonly #running = new Set<Promise<void>>()
  /** Attempts that are not on disk yet. */
  readonly #recording = new Set<Promise<void>>()
  #queues: WebhookQueues
  #ending = new AbortController()
  /** Aborted while the loop does not run. */
  #signal = NOT_RUNNING
  /** Queues that may have something to begin, longest waiting first. */
  readonly #waiting = new Set<WebhookQueue>()
  /** Attempts in flight to receivers that are not proven. */
  #unproven = 0

  constructor(tools: DeliveryTools) {
    this.#tools = tools
    this.#queues = new WebhookQueues(tools)
    tools.metrics.onCollect(() => observeBacklog(tools))
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, deliverySignals } = this.#tools
    this.#queues = new WebhookQueues(this.#tools)
    this.#waiting.clear()
    this.#ending = new AbortController()
    this.#signal = signal
    try {
      await this.#queues.readAll()
      while (!signal.aborted) {
        await this.#queues.followClock()
        await this.#queues.takeSignals()
        for (const queue of this.#queues.all()) this.#waiting.add(queue)
        this.#begin()
        await deliverySignals.signal.wait(clock, this.#waitMs(), signal)
      }
    } finally {
      this.#signal = NOT_RUNNING
      await this.#close()
    }
  }

  findings(): readonly Finding[] {
    const all = listWebhooks(this.#tools.db, WEBHOOKS_MAX, null)
    return findingsOf(all, (id) => this.isUnreachable(id))
  }

  isUnreachable(id: WebhookId): boolean {
    return this.#queues.of(id)?.isUnreachable === true
  }

  /** Deliveries of a webhook whose requests are out, or not recorded yet, by their seq. */
  inFlight(id: WebhookId): ReadonlySet<number> {
    return this.#queues.of(id)?.pending.busy ?? new Set()
  }

  /** Attempts in flight get ten seconds; those that were made are written. */
  async #close(): Promise<void> {
    const all = Promise.allSettled(this.#running)
    const timer = new AbortController()
    await Promise.race([all, this.#tools.clock.sleep(LAST_ATTEMPTS_MS, timer.signal)])
    timer.abort()
    this.#ending.abort()
    await all
    await Promise.allSettled(this.#recording)
  }

  #waitMs(): number {
    const waitMs = this.#queues.waitMs()
    return this.#tools.canDeliver() ? waitMs : Math.min(Math.max(waitMs, 1_000), HELD_UP_MS)
  }

  /** Fills the slots, one for each queue in rotation, so that a long queue is no advantage. */
  #begin(): void {
    for (const queue of this.#waiting) {
      if (!this.#hasRoom()) return
      const taken = { all: this.#running.size, unproven: this.#unproven }
      const answer = queue.mayBegin(taken, this.#tools.clock.now())
      if (answer === 'wait') continue
      this.#waiting.delete(queue)
      // Back to the end, where this loop meets it again.
      if (answer === 'yes' && this.#beginOne(queue)) this.#waiting.add(queue)
    }
  }

  #hasRoom(): boolean {
    const isFull = this.#running.size >= IN_FLIGHT_MAX || this.#recording.size >= UNRECORDED_MAX
    // A webhook that was just paused, moved or deleted must be read before anything goes out.
    const isBlind = this.#tools.deliverySignals.hasChanged
    return !isFull && !isBlind && !this.#signal.aborted && this.#tools.canDeliver()
  }

  #beginOne(queue: WebhookQueue): boolean {
    const { clock } = this.#tools
    const unproven = queue.standing === 'proven' ? 0 : 1
    const attempt = queue.next(clock.now(), clock.monotonic())
    if (attempt === null) return false
    this.#unproven += unproven
    const running: Promise<void> = this.#deliver(queue, attempt).finally(() => {
      this.#running.delete(running)
      this.#unproven -= unproven
      this.#waiting.add(queue)
      this.#begin()
    })
    this.#running.add(running)
    return true
  }

  async #deliver(queue: WebhookQueue, attempt: DueAttempt): Promise<void> {
    const { clock, metrics, deliverySignals } = this.#tools
    const result = await attemptDelivery(this.#tools, queue.receiver, attempt, this.#ending.signal)
    if (typeof result !== 'string') {
      observeAttempt(metrics, result)
      const recording: Promise<void> = this.#record(queue, result).finally(() =>
        this.#recording.delete(recording),
      )
      this.#recording.add(recording)
    }
    queue.end(attempt)
    if (result !== 'unreachable') return
    countAttempt(metrics, 'unreachable')
    queue.markUnreachable(attempt, clock.monotonic())
    deliverySignals.signal.notify()
  }

  /** Writes an attempt until it is on disk: without it the same event would go out again. */
  async #record(queue: WebhookQueue, result: AttemptResult): Promise<void> {
    const { clock, writer, log, deliverySignals } = this.#tools
    const change = queue.learn(result, clock)
    if (change !== null) this.#log(queue, change)
    for (;;) {
      try {
        const nextAttemptAt = await writer.write((tx) => this.#write(tx, queue, { result, change }))
        queue.pending.settle(result.attempt.delivery, nextAttemptAt)
        if (change?.isReleased === true) queue.released()
        if (change !== null || nextAttemptAt !== null || this.#waiting.size > 0) {
          deliverySignals.signal.notify()
        }
        return
      } catch (error) {
        if (this.#signal.aborted) {
          log.error('a webhook attempt could not be recorded', { error })
          return
        }
        await clock.sleep(RECORD_AGAIN_MS, this.#signal)
      }
    }
  }

  #write(
    tx: Tx,
    queue: WebhookQueue,
    { result, change }: { readonly result: AttemptResult; readonly change: ReceiverChange | null },
  ): Timestamp | null {
    const now = this.#tools.clock.now()
    const { seq, nextAttemptAt } = result.attempt.delivery
    const record = recordOf(result, { now, isGivenUp: () => !isPending(tx, seq) })
    recordAttempt(tx, queue.webhook.seq, record)
    if (change !== null) {
      this.#queues.save(tx, { id: queue.id, version: result.attempt.version }, change)
    }
    if (change?.isReleased === true) releaseDeliveries(tx, queue.id, now)
    // An attempt ahead of its time leaves that time as it is, and it may have come meanwhile.
    return record.status === 'pending' ? (record.nextAttemptAt ?? nextAttemptAt) : null
  }

  /** Once when a receiver goes away, once when it is back. */
  #log(queue: WebhookQueue, { breaker, disable, isOpened, isReleased }: ReceiverChange): void {
    const { log } = this.#tools
    const webhook = queue.id
    if (isOpened) log.warn('a webhook fails', { webhook, since: breaker.failingSince })
    if (isReleased) log.info('a webhook answers again', { webhook })
    if (disable !== null) log.error('a webhook was deactivated', { webhook, reason: disable })
  }
}

/** One state of one webhook: its id and its `updatedAt`. */
type WebhookVersion = { readonly id: WebhookId; readonly version: Timestamp }

const LOOK_MS = 60_000
const LOOK_IDLE_MS = 3_600_000
const WAIT_MS_MAX = 29 * 3_600_000
const STEP_MS_MIN = 2_000

/** The queues of all webhooks, kept in step with the database by signals. */
class WebhookQueues {
  readonly #tools: DeliveryTools
  readonly #queues = new Map<WebhookId, WebhookQueue>()
  /** The same as a list, which each delivery goes through. */
  #all: readonly WebhookQueue[] = []
  #lookedAt = 0
  #drift: number

  constructor(tools: DeliveryTools) {
    this.#tools = tools
    this.#drift = driftOf(tools.clock)
  }

  /** Newest first: the owner who just made a webhook waits for its first delivery. */
  all(): readonly WebhookQueue[] {
    return this.#all
  }

  of(id: WebhookId): WebhookQueue | undefined {
    return this.#queues.get(id)
  }

  /** A wall clock that steps back takes all times along, or they would be hours away. */
  async followClock(): Promise<void> {
    const { clock, writer, log } = this.#tools
    const drift = driftOf(clock)
    const backMs = this.#drift - drift
    if (backMs < STEP_MS_MIN) {
      this.#drift = Math.max(this.#drift, drift)
      return
    }
    await writer.write((tx) => {
      for (const [id, { webhook }] of this.#queues) {
        const version = webhook.updatedAt
        moveDeliveriesBack(tx, id, clock.now(), backMs)
        saveBreaker(tx, { id, version }, movedBack(webhook.breaker, backMs), null)
      }
    })
    this.#drift = drift
    for (const queue of this.#queues.values()) queue.moveBack(backMs)
    log.warn('the clock stepped back and deliveries followed it', { ms: Math.round(backMs) })
  }

  async readAll(): Promise<void> {
    const { db, deliverySignals } = this.#tools
    deliverySignals.take('changed')
    await this.#read(listWebhooks(db, WEBHOOKS_MAX, null).map(({ id }) => id))
  }

  async takeSignals(): Promise<void> {
    const { clock, deliverySignals } = this.#tools
    const changed = deliverySignals.take('changed')
    if (changed.size > 0) await this.#read([...changed])
    for (const id of deliverySignals.take('due')) this.#queues.get(id)?.pending.lookForDue()
    for (const id of deliverySignals.take('requested')) {
      this.#queues.get(id)?.pending.lookForRequested()
    }
    // A second look at everything, in case something was overlooked.
    if (clock.monotonic() - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = clock.monotonic()
    for (const queue of this.#queues.values()) queue.pending.lookForDue()
  }

  /**
   * Milliseconds until a queue may have something to begin. At most a minute where something waits,
   * because a clock that steps forward is seen only when one looks.
   */
  waitMs(): number {
    const now = this.#tools.clock.now()
    const monotonic = this.#tools.clock.monotonic()
    let least = LOOK_IDLE_MS
    for (const queue of this.#queues.values()) {
      const waitMs = queue.waitMs(now, monotonic)
      if (waitMs !== null) least = Math.min(least, waitMs, LOOK_MS)
    }
    return least
  }

  /** Saves a breaker; with `disable` the webhook gets nothing until it is active again. */
  save(
    tx: Tx,
    webhook: WebhookVersion,
    { breaker, disable }: { readonly breaker: Breaker; readonly disable: DisabledReason | null },
  ): void {
    const { ids } = this.#tools
    saveBreaker(tx, webhook, breaker, disable && { reason: disable, at: ids.now() })
    if (disable !== null) this.#noteChange(webhook.id)
  }

  async #read(ids: readonly WebhookId[]): Promise<void> {
    const { clock, writer } = this.#tools
    const added = ids.filter((id) => !this.#queues.has(id))
    const latest = clock.now() + WAIT_MS_MAX
    if (added.length > 0) {
      await writer.write((tx) => {
        for (const id of added) clampDeliveries(tx, id, latest)
      })
    }
    for (const id of ids) await this.#load(id)
    this.#all = [...this.#queues.values()].sort((a, b) => b.webhook.seq - a.webhook.seq)
  }

  /** Takes a webhook as it is at this moment; it may have been deleted since it was signalled. */
  async #load(id: WebhookId): Promise<void> {
    const { db, clock, seal, writer, log } = this.#tools
    const webhook = findWebhook(db, id)
    const known = this.#queues.get(id)
    if (webhook === null) {
      known?.close()
      this.#queues.delete(id)
      return
    }
    const queue = known ?? new WebhookQueue(db, webhook)
    const secrets = openSecrets(db, seal, id)
    queue.load(webhook, secrets ?? [], clock.now())
    this.#queues.set(id, queue)
    if (secrets !== null && webhook.disabledReason === 'secret_unreadable') await this.#switchOn(id)
    if (secrets !== null || !webhook.isActive) return
    log.error('the secret of a webhook cannot be opened', { webhook: id })
    const { breaker, updatedAt: version } = webhook
    const disable = 'secret_unreadable'
    await writer.write((tx) => this.save(tx, { id, version }, { breaker, disable }))
  }

  /** The key that opens its secret is back: what was held goes out. */
  async #switchOn(id: WebhookId): Promise<void> {
    const { writer, ids, log } = this.#tools
    await writer.write((tx) => {
      updateWebhook(tx, id, { isActive: true, disabledReason: null, updatedAt: ids.now() })
      this.#noteChange(id)
    })
    log.info('the secret of a webhook opens again', { webhook: id })
  }

  #noteChange(id: WebhookId): void {
    const { writer, subscribers, deliverySignals } = this.#tools
    subscribers.invalidate()
    deliverySignals.changed(id)
    writer.afterCommit(() => deliverySignals.signal.notify())
  }
}

/** Milliseconds that the wall clock is ahead of the monotonic one. */
function driftOf(clock: Clock): number {
  return clock.now() - clock.monotonic()
}

function observeBacklog({ db, clock, metrics }: DeliveryTools): void {
  const backlogs = listWebhooks(db, WEBHOOKS_MAX, null).map(({ id }) => pendingDeliveries(db, id))
  const pending = backlogs.reduce((sum, { count }) => sum + count, 0)
  const oldest = Math.min(...backlogs.map(({ oldest }) => oldest ?? clock.now()), clock.now())
  metrics.set('hookline_webhook_deliveries_pending', 'Deliveries that wait to arrive.', pending)
  metrics.set(
    'hookline_webhook_oldest_pending_seconds',
    'How long the oldest pending delivery has waited.',
    (clock.now() - oldest) / 1_000,
  )
}
