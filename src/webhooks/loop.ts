import { movedBack } from '../domain/breaker.ts'
import type { Finding } from '../domain/finding.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import { fullSince, IN_FLIGHT_MAX } from '../domain/slots.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import {
  clampDeliveries,
  isPending,
  moveDeliveriesBack,
  recordAttempt,
  releaseDeliveries,
} from '../storage/delivery-queue.ts'
import { findWebhook, listWebhooks, saveBreaker, updateWebhook } from '../storage/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import type { Seal } from '../system/seal.ts'
import type { Service } from '../system/service.ts'
import { recordOf, type AttemptDelivery, type AttemptResult, type DueAttempt } from './attempt.ts'
import { findingsOf } from './findings.ts'
import type { DeliverySignals, Subscribers } from './publish.ts'
import { WebhookQueue, type ReceiverChange } from './queue.ts'
import { saveReceiver, type ReceiverState, type SavedReceiver } from './receiver.ts'
import { openSecrets } from './signature.ts'

const UNRECORDED_MAX = 256
const RECORD_AGAIN_MS = 1_000
const HELD_UP_MS = 10_000
const LAST_ATTEMPTS_MS = 10_000
const NOT_RUNNING = AbortSignal.abort()

/**
 * Sends due deliveries, from one queue per webhook. All state that matters is on disk: after a crash, an attempt that
 * wasn't recorded is made again with the same `webhook-id`.
 */
export class DeliveryLoop implements Service {
  readonly name = 'deliveries'
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof DeliveryLoop>[1]
  readonly #running = new Set<Promise<void>>()
  /** Results that are being written. */
  readonly #recording = new Set<Promise<void>>()
  #ending = new AbortController()
  #signal = NOT_RUNNING
  /** Queues that may have something to send, the longest waiting first. */
  readonly #waiting = new Set<WebhookQueue>()
  /** Attempts in flight in the slots reserved for receivers that just answered. */
  #kept = 0
  /** The time since which common slots are scarce (monotonic), or null. */
  #full: number | null = null
  /** The end of the loop's wait (monotonic); -Infinity while the loop begins attempts. */
  #waitsUntil = Number.NEGATIVE_INFINITY

