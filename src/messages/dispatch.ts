// The loop of the way out: gives due messages to the lines that can take them, moves those whose own
// line cannot, lets the old ones expire, and tells of uncertain ones.

import type { LineId, MessageId } from '../domain/ids.ts'
import { HELD_MS_MAX, QUEUED_MS_MAX, type Outbound } from '../domain/message.ts'
import {
  heldUntil,
  messagesToAnnounce,
  movableMessages,
  nextAnnouncementAt,
  nextDueAt,
  queuedUntil,
} from '../storage/message-queue.ts'
import { findMessage, saveMessage } from '../storage/message-rows.ts'
import { dueMessages } from '../storage/message-turns.ts'
import { nextTurn } from '../system/clock.ts'
import { PassingSet } from '../system/passing.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import { attempt, type AttemptTools } from './dispatch-attempt.ts'
import { takesMessages, type BoardLine } from './line-board.ts'
import { moveTo, routeFor } from './requeue.ts'
import { expireMessage, makeUncertain } from './settle.ts'

type DispatchTools = AttemptTools & { readonly dispatchSignal: Signal }

const BATCH_MAX = 64
/** An attempt that failed by a fault of ours is not made again at once. */
const FAILED_MS = 1_000
/** What ages takes days: under load there is no need to ask for it at each look. */
const AGE_EVERY_MS = 1_000
/** Longest pause between two looks; every event that matters notifies the loop. */
const LOOK_MS_MAX = 10_000

export class Dispatch implements Service {
  readonly name = 'dispatch'
  readonly #tools: DispatchTools
  /** Messages that a driver has in hand, and the line of each. */
  readonly #inHand = new Map<MessageId, LineId>()
  readonly #attempts = new PassingSet<Promise<unknown>>()
  /** Messages whose outcome could not be written: their lines send nothing until it is. */
  readonly #unwritten = new Map<MessageId, LineId>()
  /** When nothing was found that is too old, on the monotonic clock. */
  #agedAt = -Infinity
  /** When the next uncertain message is told of, as far as was seen when ages were looked at. */
  #announceAt = Infinity
  /** Null while the loop does not run: nothing is given then. */
  #signal: AbortSignal | null = null

  constructor(tools: DispatchTools) {
    this.#tools = tools
  }

