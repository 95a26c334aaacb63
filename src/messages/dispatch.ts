// The loop of the way out: gives due messages to the lines that can take them, moves those whose own
// line cannot, lets the old ones expire, and announces uncertain ones.

import type { LineId, MessageId } from '../domain/ids.ts'
import { HELD_MS_MAX, QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import type { Tx } from '../storage/database.ts'
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
import { findMessage, saveMessage } from '../storage/messages.ts'
import type { Settings } from '../storage/settings.ts'
import { nextTurn } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import type { PublishUnplaced } from '../webhooks/publish.ts'
import { changesSettledAt, settleOldChanges } from './changes.ts'
import { review } from './deferral.ts'
import { announceReceived } from './device-files.ts'
import { attempt, type AttemptTools } from './dispatch-attempt.ts'
import { takesMessages } from './line-directory.ts'
import { moveTo, routeFor } from './requeue.ts'
import { expireMessage, makeUncertain } from './settle.ts'

type DispatchTools = AttemptTools & {
  readonly dispatchSignal: Signal
  readonly settings: Pick<Settings, 'onSet'>
  readonly publish: PublishUnplaced
}

const UNKNOWN = { reason: 'outcome_unknown' }
const BATCH_MAX = 64
/** An attempt that failed by a fault of ours is not made again at once. */
const FAILED_MS = 1_000
/** Longest pause between two ticks; every event that matters notifies the loop. */
const TICK_MS_MAX = 10_000

export class Dispatch implements Service {
  readonly name = 'dispatch'
  readonly #tools: DispatchTools
  /** Messages that a driver has in hand, and the line of each. */
  readonly #inHand = new Map<MessageId, LineId>()
  readonly #attempts = new Set<Promise<unknown>>()
  /** Messages whose outcome could not be written: their lines send nothing until it is. */
  readonly #unwritten = new Map<MessageId, LineId>()

  constructor(tools: DispatchTools) {
    this.#tools = tools
    const { settings, directory, stamps, writer, dispatchSignal } = tools
    // The day of the limits and the quiet hours begin at another time.
    settings.onSet('time_zone', (tx) => {
      for (const { line } of directory.lines()) wakeLimited(tx, line.id, stamps.now())
      writer.afterCommit(() => dispatchSignal.notify())
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { dispatchSignal, clock } = this.#tools
    try {
      while (!signal.aborted) {
        await this.#tick(signal)
        await dispatchSignal.wait(clock, dispatchSignal.isNotified ? 0 : this.#untilNext(), signal)
        await nextTurn() // Attempts of one commit notify one after the other.
      }
    } finally {
      await Promise.all(this.#attempts)
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    await this.#review()
    await this.#expire()
    await this.#giveUpHeld()
    await this.#announce()
    if (!this.#tools.mayLeave() || signal.aborted) return
    const { directory } = this.#tools
    for (const line of directory.lines()) if (takesMessages(line)) this.#dispatchTo(line, signal)
    for (const line of directory.lines()) if (!takesMessages(line)) await this.#moveAway(line)
  }

  #dispatchTo({ line, capacity }: LineSnapshot, signal: AbortSignal): void {
    const { db, stamps } = this.#tools
    const busy = countOf(this.#inHand, line.id)
    if (busy >= capacity || countOf(this.#unwritten, line.id) > 0) return
    // Those in hand are still due until they pass their point of no return.
    const due = dueMessages(db, { lineId: line.id, now: stamps.now(), limit: capacity })
    const fresh = due.filter(({ id }) => !this.#inHand.has(id))
    for (const message of fresh.slice(0, capacity - busy)) this.#start(message, signal)
  }

  #start(message: Outbound, signal: AbortSignal): void {
    const { lineId } = message
    this.#inHand.set(message.id, lineId)
    const { dispatchSignal, clock, log } = this.#tools
    const onUnwritten = () => void this.#unwritten.set(message.id, lineId)
    const running = attempt(this.#tools, message, { onUnwritten, signal })
      .catch((error: unknown) => {
        log.error('attempt failed', { message_id: message.id, line_id: lineId, error })
        return clock.sleep(FAILED_MS, signal)
      })
      .finally(() => {
        this.#inHand.delete(message.id)
        this.#unwritten.delete(message.id)
        this.#attempts.delete(running)
        dispatchSignal.notify()
      })
    this.#attempts.add(running)
  }

  /** A message that named no line leaves one that cannot take it, as soon as another one can. */
  async #moveAway({ line }: LineSnapshot): Promise<void> {
    const { db, stamps, writer, directory } = this.#tools
    if (!directory.lines().some(takesMessages)) return
    const ids = movableMessages(db, { lineId: line.id, now: stamps.now(), limit: BATCH_MAX })
    const free = ids.filter((id) => !this.#inHand.has(id))
    if (free.length === 0) return
    const moved = await writer.write((tx) => {
      const now = stamps.now()
      let count = 0
      for (const id of free) {
        const message = findMessage(tx, id)
        if (message?.status !== 'queued' || message.lineId !== line.id) continue
        const route = routeFor(tx, this.#tools, { ...message, now }, [line.id])
        if (route.route !== 'take') continue
        moveTo(this.#tools, tx, message, { lineId: route.lineId, now })
        count += 1
      }
      return count
    })
    if (moved > 0) this.#tools.dispatchSignal.notify()
  }

  #review(): Promise<void> {
    const { db, stamps } = this.#tools
    const ids = dueDeferred(db, { now: stamps.now(), limit: BATCH_MAX })
    return this.#forEach(ids, (tx, message) => review(this.#tools, tx, message))
  }

  #expire(): Promise<void> {
    const { db, clock } = this.#tools
    const ids = queuedUntil(db, clock.ago(QUEUED_MS_MAX), BATCH_MAX)
    return this.#forEach(ids, (tx, message) => {
      if (message.status === 'queued') expireMessage(this.#tools, tx, message)
    })
  }

  /** The device took it a day ago and never said more: nobody can say whether it left. */
  #giveUpHeld(): Promise<void> {
    const { db, clock } = this.#tools
    const ids = heldUntil(db, clock.ago(HELD_MS_MAX), BATCH_MAX)
    const silent = ids.filter((id) => !this.#inHand.has(id))
    return this.#forEach(silent, (tx, message) => {
      if (message.status === 'sending') makeUncertain(this.#tools, tx, message, UNKNOWN)
    })
  }

  /** Publishes the failure of messages that stayed uncertain, and what waited for its files or its message. */
  async #announce(): Promise<void> {
    const { db, stamps, publish, writer } = this.#tools
    const ids = messagesToAnnounce(db, { now: stamps.now(), limit: BATCH_MAX })
    await this.#forEach(ids, (tx, message) => {
      if (message.dueAt === null) return
      if (message.status === 'received') announceReceived(this.#tools, tx, message)
      if (message.status !== 'uncertain') return
      publish(tx, 'message.failed', message)
      saveMessage(tx, { ...message, dueAt: null }, stamps.now())
    })
    const isOver = (changesSettledAt(db) ?? Infinity) <= stamps.now()
    if (isOver) await writer.write((tx) => settleOldChanges(this.#tools, tx))
  }

  /** Acts on messages in one transaction; then the loop runs again, for there may be more. */
  async #forEach(
    ids: readonly MessageId[],
    act: (tx: Tx, message: Outbound) => void,
  ): Promise<void> {
    if (ids.length === 0) return
    await this.#tools.writer.write((tx) => {
      for (const id of ids) {
        const message = findMessage(tx, id)
        if (message !== null) act(tx, message)
      }
    })
    this.#tools.dispatchSignal.notify()
  }

  #untilNext(): number {
    const { db, directory, stamps } = this.#tools
    const now = stamps.now()
    const dueAt = directory.lines().map(({ line }) => nextDueAt(db, line.id, now) ?? Infinity)
    const waiting = [nextDeferredAt(db), nextAnnouncementAt(db), changesSettledAt(db)].map(
      (at) => at ?? Infinity,
    )
    const soonest = Math.min(...waiting, ...dueAt)
    return Math.min(TICK_MS_MAX, Math.max(0, soonest - now))
  }
}

function countOf(held: ReadonlyMap<MessageId, LineId>, lineId: LineId): number {
  let count = 0
  for (const id of held.values()) if (id === lineId) count += 1
  return count
}
