// The loop of the way out: gives due messages to the lines that can take them, moves those whose own
// line cannot, lets the old ones expire, and announces uncertain ones.

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
/** Before every message of a line. */
const BEGINNING = { dueAt: -1, seq: -1 }
/** An attempt that failed by a fault of ours is not made again at once. */
const FAILED_MS = 1_000
/** Longest pause between two ticks; every event that matters notifies the loop. */
const TICK_MS_MAX = 10_000

export class Dispatch implements Service {
  readonly name = 'dispatch'
  readonly #core: Core
  readonly #dispatchSignal: Signal
  readonly #directory: LineDirectory
  readonly #mayLeave: () => boolean
  readonly #attempts: Attempts
  readonly #outcomes: Outcomes
  readonly #queue: MessageQueue
  readonly #routing: Routing
  readonly #deviceChanges: DeviceChanges
  /** Messages that a driver has in hand, and the line of each. */
  readonly #inHand = new Map<MessageId, LineId>()
  readonly #running = new Set<Promise<unknown>>()
  /** Messages whose outcome could not be written: their lines send nothing until it is. */
  readonly #unwritten = new Map<MessageId, LineId>()
  /** The message up to which those of a line were looked at for another line; none at the start of a round. */
  readonly #lookedAt = new Map<LineId, typeof BEGINNING>()

