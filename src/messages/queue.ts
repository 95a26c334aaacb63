// Messages that wait. One that is proven not sent, with its line to blame, goes to another line or back into
// the queue. One that is deferred (for an approval, for its time, or for the end of quiet hours) is outside of
// its conversation's order meanwhile, so it holds up nobody.

import type { Days } from '../domain/days.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { QUEUED_MS_MAX, type Outbound, type QueuedReason } from '../domain/message.ts'
import { quietUntil } from '../domain/quiet-hours.ts'
import { noteService } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { reserveAgain } from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  heldBeside,
  initialPosition,
  promoteNext,
  reorder,
  wakeSameText,
  type Position,
} from '../storage/message-queue.ts'
import { saveMessage } from '../storage/messages.ts'
import { daysOf } from '../storage/settings.ts'
import { waitReasonOf, type LineDirectory, type Routing } from './routing.ts'
import type { Outcomes } from './settle.ts'
import type { WaitingCallers } from './waiting-callers.ts'

/** Delays in milliseconds before the rounds that follow the first one. */
const ROUND_DELAYS_MS = [1_000, 5_000, 30_000]
/** A message that was withdrawn, not refused, is looked at again after this. */
const WITHDRAWN_DELAY_MS = 1_000

/** A line that is patient for longer than this lets another one have the message. */
const MOVES_AFTER_MS = 10_000

/** Reason why a message does not queue now, and the time at which that is decided again. */
type Deferral = { readonly reason: QueuedReason; readonly until: Timestamp }

type Deferrable = Pick<Outbound, 'lineId' | 'conversationId' | 'extras' | 'waitsFrom' | 'seq'>

export class MessageQueue {
  readonly #core: Core
  readonly #days: Days
  readonly #directory: Pick<LineDirectory, 'find'>
  readonly #callers: WaitingCallers
  readonly #routing: Routing
  readonly #outcomes: Outcomes

  constructor(
    core: Core,
    given: {
      readonly directory: Pick<LineDirectory, 'find'>
      readonly callers: WaitingCallers
      readonly routing: Routing
      readonly outcomes: Outcomes
    },
  ) {
    this.#core = core
    this.#days = daysOf(core.settings)
    this.#directory = given.directory
    this.#callers = given.callers
    this.#routing = given.routing
    this.#outcomes = given.outcomes
  }

