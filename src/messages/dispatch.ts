// The send loop: gives due messages to lines that can take them, moves those whose line can't, expires old ones, and
// announces uncertain ones.

import type { LineId, MessageId } from '../domain/ids.ts'
import { HELD_MS_MAX, QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  dueDeferred,
  dueMessages,
  heldUntil,
  messagesToAnnounce,
  movableMessages,
  nextAnnouncementAt,
  nextDeferredAt,
  nextDueAt,
  queuedUntil,
  wakeLimited,
} from '../storage/message-queue.ts'
import { findMessage } from '../storage/messages.ts'
import { nextTurn } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import type { DeviceChanges } from './device-changes.ts'
import type { Attempts } from './dispatch-attempt.ts'
import type { MessageQueue } from './queue.ts'
import { takesMessages, type LineDirectory, type Routing } from './routing.ts'
import type { Outcomes } from './settle.ts'

const UNKNOWN = { reason: 'outcome_unknown' }
const BATCH_MAX = 64
/** Sorts before every message of a line. */
const BEGINNING = { dueAt: -1, seq: -1 }
/** Pause after an attempt that failed because of a bug. */
const FAILED_MS = 1_000
/** Longest pause between two ticks; every relevant event wakes the loop. */
const TICK_MS_MAX = 10_000

/**
 * Woken by each commit that may make a message due, and by time. A message whose attempt throws is taken up again
 * after a second: each tick reads from the database what is due.
 */
export class Dispatch implements Service {
  readonly name = 'dispatch'
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Dispatch>[1]
  /** Messages that a driver is working on, with their lines. */
  readonly #inHand = new Map<MessageId, LineId>()
  readonly #running = new Set<Promise<unknown>>()
  /** Messages whose outcome can't be written: their lines send nothing until it is. */
  readonly #unwritten = new Map<MessageId, LineId>()
  /** The last message of each line that was checked for another line; absent at the start of a round. */
  readonly #lookedAt = new Map<LineId, typeof BEGINNING>()