  constructor(
    core: Core,
    deps: {
      readonly queues: WebhookQueues
      readonly attempt: AttemptDelivery
      readonly signals: DeliverySignals
      /** `isLow`: outcomes can't be recorded, so nothing is sent. */
      readonly disk: { readonly isLow: boolean }
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#waiting.clear()
    this.#ending = new AbortController()
    this.#signal = signal
    try {
      await this.#deps.queues.readAll()
      while (!signal.aborted) {
        await this.#deps.queues.followClock()
        await this.#deps.queues.takeSignals()
        const waitMs = this.#beginAll()
        await this.#deps.signals.signal.wait(this.#core.clock, waitMs, signal)
      }
    } finally {
      this.#signal = NOT_RUNNING
      await this.#close()
    }
  }

  /** Gives attempts in flight ten seconds to finish, and records the finished ones. */
  async #close(): Promise<void> {
    const all = Promise.allSettled(this.#running)
    const timer = new AbortController()
    await Promise.race([all, this.#core.clock.sleep(LAST_ATTEMPTS_MS, timer.signal)])
    timer.abort()
    this.#ending.abort()
    await all
    await Promise.allSettled(this.#recording)
  }

  /** Begins what is due; returns the milliseconds until there may be more. */
  #beginAll(): number {
    // Read before the queues are visited, so that deliveries that become due meanwhile shorten the wait.
    const startedAt = { now: this.#core.clock.now(), monotonic: this.#core.clock.monotonic() }
    this.#waitsUntil = Number.NEGATIVE_INFINITY
    for (const queue of this.#deps.queues.all()) this.#waiting.add(queue)
    this.#begin()
    const wanted = this.#deps.queues.waitMs(startedAt)
    const ms = this.#deps.disk.isLow ? Math.min(Math.max(wanted, 1_000), HELD_UP_MS) : wanted
    this.#waitsUntil = startedAt.monotonic + ms
    return ms
  }

  /** Fills the slots round robin, so that a long queue has no advantage. */
  #begin(): void {
    const { clock } = this.#core
    const [now, monotonic] = [clock.now(), clock.monotonic()]
    let unproven: number | null = null
    for (const queue of this.#waiting) {
      if (!this.#hasRoom()) return
      const common = this.#running.size - this.#kept
      const full = (this.#full = fullSince(this.#full, common, monotonic))
      const isProven = queue.standing(monotonic) === 'proven'
      if (!isProven) unproven ??= this.#unproven(monotonic)
      const taken = { common, kept: this.#kept, unproven: unproven ?? 0 }
      const answer = queue.mayBegin(taken, { now, monotonic, full })
      if (answer === 'wait') continue
      this.#waiting.delete(queue)
      if (answer === 'no' || !this.#beginOne(queue, answer, now)) {
        this.#wakeFor(queue, now, monotonic)
        continue
      }
      if (!isProven) unproven = (unproven ?? 0) + 1
      // Added at the end, so that this loop visits the queue again.
      this.#waiting.add(queue)
    }
  }

  /** Wakes the loop if the queue has work before the loop's wait ends. */
  #wakeFor(queue: WebhookQueue, now: number, monotonic: number): void {
    const at = monotonic + (queue.waitMs(now, monotonic) ?? Infinity)
    if (at < this.#waitsUntil) this.#deps.signals.signal.notify()
  }

  /** The number of attempts in flight to receivers that are untried, late or failing. */
  #unproven(monotonic: number): number {
    let count = 0
    for (const queue of this.#deps.queues.all())
      if (queue.inFlight > 0 && queue.standing(monotonic) !== 'proven') count += queue.inFlight
    return count
  }

  #hasRoom(): boolean {
    const isFull = this.#running.size >= IN_FLIGHT_MAX || this.#recording.size >= UNRECORDED_MAX
    // A webhook that was just paused, changed or deleted must be reloaded before anything is sent.
    const isStale = this.#deps.signals.hasChanged
    return !isFull && !isStale && !this.#signal.aborted && !this.#deps.disk.isLow
  }

  #beginOne(queue: WebhookQueue, slot: 'common' | 'kept', now: number): boolean {
    const attempt = queue.next(now, this.#core.clock.monotonic())
    if (attempt === null) return false
    const kept = slot === 'kept' ? 1 : 0
    this.#kept += kept
    const running: Promise<void> = this.#deliver(queue, attempt).finally(() => {
      this.#running.delete(running)
      this.#kept -= kept
      this.#waiting.add(queue)
      this.#begin()
    })
    this.#running.add(running)
    return true
  }

  async #deliver(queue: WebhookQueue, attempt: DueAttempt): Promise<void> {
    const result = await this.#deps.attempt(queue.receiver, attempt, this.#ending.signal)
    if (typeof result !== 'string') {
      const recording: Promise<void> = this.#record(queue, result).finally(() =>
        this.#recording.delete(recording),
      )
      this.#recording.add(recording)
    }
    queue.end(attempt)
    if (result !== 'unreachable') return
    queue.markUnreachable(attempt, this.#core.clock.monotonic())
    this.#deps.signals.signal.notify()
  }

  /** Records an attempt, retrying until it is on disk: otherwise the same event would be sent again. */
  async #record(queue: WebhookQueue, result: AttemptResult): Promise<void> {
    const { clock, writer, log } = this.#core
    const change = queue.applyResult(result, clock)
    if (change !== null) this.#log(queue, change)
    for (;;) {
      try {
        const nextAttemptAt = await writer.write((tx) => this.#write(tx, queue, { result, change }))
        queue.pending.settle(result.attempt.delivery, nextAttemptAt)
        if (change?.isReleased === true) queue.released()
        if (change !== null || nextAttemptAt !== null || this.#waiting.size > 0) {
          this.#deps.signals.signal.notify()
        }
        return
      } catch (error) {
        if (this.#signal.aborted)
          return log.error('a webhook attempt could not be recorded', { error })
        await clock.sleep(RECORD_AGAIN_MS, this.#signal)
      }
    }
  }

  #write(
    tx: Tx,
    queue: WebhookQueue,
    { result, change }: { readonly result: AttemptResult; readonly change: ReceiverChange | null },
  ): Timestamp | null {
    const now = this.#core.clock.now()
    const { seq, nextAttemptAt } = result.attempt.delivery
    const record = recordOf(result, { now, isGivenUp: () => !isPending(tx, seq) })
    recordAttempt(tx, queue.seq, record)
    if (change !== null) {
      this.#deps.queues.save(tx, { id: queue.id, version: result.attempt.version }, change)
    }
    if (change?.isReleased === true) releaseDeliveries(tx, queue.seq, now)
    // An early attempt doesn't move the scheduled time, which may have passed meanwhile.
    return record.status === 'pending' ? (record.nextAttemptAt ?? nextAttemptAt) : null
  }

  /** Logs once when a receiver goes away and once when it is back. */
  #log(queue: WebhookQueue, { breaker, disable, isOpened, isReleased }: ReceiverChange): void {
    const [{ log }, webhook] = [this.#core, queue.id]
    if (isOpened) log.warn('a webhook fails', { webhook, since: breaker.failingSince })
    if (isReleased) log.info('a webhook answers again', { webhook })
    if (disable !== null) log.error('a webhook was deactivated', { webhook, reason: disable })
  }
}

const RECHECK_MS = 60_000
const RECHECK_IDLE_MS = 3_600_000
const WAIT_MS_MAX = 29 * 3_600_000
const STEP_MS_MIN = 2_000

/** The queues of all webhooks, kept up to date with the database by signals. */
export class WebhookQueues {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof WebhookQueues>[1]
  readonly #queues = new Map<WebhookId, WebhookQueue>()
  /** The queues, newest webhook first; kept as a list because every delivery iterates over it. */
  #all: readonly WebhookQueue[] = []
  #checkedAt = 0
  #drift: number

  constructor(
    core: Core,
    deps: {
      readonly seal: Seal
      readonly signals: DeliverySignals
      readonly subscribers: Subscribers
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#drift = driftOf(core.clock)
  }

  /** Newest first: an owner who just created a webhook waits for its first delivery. */
  all(): readonly WebhookQueue[] {
    return this.#all
  }

  /** True if this machine has no route to the webhook's receiver. */
  isUnreachable(id: WebhookId): boolean {
    return this.#queues.get(id)?.isUnreachable === true
  }

  /** Seqs of the webhook's deliveries that are in flight or not recorded yet. */
  inFlight(id: WebhookId): ReadonlySet<number> {
    return this.#queues.get(id)?.pending.busy ?? new Set()
  }

  findings(): readonly Finding[] {
    const all = listWebhooks(this.#core.db, WEBHOOKS_MAX, null)
    return findingsOf(all, (id) => this.isUnreachable(id))
  }

  /** If the wall clock steps back, moves all due times back too; otherwise they'd be hours away. */
  async followClock(): Promise<void> {
    const { clock, writer, log } = this.#core
    const drift = driftOf(clock)
    const backMs = this.#drift - drift
    if (backMs < STEP_MS_MIN) {
      this.#drift = Math.max(this.#drift, drift)
      return
    }
    await writer.write((tx) => {
      for (const [id, { webhook }] of this.#queues) {
        const version = webhook.updatedAt
        moveDeliveriesBack(tx, webhook.seq, clock.now(), backMs)
        saveBreaker(tx, { id, version }, movedBack(webhook.breaker, backMs), null)
      }
    })
    this.#drift = drift
    for (const queue of this.#queues.values()) queue.moveBack(backMs)
    log.warn('the clock stepped back and deliveries followed it', { ms: Math.round(backMs) })
  }

  /** Discards all queues and reads every webhook. */
  async readAll(): Promise<void> {
    this.#queues.clear()
    this.#all = []
    this.#checkedAt = 0
    this.#drift = driftOf(this.#core.clock)
    this.#deps.signals.take('changed')
    await this.#read(listWebhooks(this.#core.db, WEBHOOKS_MAX, null).map(({ id }) => id))
  }

  async takeSignals(): Promise<void> {
    const { clock } = this.#core
    const changed = this.#deps.signals.take('changed')
    if (changed.size > 0) await this.#read([...changed])
    for (const what of ['due', 'requested'] as const) {
      for (const id of this.#deps.signals.take(what)) {
        this.#queues.get(id)?.pending.markMayHave(what)
      }
    }
    // Checks every queue once a minute, in case a signal was missed.
    if (clock.monotonic() - this.#checkedAt < RECHECK_MS) return
    this.#checkedAt = clock.monotonic()
    for (const queue of this.#queues.values()) queue.pending.markMayHave('due')
  }

  /** Milliseconds from the given time until there may be work; at most a minute if a queue waits: clocks may jump. */
  waitMs({ now, monotonic }: { readonly now: number; readonly monotonic: number }): number {
    let least = RECHECK_IDLE_MS
    for (const queue of this.#queues.values()) {
      const waitMs = queue.waitMs(now, monotonic)
      if (waitMs !== null) least = Math.min(least, waitMs, RECHECK_MS)
    }
    return least
  }

  /** Saves a breaker. With `disable`, the webhook gets nothing until it is active again. */
  save(tx: Tx, webhook: SavedReceiver, change: ReceiverState): void {
    saveReceiver(tx, webhook, change, this.#core.ids.now())
    if (change.disable !== null) this.#deps.subscribers.changed(webhook.id)
  }

  async #read(ids: readonly WebhookId[]): Promise<void> {
    const { clock, writer } = this.#core
    const added = ids.filter((id) => !this.#queues.has(id))
    const latest = clock.now() + WAIT_MS_MAX
    if (added.length > 0) {
      await writer.write((tx) => {
        for (const id of added) {
          const webhook = findWebhook(tx, id)
          if (webhook !== null) clampDeliveries(tx, webhook.seq, latest)
        }
      })
    }
    for (const id of ids) await this.#load(id)
    this.#all = [...this.#queues.values()].sort((a, b) => b.webhook.seq - a.webhook.seq)
  }

  /** Loads the webhook from the database; it may have been deleted since the signal. */
  async #load(id: WebhookId): Promise<void> {
    const { db, clock, writer, log } = this.#core
    const webhook = findWebhook(db, id)
    const known = this.#queues.get(id)
    if (webhook === null) {
      known?.close()
      this.#queues.delete(id)
      return
    }
    const queue = known ?? new WebhookQueue(db, webhook)
    const secrets = openSecrets(db, this.#deps.seal, id)
    queue.load(webhook, secrets ?? [], clock.now())
    this.#queues.set(id, queue)
    if (secrets !== null && webhook.disabledReason === 'secret_unreadable') await this.#switchOn(id)
    if (secrets !== null || !webhook.isActive) return
    log.error('the secret of a webhook cannot be opened', { webhook: id })
    const { breaker, updatedAt: version } = webhook
    const disable = 'secret_unreadable'
    await writer.write((tx) => this.save(tx, { id, version }, { breaker, disable }))
  }

  /** Called when the webhook's secret can be decrypted again: held deliveries are sent. */
  async #switchOn(id: WebhookId): Promise<void> {
    const { writer, ids, log } = this.#core
    await writer.write((tx) => {
      updateWebhook(tx, id, { isActive: true, disabledReason: null, updatedAt: ids.now() })
      this.#deps.subscribers.changed(id)
    })
    log.info('the secret of a webhook opens again', { webhook: id })
  }
}

/** Milliseconds by which the wall clock is ahead of the monotonic clock. */
function driftOf(clock: Clock): number {
  return clock.now() - clock.monotonic()
}
