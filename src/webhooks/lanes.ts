import { movedBack, type Breaker } from '../domain/breaker.ts'
import type { Timestamp, WebhookId } from '../domain/ids.ts'
import type { DisabledReason } from '../domain/webhook.ts'
import type { Db, Tx } from '../storage/database.ts'
import { clampDeliveries, moveDeliveriesBack } from '../storage/delivery-queue.ts'
import { findWebhook, listWebhooks, saveBreaker, updateWebhook } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Seal } from '../system/seal.ts'
import type { Stamps } from '../system/stamps.ts'
import { Lane } from './lane.ts'
import type { Notices } from './notices.ts'
import { openSecrets } from './secrets.ts'
import { WEBHOOKS_MAX, type Subscribers } from './subscribers.ts'

export type LanesParts = {
  readonly db: Db
  readonly writer: Writer
  readonly stamps: Stamps
  readonly clock: Clock
  readonly log: Log
  readonly seal: Seal
  readonly notices: Notices
  readonly subscribers: Subscribers
}

/** Which state of which webhook: its id and its `updatedAt`. */
export type WebhookVersion = { readonly id: WebhookId; readonly version: Timestamp }

const LOOK_MS = 60_000
const LOOK_IDLE_MS = 3_600_000
const WAIT_MS_MAX = 29 * 3_600_000
const STEP_MS_MIN = 2_000

/** The lanes of all webhooks, as the database and the notices have it. */
export class Lanes {
  readonly #parts: LanesParts
  readonly #lanes = new Map<WebhookId, Lane>()
  /** The same, as a list: it is gone through for each delivery. */
  #all: readonly Lane[] = []
  #lookedAt = 0
  #drift: number

  constructor(parts: LanesParts) {
    this.#parts = parts
    this.#drift = driftOf(parts.clock)
  }

  /** Newest first: whoever just made a webhook waits for it to be tried. */
  all(): readonly Lane[] {
    return this.#all
  }

  /** A wall clock that steps back takes all times along, or they would be hours away. */
  async followClock(): Promise<void> {
    const { clock, writer, log } = this.#parts
    const drift = driftOf(clock)
    const backMs = this.#drift - drift
    if (backMs < STEP_MS_MIN) {
      this.#drift = Math.max(this.#drift, drift)
      return
    }
    await writer.write((tx) => {
      for (const [id, { webhook }] of this.#lanes) {
        const version = webhook.updatedAt
        moveDeliveriesBack(tx, id, clock.now(), backMs)
        saveBreaker(tx, { id, version }, movedBack(webhook.breaker, backMs), null)
      }
    })
    this.#drift = drift
    for (const lane of this.#lanes.values()) lane.moveBack(backMs)
    log.warn('the clock stepped back and deliveries followed it', { ms: Math.round(backMs) })
  }

  async readAll(): Promise<void> {
    const { db, notices } = this.#parts
    notices.takeChanged()
    await this.#read(listWebhooks(db, WEBHOOKS_MAX, null).map(({ id }) => id))
  }

  /** Takes in what was noticed since the last time. */
  async hear(): Promise<void> {
    const { clock, notices } = this.#parts
    const changed = notices.takeChanged()
    if (changed.size > 0) await this.#read([...changed])
    for (const id of notices.takeDue()) this.#lanes.get(id)?.lookForDue()
    for (const id of notices.takeRequested()) this.#lanes.get(id)?.lookForRequested()
    // A second look at everything, in case something was overlooked.
    if (clock.monotonic() - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = clock.monotonic()
    for (const lane of this.#lanes.values()) lane.lookForDue()
  }

  /**
   * Milliseconds until a lane may have something to begin. At most a minute where something waits,
   * because a clock that steps forward is seen only when one looks.
   */
  waitMs(): number {
    const now = this.#parts.clock.now()
    const monotonic = this.#parts.clock.monotonic()
    let least = LOOK_IDLE_MS
    for (const lane of this.#lanes.values()) {
      const waitMs = lane.waitMs(now, monotonic)
      if (waitMs !== null) least = Math.min(least, waitMs, LOOK_MS)
    }
    return least
  }

  /** Saves a breaker; where `disable` says why, the webhook gets nothing until it is active again. */
  save(tx: Tx, webhook: WebhookVersion, breaker: Breaker, disable: DisabledReason | null): void {
    const { writer, stamps, subscribers, notices } = this.#parts
    saveBreaker(tx, webhook, breaker, disable && { reason: disable, at: stamps.now() })
    if (disable === null) return
    subscribers.forget()
    notices.changed(webhook.id)
    writer.notifyAfterCommit(notices.signal)
  }

  async #read(ids: readonly WebhookId[]): Promise<void> {
    const { clock, writer } = this.#parts
    const added = ids.filter((id) => !this.#lanes.has(id))
    const latest = clock.now() + WAIT_MS_MAX
    if (added.length > 0) {
      await writer.write((tx) => {
        for (const id of added) clampDeliveries(tx, id, latest)
      })
    }
    for (const id of ids) await this.#load(id)
    this.#all = [...this.#lanes.values()].sort((a, b) => b.seq - a.seq)
  }

  /** Takes a webhook as it is at this moment; it may have been deleted since it was noticed. */
  async #load(id: WebhookId): Promise<void> {
    const { db, clock, seal, writer, log } = this.#parts
    const webhook = findWebhook(db, id)
    const known = this.#lanes.get(id)
    if (webhook === null) {
      known?.close()
      this.#lanes.delete(id)
      return
    }
    const lane = known ?? new Lane(db, webhook)
    const secrets = openSecrets(db, seal, id)
    lane.load(webhook, secrets ?? [], clock.now())
    this.#lanes.set(id, lane)
    if (secrets !== null && webhook.disabledReason === 'secret_unreadable') await this.#switchOn(id)
    if (secrets !== null || !webhook.isActive) return
    log.error('the secret of a webhook cannot be opened', { webhook: id })
    const { breaker, updatedAt: version } = webhook
    await writer.write((tx) => this.save(tx, { id, version }, breaker, 'secret_unreadable'))
  }

  /** The key is back that opens its secret: what was held goes out. */
  async #switchOn(id: WebhookId): Promise<void> {
    const { writer, stamps, subscribers, notices, log } = this.#parts
    await writer.write((tx) => {
      updateWebhook(tx, id, { isActive: true, disabledReason: null, updatedAt: stamps.now() })
      subscribers.forget()
      notices.changed(id)
      writer.notifyAfterCommit(notices.signal)
    })
    log.info('the secret of a webhook opens again', { webhook: id })
  }
}

/** How far the wall clock is ahead of the one that never steps. */
function driftOf(clock: Clock): number {
  return clock.now() - clock.monotonic()
}