  async run(signal: AbortSignal): Promise<void> {
    const { dispatchSignal, clock } = this.#tools
    this.#signal = signal
    try {
      while (!signal.aborted) {
        await this.#look()
        await dispatchSignal.wait(clock, dispatchSignal.isNotified ? 0 : this.#untilNext(), signal)
        await nextTurn() // Attempts of one commit notify one after the other.
      }
    } finally {
      await Promise.all(this.#attempts.values())
    }
  }

  async #look(): Promise<void> {
    await this.#age()
    await this.#announce()
    if (!this.#tools.mayLeave()) return
    this.giveDue()
    for (const line of this.#tools.board.lines()) {
      if (!takesMessages(line)) await this.#moveAway(line)
    }
  }

  /**
   * Gives what is due to every line that has room, in this very turn. Within a transaction too: a
   * message that is undone is refused its point of no return.
   */
  giveDue(): void {
    const signal = this.#signal
    if (signal === null || signal.aborted || !this.#tools.mayLeave()) return
    for (const line of this.#tools.board.lines()) {
      if (takesMessages(line)) this.#give(line, signal)
    }
  }

  #give({ line, capacity }: BoardLine, signal: AbortSignal): void {
    const { db, stamps } = this.#tools
    const busy = countOf(this.#inHand, line.id)
    if (busy >= capacity || countOf(this.#unwritten, line.id) > 0) return
    // Those in hand are still due until they pass their point of no return.
    const due = dueMessages(db, { lineId: line.id, now: stamps.now() }, capacity)
    const fresh = due.filter((id) => !this.#inHand.has(id)).slice(0, capacity - busy)
    for (const id of fresh) {
      const message = findMessage(db, id)
      if (message !== null) this.#start(message, signal)
    }
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
        leave()
        dispatchSignal.notify()
      })
    const leave = this.#attempts.add(running)
  }

  /** A message that named no line leaves one that cannot take it, as soon as another one can. */
  async #moveAway({ line }: BoardLine): Promise<void> {
    const { db, stamps, writer, board } = this.#tools
    if (!board.lines().some(takesMessages)) return
    const ids = movableMessages(db, { lineId: line.id, now: stamps.now() }, BATCH_MAX)
    const free = ids.filter((id) => !this.#inHand.has(id))
    if (free.length === 0) return
    const moved = await writer.write((tx) => {
      const now = stamps.now()
      let count = 0
      for (const id of free) {
        const message = findMessage(tx, id)
        if (message?.status !== 'queued' || message.lineId !== line.id) continue
        const route = routeFor(tx, board, { handle: message.handle, now }, [line.id])
        if (route.route !== 'take') continue
        moveTo(this.#tools, tx, message, { lineId: route.lineId, now })
        count += 1
      }
      return count
    })
    if (moved > 0) this.#tools.dispatchSignal.notify()
  }

  /** Ends what waited for too long. */
  async #age(): Promise<void> {
    const now = this.#tools.clock.monotonic()
    if (now - this.#agedAt < AGE_EVERY_MS) return
    const isMore = (await this.#expire()) || (await this.#giveUpHeld())
    this.#agedAt = isMore ? -Infinity : now
    this.#announceAt = nextAnnouncementAt(this.#tools.db) ?? Infinity
  }

  /** Whether there were any, and there may be more. */
  async #expire(): Promise<boolean> {
    const { db, clock, writer } = this.#tools
    const ids = queuedUntil(db, clock.ago(QUEUED_MS_MAX), BATCH_MAX)
    if (ids.length === 0) return false
    await writer.write((tx) => {
      for (const id of ids) {
        const message = findMessage(tx, id)
        if (message?.status === 'queued') expireMessage(this.#tools, tx, message)
      }
    })
    this.#tools.dispatchSignal.notify()
    return true
  }

  /** The device took it a day ago and never said more: nobody can say whether it left. */
  async #giveUpHeld(): Promise<boolean> {
    const { db, clock, writer } = this.#tools
    const ids = heldUntil(db, clock.ago(HELD_MS_MAX), BATCH_MAX)
    const silent = ids.filter((id) => !this.#inHand.has(id))
    if (silent.length === 0) return false
    await writer.write((tx) => {
      for (const id of silent) {
        const message = findMessage(tx, id)
        if (message?.status !== 'sending') continue
        makeUncertain(this.#tools, tx, message, 'outcome_unknown')
      }
    })
    this.#tools.dispatchSignal.notify()
    return true
  }

  async #announce(): Promise<void> {
    const { db, stamps, writer, publish } = this.#tools
    if (stamps.now() < this.#announceAt) return
    const ids = messagesToAnnounce(db, stamps.now(), BATCH_MAX)
    if (ids.length === 0) {
      this.#announceAt = nextAnnouncementAt(db) ?? Infinity
      return
    }
    await writer.write((tx) => {
      for (const id of ids) {
        const message = findMessage(tx, id)
        if (message?.status !== 'uncertain') continue
        publish(tx, 'message.failed', message)
        saveMessage(tx, { ...message, dueAt: null }, stamps.now())
      }
    })
    this.#tools.dispatchSignal.notify()
  }

  #untilNext(): number {
    const { db, board, stamps } = this.#tools
    const now = stamps.now()
    const dueAt = board.lines().map(({ line }) => nextDueAt(db, line.id, now) ?? Infinity)
    const soonest = Math.min(this.#announceAt, ...dueAt)
    return Math.min(LOOK_MS_MAX, Math.max(0, soonest - now))
  }
}

function countOf(held: ReadonlyMap<MessageId, LineId>, lineId: LineId): number {
  let count = 0
  for (const id of held.values()) if (id === lineId) count += 1
  return count
}
