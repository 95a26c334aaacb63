import type { Finding } from '../domain/finding.ts'
import type { WebhookId } from '../domain/ids.ts'
import { IN_FLIGHT_MAX } from '../domain/places.ts'
import { recordAttempt, releaseDeliveries } from '../storage/delivery-queue.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Metrics } from '../system/metrics.ts'
import { PassingSet } from '../system/passing.ts'
import type { Service } from '../system/service.ts'
import { recordOf, type Tried, type Turn } from './attempt.ts'
import { runErrand, type CourierParts } from './courier.ts'
import { findingsOf } from './findings.ts'
import type { Lane, LaneChange } from './lane.ts'
import { Lanes, type LanesParts } from './lanes.ts'
import { countAttempt, observeAttempt, observeBacklog } from './measures.ts'
import { Recorder, type Entry } from './recorder.ts'
import { WEBHOOKS_MAX } from './subscribers.ts'

export type DeliveryParts = CourierParts &
  LanesParts & {
    readonly metrics: Metrics
    /** False while the disk is too full to write down what happened. */
    readonly canDeliver: () => boolean
  }

const UNRECORDED_MAX = 256
const HELD_UP_MS = 10_000
const LAST_ATTEMPTS_MS = 10_000

/**
 * Sends what is due, each webhook in a lane of its own. Whatever matters is on disk: after a crash
 * an attempt that was not recorded is made again, under the same `webhook-id`.
 */
export class DeliveryLoop implements Service {
  readonly name = 'deliveries'
  readonly #parts: DeliveryParts
  readonly #recorder: Recorder
  readonly #running = new PassingSet<Promise<void>>()
  #lanes: Lanes
  #ending = new AbortController()
  #isStopping = true
  /** Lanes that may have something to begin, longest waiting first. */
  readonly #waiting = new Set<Lane>()
  /** How many attempts are in flight to receivers that are not proven. */
  #unproven = 0

  constructor(parts: DeliveryParts) {
    this.#parts = parts
    this.#recorder = new Recorder(parts)
    this.#lanes = new Lanes(parts)
    parts.metrics.onCollect(() => observeBacklog(parts))
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, notices } = this.#parts
    this.#recorder.open(signal)
    this.#lanes = new Lanes(this.#parts)
    this.#waiting.clear()
    this.#ending = new AbortController()
    this.#isStopping = false
    const stop = () => {
      this.#isStopping = true
    }
    signal.addEventListener('abort', stop)
    try {
      await this.#lanes.readAll()
      while (!signal.aborted) {
        await this.#lanes.followClock()
        await this.#lanes.hear()
        for (const lane of this.#lanes.all()) this.#waiting.add(lane)
        this.#begin()
        await notices.signal.wait(clock, this.#waitMs(), signal)
      }
    } finally {
      stop()
      signal.removeEventListener('abort', stop)
      await this.#close()
    }
  }

  /** What the health catalogue shows of webhooks. */
  findings(): readonly Finding[] {
    const cutOff = this.#lanes.all().filter((lane) => lane.isCutOff)
    return findingsOf(
      listWebhooks(this.#parts.db, WEBHOOKS_MAX, null),
      new Set(cutOff.map((lane) => lane.id)),
    )
  }

  /** The deliveries of a webhook whose requests are out, or not recorded yet, by their seq. */
  inFlight(id: WebhookId): ReadonlySet<number> {
    return this.#lanes.all().find((lane) => lane.id === id)?.busy ?? new Set()
  }

  /** What is in flight gets ten seconds; what was tried is written. */
  async #close(): Promise<void> {
    const all = Promise.allSettled(this.#running.values())
    const timer = new AbortController()
    await Promise.race([all, this.#parts.clock.sleep(LAST_ATTEMPTS_MS, timer.signal)])
    timer.abort()
    this.#ending.abort()
    await all
    await this.#recorder.close()
  }

  #waitMs(): number {
    const waitMs = this.#lanes.waitMs()
    return this.#parts.canDeliver() ? waitMs : Math.min(Math.max(waitMs, 1_000), HELD_UP_MS)
  }

  /** Fills the places, one for each lane in turn, so that a long queue is no advantage. */
  #begin(): void {
    for (const lane of this.#waiting) {
      if (!this.#hasRoom()) return
      const taken = { all: this.#running.size, unproven: this.#unproven }
      const answer = lane.mayBegin(taken, this.#parts.clock.now())
      if (answer === 'wait') continue
      this.#waiting.delete(lane)
      // Back to the end, where this loop meets it again.
      if (answer === 'yes' && this.#beginOne(lane)) this.#waiting.add(lane)
    }
  }

  #hasRoom(): boolean {
    const isFull = this.#running.size >= IN_FLIGHT_MAX || this.#recorder.size >= UNRECORDED_MAX
    // A webhook that was just paused, moved or deleted must be looked at before anything goes out.
    const isBlind = this.#parts.notices.areWebhooksChanged
    return !isFull && !isBlind && !this.#isStopping && this.#parts.canDeliver()
  }

  #beginOne(lane: Lane): boolean {
    const { clock } = this.#parts
    const unproven = lane.standing === 'proven' ? 0 : 1
    const turn = lane.next(clock.now(), clock.monotonic())
    if (turn === null) return false
    this.#unproven += unproven
    const running: Promise<void> = this.#deliver(lane, turn).finally(() => {
      leave()
      this.#unproven -= unproven
      this.#waiting.add(lane)
      this.#begin()
    })
    const leave = this.#running.add(running)
    return true
  }

  async #deliver(lane: Lane, turn: Turn): Promise<void> {
    const { clock, metrics, notices } = this.#parts
    const done = await runErrand(this.#parts, lane, turn, this.#ending.signal)
    switch (done.errand) {
      case 'tried':
        observeAttempt(metrics, done.tried)
        this.#recorder.add(this.#entryOf(lane, done.tried))
        lane.end(turn)
        return
      case 'unreachable':
        countAttempt(metrics, 'unreachable')
        lane.end(turn)
        lane.cutOff(turn, clock.monotonic())
        notices.signal.notify()
        return
      case 'aborted':
        // It stays busy until the end of this run, which is near.
        lane.end(turn)
        return
    }
  }

  #entryOf(lane: Lane, tried: Tried): Entry {
    const { clock, notices } = this.#parts
    const { turn } = tried
    const change = lane.learn(tried, clock)
    if (change !== null) this.#tell(lane, change)
    return {
      write: (tx) => {
        const now = clock.now()
        const record = recordOf(tried, now)
        recordAttempt(tx, record)
        if (change !== null) {
          this.#lanes.save(
            tx,
            { id: lane.id, version: turn.version },
            change.breaker,
            change.disable,
          )
        }
        if (change?.isReleased === true) releaseDeliveries(tx, lane.id, now)
        return () => {
          lane.settled(turn, record.nextAttemptAt)
          if (change?.isReleased === true) lane.released()
          if (change !== null || record.nextAttemptAt !== null || this.#waiting.size > 0) {
            notices.signal.notify()
          }
        }
      },
    }
  }

  /** Once when a receiver goes away, once when it is back. */
  #tell(lane: Lane, { breaker, disable, isOpened, isReleased }: LaneChange): void {
    const { log } = this.#parts
    const webhook = lane.id
    if (isOpened) log.warn('a webhook fails', { webhook, since: breaker.failingSince })
    if (isReleased) log.info('a webhook answers again', { webhook })
    if (disable !== null) log.error('a webhook was deactivated', { webhook, reason: disable })
  }
}