  constructor(
    core: Core,
    given: {
      readonly dispatchSignal: Signal
      readonly directory: LineDirectory
      /** False while the disk is nearly full or the relay stops: nothing may leave then. */
      readonly mayLeave: () => boolean
      readonly attempts: Attempts
      readonly outcomes: Outcomes
      readonly queue: MessageQueue
      readonly routing: Routing
      readonly deviceChanges: DeviceChanges
    },
  ) {
    const { settings, clock, writer } = core
    const { directory, dispatchSignal } = given
    this.#core = core
    this.#dispatchSignal = dispatchSignal
    this.#directory = directory
    this.#mayLeave = given.mayLeave
    this.#attempts = given.attempts
    this.#outcomes = given.outcomes
    this.#queue = given.queue
    this.#routing = given.routing
    this.#deviceChanges = given.deviceChanges
    // The day of the limits and the quiet hours begin at another time.
    settings.onSet('time_zone', (tx) => {
      for (const { line } of directory.lines()) wakeLimited(tx, line.id, clock.now())
      writer.afterCommit(() => dispatchSignal.notify())
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    const dispatchSignal = this.#dispatchSignal
    try {
      while (!signal.aborted) {
        await this.#tick(signal)
        await dispatchSignal.wait(clock, dispatchSignal.isNotified ? 0 : this.#untilNext(), signal)
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
    if (!this.#mayLeave() || signal.aborted) return
    const directory = this.#directory
    for (const line of directory.lines()) if (takesMessages(line)) this.#dispatchTo(line, signal)
    for (const line of directory.lines()) if (!takesMessages(line)) await this.#moveAway(line)
  }

  #dispatchTo({ line, capacity }: LineSnapshot, signal: AbortSignal): void {
    const { db, ids } = this.#core
    const busy = countOf(this.#inHand, line.id)
    if (busy >= capacity || countOf(this.#unwritten, line.id) > 0) return
    // Those in hand are still due until they pass their point of no return.
    const due = dueMessages(db, { lineId: line.id, now: ids.now(), limit: capacity })
    const fresh = due.filter(({ id }) => !this.#inHand.has(id))
    for (const message of fresh.slice(0, capacity - busy)) this.#start(message, signal)
  }

  #start(message: Outbound, signal: AbortSignal): void {
    const { lineId } = message
    this.#inHand.set(message.id, lineId)
    const { clock, log } = this.#core
    const onUnwritten = () => void this.#unwritten.set(message.id, lineId)
    const running = this.#attempts
      .make(message, { onUnwritten, signal })
      .catch((error: unknown) => {
        log.error('attempt failed', { message_id: message.id, line_id: lineId, error })
        return clock.sleep(FAILED_MS, signal)
      })
      .finally(() => {
        this.#inHand.delete(message.id)
        this.#unwritten.delete(message.id)
        this.#running.delete(running)
        this.#dispatchSignal.notify()
      })
    this.#running.add(running)
  }

  /**
   * A message that named no line leaves one that cannot take it, as soon as another one can. One tick looks at a
   * batch, and the next one goes on behind it: messages that no other line may take hold up none behind them.
   */
  async #moveAway({ line }: LineSnapshot): Promise<void> {
    const { db, ids, writer } = this.#core
    if (!this.#directory.lines().some(takesMessages)) return
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
    if (movable.length > 0 || !isLastBatch) this.#dispatchSignal.notify()
  }

  #move(tx: Tx, id: MessageId, from: LineId): void {
    const message = findMessage(tx, id)
    if (message?.status !== 'queued' || message.lineId !== from) return
    const lineId = this.#otherLineFor(tx, message)
    if (lineId !== null) this.#routing.move(tx, message, { lineId, now: this.#core.ids.now() })
  }

  #otherLineFor(db: Db, message: Outbound): LineId | null {
    const now = this.#core.ids.now()
    const route = this.#routing.choose(db, { ...message, now }, [message.lineId])
    return route.route === 'take' ? route.lineId : null
  }

  #review(): Promise<void> {
    const { db, clock } = this.#core
    const ids = dueDeferred(db, { now: clock.now(), limit: BATCH_MAX })
    return this.#forEach(ids, (tx, message) => this.#queue.review(tx, message))
  }

  #expire(): Promise<void> {
    const { db, clock } = this.#core
    const ids = queuedUntil(db, clock.ago(QUEUED_MS_MAX), BATCH_MAX)
    return this.#forEach(ids, (tx, message) => {
      if (message.status === 'queued') this.#outcomes.expire(tx, message)
    })
  }

  /** The device or its driver took it a day ago and never said more: nobody can say whether it left. */
  #giveUpHeld(): Promise<void> {
    const { db, clock } = this.#core
    const ids = heldUntil(db, { until: clock.ago(HELD_MS_MAX), limit: BATCH_MAX })
    return this.#forEach(ids, (tx, message) => {
      if (message.status === 'sending') this.#outcomes.makeUncertain(tx, message, UNKNOWN)
    })
  }

  /** Publishes the failure of messages that stayed uncertain, and what waited for its files or its message. */
  async #announce(): Promise<void> {
    const { db, ids, writer } = this.#core
    const found = messagesToAnnounce(db, { now: ids.now(), limit: BATCH_MAX })
    await this.#forEach(found, (tx, message) => {
      if (message.dueAt === null) return
      if (message.status === 'received') this.#deviceChanges.announce(tx, message)
      if (message.status === 'uncertain') this.#outcomes.announceUncertain(tx, message)
    })
    const isOver = (this.#deviceChanges.settledAt() ?? Infinity) <= ids.now()
    if (isOver) await writer.write((tx) => this.#deviceChanges.settleOld(tx))
  }

  /** Acts on messages in one transaction; then the loop runs again, for there may be more. */
  async #forEach(
    ids: readonly MessageId[],
    act: (tx: Tx, message: Outbound) => void,
  ): Promise<void> {
    if (ids.length === 0) return
    await this.#core.writer.write((tx) => {
      for (const id of ids) {
        const message = findMessage(tx, id)
        if (message !== null) act(tx, message)
      }
    })
    this.#dispatchSignal.notify()
  }

  #untilNext(): number {
    const { db, ids, clock } = this.#core
    const now = ids.now()
    const dueAt = this.#directory.lines().map(({ line }) => nextDueAt(db, line.id, now) ?? Infinity)
    const waiting = [nextAnnouncementAt(db), this.#deviceChanges.settledAt()].map(
      (at) => at ?? Infinity,
    )
    const soonestMs = Math.min(...waiting, ...dueAt) - now
    const deferredMs = (nextDeferredAt(db) ?? Infinity) - clock.now()
    return Math.min(TICK_MS_MAX, Math.max(0, Math.min(soonestMs, deferredMs)))
  }
}

function countOf(held: ReadonlyMap<MessageId, LineId>, lineId: LineId): number {
  let count = 0
  for (const id of held.values()) if (id === lineId) count += 1
  return count
}