  /**
   * Back to the queue, uncounted: nobody refused it. It is due after a second, so that a line that gives back
   * all it gets is not asked without a pause; with the end of its session at once, when the line is back.
   */
  withdraw(tx: Tx, message: Outbound, isSessionOver: boolean): void {
    const now = this.#core.ids.now()
    let queued = message
    if (message.status === 'sending') {
      const contactHold = reserveAgain(tx, message, this.#days.of(now))
      const dueAt = isSessionOver ? now : later(now, WITHDRAWN_DELAY_MS)
      queued = { ...unsent(message), contactHold, dueAt, queuedReason: null }
    } else if (message.status === 'queued' && message.dueAt !== null && message.dueAt <= now) {
      queued = { ...message, dueAt: later(now, WITHDRAWN_DELAY_MS) }
    }
    if (queued === message) return
    saveMessage(tx, queued, now)
    if (waitReasonOf(this.#directory, message.lineId, true) !== null)
      this.#callers.settled(tx, queued)
  }

  /**
   * Refused: if the caller named no line, it is offered once to every line that may take it; then, or if the
   * caller named one, again after 1 s, 5 s and 30 s; then it has failed.
   */
  refuse(
    tx: Tx,
    message: Outbound,
    reason: 'line_refused' | 'not_supported' = 'line_refused',
  ): void {
    if (message.status !== 'queued' && message.status !== 'sending') return
    this.#tryAgain(tx, message, reason)
  }

  /**
   * The recipient is not on iMessage, and nothing of the message left: a message that leaves the service to the
   * relay has one try as SMS, if its line can choose now. False if it has none.
   */
  turnToSms(tx: Tx, message: Outbound): boolean {
    const { extras, status, lineId, platformGuid } = message
    const state = this.#directory.find(lineId)?.state
    const canChoose = state?.status === 'online' && state.capabilities.choose_service
    const isUnderWay = platformGuid === null && (status === 'queued' || status === 'sending')
    if (extras?.wantedService !== 'auto' || message.service === 'SMS') return false
    if (!isUnderWay || !canChoose) return false
    const now = this.#core.ids.now()
    const service = 'SMS'
    const turned = {
      ...unsent(message),
      service,
      extras: { ...extras, downgradedAt: now },
      contactHold: reserveAgain(tx, message, this.#days.of(now)),
      dueAt: now,
      queuedReason: null,
    }
    noteService(tx, message.conversationId, { seq: message.seq, service })
    saveMessage(tx, turned, now)
    return true
  }

  /**
   * Proven unsent after its session ended: it counts as a try, so that a message that ends the relay each
   * time fails in the end. It goes before the messages that got its turn while nobody knew what became of it.
   */
  requeue(tx: Tx, message: Outbound, reason: string): void {
    this.#tryAgain(tx, { ...message, error: null }, reason)
    const now = this.#core.ids.now()
    reorder(tx, message.conversationId, now)
    wakeSameText(tx, message.conversationId, now)
  }

  /** `reason` is the reason of the failure, if this was the last try. */
  #tryAgain(tx: Tx, message: Outbound, reason: string): void {
    const now = this.#core.ids.now()
    const contactHold = reserveAgain(tx, message, this.#days.of(now))
    const refusedBy = [...message.refusedBy, message.lineId]
    const queued: Outbound = { ...unsent(message), contactHold, refusedBy }
    const next = message.isPinned ? null : this.#routing.choose(tx, { ...queued, now }, refusedBy)
    if (next?.route === 'take') {
      const atOnce = { ...queued, dueAt: now, queuedReason: null }
      this.#routing.move(tx, atOnce, { lineId: next.lineId, now })
      return
    }
    const delayMs = ROUND_DELAYS_MS[message.round]
    if (delayMs === undefined) {
      this.#outcomes.fail(tx, queued, reason)
      return
    }
    const turn = { dueAt: later(now, delayMs), queuedReason: 'retry' } as const
    const waiting = { ...queued, ...turn, round: message.round + 1, refusedBy: [] }
    saveMessage(tx, waiting, now)
    this.#callers.settled(tx, this.#startRoundInOrder(tx, waiting, now))
  }

  /**
   * Its line must not be hurried: it waits there, uncounted. If that takes long and the caller named no line,
   * it is offered once to every other line first.
   */
  postpone(tx: Tx, message: Outbound, delayMs: number): void {
    if (message.status !== 'queued') return
    const now = this.#core.ids.now()
    const refusedBy = [...message.refusedBy, message.lineId]
    const mayMove = !message.isPinned && delayMs > MOVES_AFTER_MS
    const next = mayMove ? this.#routing.choose(tx, { ...message, now }, refusedBy) : null
    if (next?.route === 'take') {
      this.#routing.move(tx, { ...message, refusedBy }, { lineId: next.lineId, now })
      return
    }
    const dueAt = later(now, Math.max(1, Math.ceil(delayMs)))
    this.wait(tx, message, { dueAt, queuedReason: 'pacing', refusedBy: [] })
  }

  /** The next round begins with the first line again, not with the one that refused last. */
  #startRoundInOrder(tx: Tx, message: Outbound, now: Timestamp): Outbound {
    const first = message.isPinned ? null : this.#routing.choose(tx, { ...message, now })
    if (first?.route !== 'take' || first.lineId === message.lineId) return message
    return this.#routing.move(tx, message, { lineId: first.lineId, now })
  }

  /** The day's contacts are spent: another line takes it, or it waits for tomorrow. */
  waitForBudget(tx: Tx, message: Outbound, now: Timestamp): void {
    const route = message.isPinned
      ? null
      : this.#routing.choose(tx, { ...message, now }, [message.lineId])
    if (route?.route === 'take') {
      this.#routing.move(tx, message, { lineId: route.lineId, now })
      return
    }
    const dueAt = timestamp(this.#days.endOf(now))
    this.wait(tx, message, { dueAt, queuedReason: 'daily_contact_limit' })
  }

  /** Puts the message off; its caller gets an answer now. */
  wait(tx: Tx, message: Outbound, position: Partial<Outbound> & Position): void {
    const waiting = saveMessage(tx, { ...message, ...position }, this.#core.ids.now())
    this.#callers.settled(tx, waiting)
  }

  /** The position of a new message: it waits for its time, or comes last into its conversation. */
  firstPosition(
    tx: Tx,
    message: Deferrable & Pick<Outbound, 'text'>,
    now: Timestamp,
  ): Partial<Pick<Outbound, 'status'>> & Position {
    const deferral = this.deferralOf(tx, message)
    return deferral === null ? initialPosition(tx, message, now) : positionOf(deferral)
  }

  /** Takes a queued message that may not leave now out of its conversation's order; false if it may leave. */
  defer(tx: Tx, message: Outbound): boolean {
    const deferral = this.deferralOf(tx, message)
    if (deferral === null) return false
    this.wait(tx, message, positionOf(deferral))
    promoteNext(tx, message.conversationId, this.#core.ids.now())
    return true
  }

  /** Decides again on a deferred message: it queues, waits on, or has expired. */
  review(tx: Tx, message: Outbound): void {
    if (message.status !== 'deferred') return
    if (this.#core.clock.ageOf(message.waitsFrom) >= QUEUED_MS_MAX) {
      this.#outcomes.expire(tx, message)
      return
    }
    const now = this.#core.ids.now()
    const deferral = this.deferralOf(tx, message)
    if (deferral !== null) {
      saveMessage(tx, { ...message, ...positionOf(deferral) }, now)
      return
    }
    const contactHold = reserveAgain(tx, message, this.#days.of(now))
    const last = { status: 'queued', queuedReason: 'earlier_message', dueAt: null } as const
    saveMessage(tx, { ...message, ...last, contactHold }, now)
    reorder(tx, message.conversationId, now)
  }

  /**
   * Returns why the message may not queue, or leave, now, or null if it may. The clock decides, not a timestamp:
   * after a clock that was set back, timestamps are ahead of it, and a message would leave before its time.
   */
  deferralOf(db: Db, message: Deferrable): Deferral | null {
    const now = timestamp(this.#core.clock.now())
    const held = this.#approvalHold(db, message, now)
    if (held !== null) return held
    const sendAt = message.extras?.sendAt
    if (sendAt !== undefined && sendAt > now) return { reason: 'scheduled', until: sendAt }
    return this.#timeInDoubt(message) ?? this.#quietHold(message)
  }

  /** After time off that is not confirmed, its time may not have come. */
  #timeInDoubt({ extras, waitsFrom }: Deferrable): Deferral | null {
    if (extras?.sendAt === undefined || waitsFrom <= this.#core.clock.earliest()) return null
    const doubt = this.#core.clock.doubt()
    return doubt && { reason: 'clock_jumped', until: timestamp(Math.ceil(doubt.until)) }
  }

  /**
   * An urgent message goes in the quiet hours of its line, but not in those of the key that wrote it. While the wall
   * clock is in doubt, it may be right: hours that are quiet by it are quiet too.
   */
  #quietHold({ extras, lineId }: Deferrable): Deferral | null {
    const { clock } = this.#core
    const now = clock.now()
    const ofLine = extras?.isUrgent === true ? null : this.#directory.find(lineId)?.line.quietHours
    const lefts = [ofLine, extras?.quietHours, extras?.approval?.quietHours].flatMap((hours) =>
      [now, clock.wall()].map((at) =>
        hours ? (quietUntil(hours, at, this.#days.zone()) ?? at) - at : 0,
      ),
    )
    const leftMs = Math.max(...lefts)
    return leftMs === 0 ? null : { reason: 'quiet_hours', until: timestamp(now + leftMs) }
  }

  /** One that was approved still waits for earlier ones of its key. */
  #approvalHold(db: Db, message: Deferrable, now: Timestamp): Deferral | null {
    const { extras, waitsFrom, seq } = message
    if (extras?.approval === undefined) return null
    const until = timestamp(now + QUEUED_MS_MAX - Math.max(0, this.#core.clock.ageOf(waitsFrom)))
    if (extras.approval.state === 'pending') return { reason: 'approval', until }
    const isEarlier = (other: Outbound) =>
      other.waitsFrom < waitsFrom || (other.waitsFrom === waitsFrom && other.seq < seq)
    const isBehind = heldBeside(db, message).some(
      (other) => other.extras?.approval?.state === 'pending' && isEarlier(other),
    )
    return isBehind ? { reason: 'earlier_message', until } : null
  }
}

function positionOf({ reason, until }: Deferral) {
  return { status: 'deferred', queuedReason: reason, dueAt: until } as const
}

function unsent(message: Outbound): Outbound {
  return { ...message, status: 'queued', note: null, passedAt: null }
}

function later(now: Timestamp, ms: number): Timestamp {
  return (now + ms) as Timestamp // A sum of whole milliseconds.
}