  constructor(
    core: Core,
    deps: {
      readonly dispatchSignal: Signal
      readonly directory: LineDirectory
      /** False while the disk is nearly full or the relay is stopping: nothing may be sent then. */
      readonly mayLeave: () => boolean
      readonly attempts: Attempts
      readonly outcomes: Outcomes
      readonly queue: MessageQueue
      readonly routing: Routing
      readonly deviceChanges: DeviceChanges
    },
  ) {
    this.#core = core
    this.#deps = deps
    const { settings, clock, writer } = core
    const { directory, dispatchSignal } = deps
    // The limits' day and the quiet hours now begin at another time.
    settings.onSet('time_zone', (tx) => {
      for (const { line } of directory.lines()) wakeLimited(tx, line.id, clock.now())
      writer.afterCommit(() => dispatchSignal.notify())
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    const dispatchSignal = this.#deps.dispatchSignal
    try {
      while (!signal.aborted) {
        // Read before the tick, so that messages that become due during it shorten the wait.
        const lookedAt = this.#core.ids.now()
        await this.#tick(signal)
        const waitMs = dispatchSignal.isNotified ? 0 : this.#untilNext(lookedAt)
        await dispatchSignal.wait(clock, waitMs, signal)
        await nextTurn() // Attempts of one commit notify one after the other.
      }
    } finally {
      await Promise.all(this.#running)
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    await this.#review()
    await this.#expire()
    await this.#giveUpHeld()
    await this.#announce()
    if (!this.#deps.mayLeave() || signal.aborted) return
    const directory = this.#deps.directory
    for (const line of directory.lines()) if (takesMessages(line)) this.#dispatchTo(line, signal)
    for (const line of directory.lines()) if (!takesMessages(line)) await this.#moveAway(line)
  }

  #dispatchTo({ line, capacity }: LineSnapshot, signal: AbortSignal): void {
    const { db, ids } = this.#core
    const busy = countOf(this.#inHand, line.id)
    if (busy >= capacity || countOf(this.#unwritten, line.id) > 0) return
    // Messages in hand stay due until their point of no return.
    const due = dueMessages(db, { lineId: line.id, now: ids.now(), limit: capacity })
    const fresh = due.filter(({ id }) => !this.#inHand.has(id))
    for (const message of fresh.slice(0, capacity - busy)) this.#start(message, signal)
  }

  #start(message: Outbound, signal: AbortSignal): void {
    const { lineId } = message
    this.#inHand.set(message.id, lineId)
    const { clock, log } = this.#core
    const onUnwritten = () => void this.#unwritten.set(message.id, lineId)
    const running = this.#deps.attempts
      .make(message, { onUnwritten, signal })
      .catch((error: unknown) => {
        log.error('attempt failed', { message_id: message.id, line_id: lineId, error })
        return clock.sleep(FAILED_MS, signal)
      })
      .finally(() => {
        this.#inHand.delete(message.id)
        this.#unwritten.delete(message.id)
        this.#running.delete(running)
        this.#deps.dispatchSignal.notify()
      })
    this.#running.add(running)
  }

  /**
   * Moves messages whose caller named no line to a line that can take them. Each tick checks one batch, and the next
   * tick continues behind it: messages that no other line may take block none behind them.
   */
  async #moveAway({ line }: LineSnapshot): Promise<void> {
    const { db, ids, writer } = this.#core
    if (!this.#deps.directory.lines().some(takesMessages)) return
    const now = ids.now()
    const after = this.#lookedAt.get(line.id) ?? BEGINNING
    const batch = movableMessages(db, { lineId: line.id, now, limit: BATCH_MAX, ...after })
    const isLastBatch = batch.length < BATCH_MAX
    const { dueAt, seq } = batch.at(-1) ?? {}
    if (isLastBatch) this.#lookedAt.delete(line.id)
    else this.#lookedAt.set(line.id, { dueAt: dueAt ?? now, seq: seq ?? 0 })
    const movable = batch.filter(
      (message) => !this.#inHand.has(message.id) && this.#otherLineFor(db, message) !== null,
    )
    if (movable.length > 0) {
      await writer.write((tx) => {
        for (const { id } of movable) this.#move(tx, id, line.id)
      })
    }
    if (movable.length > 0 || !isLastBatch) this.#deps.dispatchSignal.notify()
  }

  #move(tx: Tx, id: MessageId, from: LineId): void {
    const message = findMessage(tx, id)
    if (message?.status !== 'queued' || message.lineId !== from) return
    const lineId = this.#otherLineFor(tx, message)
    if (lineId !== null) this.#deps.routing.move(tx, message, { lineId, now: this.#core.ids.now() })
  }

  #otherLineFor(db: Db, message: Outbound): LineId | null {
    const now = this.#core.ids.now()
    const route = this.#deps.routing.choose(db, { ...message, now }, [message.lineId])
    return route.route === 'take' ? route.lineId : null
  }

  #review(): Promise<void> {
    const { db, clock } = this.#core
    const ids = dueDeferred(db, { now: clock.now(), limit: BATCH_MAX })
    return this.#forEach(ids, (tx, message) => this.#deps.queue.review(tx, message))
  }

  #expire(): Promise<void> {
    const { db, clock } = this.#core
    const ids = queuedUntil(db, clock.ago(QUEUED_MS_MAX), BATCH_MAX)
    return this.#forEach(ids, (tx, message) => {
      if (message.status === 'queued') this.#deps.outcomes.expire(tx, message)
    })
  }

  /** Makes messages uncertain that a device or driver took a day ago without reporting an outcome. */
  #giveUpHeld(): Promise<void> {
    const { db, clock } = this.#core
    const ids = heldUntil(db, { until: clock.ago(HELD_MS_MAX), limit: BATCH_MAX })
    return this.#forEach(ids, (tx, message) => {
      if (message.status === 'sending') this.#deps.outcomes.makeUncertain(tx, message, UNKNOWN)
    })
  }

  /** Announces messages that stayed uncertain, and messages and changes that waited for files or their message. */
  async #announce(): Promise<void> {
    const { db, ids, writer } = this.#core
    const found = messagesToAnnounce(db, { now: ids.now(), limit: BATCH_MAX })
    await this.#forEach(found, (tx, message) => {
      if (message.dueAt === null) return
      if (message.status === 'received') this.#deps.deviceChanges.announce(tx, message)
      if (message.status === 'uncertain') this.#deps.outcomes.announceUncertain(tx, message)
    })
    const isOver = (this.#deps.deviceChanges.settledAt() ?? Infinity) <= ids.now()
    if (isOver) await writer.write((tx) => this.#deps.deviceChanges.settleOld(tx))
  }

  /** Acts on messages in one transaction, then wakes the loop, as there may be more. */
  async #forEach(ids: readonly MessageId[], act: (tx: Tx, message: Outbound) => void) {
    if (ids.length === 0) return
    await this.#core.writer.write((tx) => {
      for (const id of ids) {
        const message = findMessage(tx, id)
        if (message !== null) act(tx, message)
      }
    })
    this.#deps.dispatchSignal.notify()
  }

  /** Milliseconds until a message becomes due that wasn't due at `lookedAt`. */
  #untilNext(lookedAt: number): number {
    const { db, ids, clock } = this.#core
    const dueAt = this.#deps.directory
      .lines()
      .map(({ line }) => nextDueAt(db, line.id, lookedAt) ?? Infinity)
    const waiting = [nextAnnouncementAt(db), this.#deps.deviceChanges.settledAt()].map(
      (at) => at ?? Infinity,
    )
    const soonestMs = Math.min(...waiting, ...dueAt) - ids.now()
    const deferredMs = (nextDeferredAt(db) ?? Infinity) - clock.now()
    return Math.min(TICK_MS_MAX, Math.max(0, Math.min(soonestMs, deferredMs)))
  }
}

function countOf(held: ReadonlyMap<MessageId, LineId>, lineId: LineId): number {
  let count = 0
  for (const id of held.values()) if (id === lineId) count += 1
  return count
}
