// Queues messages: retries or moves those that a line provably didn't send, and defers those that wait for an
// approval, their send time or the end of quiet hours. A deferred message is outside its conversation's order, so
// that it blocks no other.

import type { Days } from '../domain/days.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { QUEUED_MS_MAX, type Outbound, type QueuedReason } from '../domain/message.ts'
import { quietUntil } from '../domain/quiet-hours.ts'
import { noteService } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { reserveAgain, daysOf } from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  heldBeside,
  initialPosition,
  promoteNext,
  reorder,
  wakeSameText,
  type Position,
} from '../storage/message-queue.ts'
import { updateMessage, type MessageUpdate } from '../storage/messages.ts'
import { waitReasonOf, type LineDirectory, type Routing } from './routing.ts'
import type { Outcomes } from './settle.ts'
import type { WaitingCallers } from './waiting-callers.ts'

/** Delays before the rounds after the first one. */
const ROUND_DELAYS_MS = [1_000, 5_000, 30_000]
/** Delay before a withdrawn message is tried again. */
const WITHDRAWN_DELAY_MS = 1_000

/** A message that a line provably didn't send. */
const UNSENT = { status: 'queued', note: null, passedAt: null, error: null } as const

/** If a line wants to wait longer than this, another line may take the message. */
const MOVES_AFTER_MS = 10_000

/** The reason not to queue a message now, and the time to check again. */
type Deferral = { readonly reason: QueuedReason; readonly until: Timestamp }

type Deferrable = Pick<Outbound, 'lineId' | 'conversationId' | 'extras' | 'waitsFrom' | 'seq'>

export class MessageQueue {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof MessageQueue>[1]
  readonly #days: Days

  constructor(
    core: Core,
    deps: {
      readonly directory: Pick<LineDirectory, 'find'>
      readonly callers: WaitingCallers
      readonly routing: Routing
      readonly outcomes: Outcomes
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#days = daysOf(core)
  }

  /**
   * Puts the message back without counting a try, as nobody refused it. It is due after a second, so that a line that
   * gives everything back isn't asked without a pause; if its session ended, at once, when the line is back.
   */
  withdraw(tx: Tx, message: Outbound, isSessionOver: boolean): void {
    const now = this.#core.ids.now()
    let change: MessageUpdate | null = null
    if (message.status === 'sending') {
      const contactHold = reserveAgain(tx, message, this.#days.of(now, message.lineId))
      const dueAt = isSessionOver ? now : later(now, WITHDRAWN_DELAY_MS)
      change = { ...UNSENT, contactHold, dueAt, queuedReason: null }
    } else if (message.status === 'queued' && message.dueAt !== null && message.dueAt <= now) {
      change = { dueAt: later(now, WITHDRAWN_DELAY_MS) }
    }
    if (change === null) return
    const queued = updateMessage(tx, message, change, now)
    if (waitReasonOf(this.#deps.directory, message.lineId, true) !== null)
      this.#deps.callers.settled(tx, queued)
  }

  /**
   * Handles a refusal. If the caller named no line, every line that may take the message gets one offer. After that,
   * or if the caller named one, it is tried again after 1, 5 and 30 seconds, and then fails.
   */
  refuse(tx: Tx, message: Outbound, reason: 'line_refused' | 'not_supported' = 'line_refused') {
    if (message.status !== 'queued' && message.status !== 'sending') return
    this.#tryAgain(tx, message, reason)
  }

  /**
   * Called if the recipient isn't on iMessage and nothing of the message was sent. A message that leaves the service
   * to the relay gets one try as SMS, if its line can choose now. Returns whether it does.
   */
  turnToSms(tx: Tx, message: Outbound): boolean {
    const { extras, status, lineId, platformGuid } = message
    const state = this.#deps.directory.find(lineId)?.state
    const canChoose = state?.status === 'online' && state.capabilities.choose_service
    const isUnderWay = platformGuid === null && (status === 'queued' || status === 'sending')
    if (extras?.wantedService !== 'auto' || message.service === 'SMS') return false
    if (!isUnderWay || !canChoose) return false
    const now = this.#core.ids.now()
    const service = 'SMS'
    const turned = {
      ...UNSENT,
      service,
      extras: { ...extras, downgradedAt: now },
      contactHold: reserveAgain(tx, message, this.#days.of(now, message.lineId)),
      dueAt: now,
      queuedReason: null,
    }
    noteService(tx, message.conversationId, { seq: message.seq, service })
    updateMessage(tx, message, turned, now)
    return true
  }

  /**
   * Called if a message is proven unsent after its session ended. It counts as a try, so that a message that crashes
   * the relay each time fails in the end. It goes before the messages that took its turn while its outcome was
   * unknown.
   */
  requeue(tx: Tx, message: Outbound, reason: string): void {
    this.#tryAgain(tx, message, reason)
    const now = this.#core.ids.now()
    reorder(tx, message.conversationId, now)
    wakeSameText(tx, message.conversationId, now)
  }

  /** `reason` is the failure's reason if this was the last try. */
  #tryAgain(tx: Tx, message: Outbound, reason: string): void {
    const now = this.#core.ids.now()
    const contactHold = reserveAgain(tx, message, this.#days.of(now, message.lineId))
    const refusedBy = [...message.refusedBy, message.lineId]
    const queued = updateMessage(tx, message, { ...UNSENT, contactHold, refusedBy }, now)
    const next = message.isPinned
      ? null
      : this.#deps.routing.choose(tx, { ...queued, now }, refusedBy)
    if (next?.route === 'take') {
      const atOnce = updateMessage(tx, queued, { dueAt: now, queuedReason: null }, now)
      this.#deps.routing.move(tx, atOnce, { lineId: next.lineId, now })
      return
    }
    const delayMs = ROUND_DELAYS_MS[message.round]
    if (delayMs === undefined) {
      this.#deps.outcomes.fail(tx, queued, reason)
      return
    }
    const turn = { dueAt: later(now, delayMs), queuedReason: 'retry' } as const
    const round = { round: message.round + 1, refusedBy: [] }
    const waiting = updateMessage(tx, queued, { ...turn, ...round }, now)
    this.#deps.callers.settled(tx, this.#startRoundInOrder(tx, waiting, now))
  }

  /**
   * The line asked for a delay: the message waits there, without counting a try. If that is long and the caller named
   * no line, every other line gets one offer first.
   */
  postpone(tx: Tx, message: Outbound, delayMs: number): void {
    if (message.status !== 'queued') return
    const now = this.#core.ids.now()
    const refusedBy = [...message.refusedBy, message.lineId]
    const mayMove = !message.isPinned && delayMs > MOVES_AFTER_MS
    const next = mayMove ? this.#deps.routing.choose(tx, { ...message, now }, refusedBy) : null
    if (next?.route === 'take') {
      const refused = updateMessage(tx, message, { refusedBy }, now)
      this.#deps.routing.move(tx, refused, { lineId: next.lineId, now })
      return
    }
    const dueAt = later(now, Math.max(1, Math.ceil(delayMs)))
    this.wait(tx, message, { dueAt, queuedReason: 'pacing', refusedBy: [] })
  }

  /** The next round starts with the preferred line, not with the one that refused last. */
  #startRoundInOrder(tx: Tx, message: Outbound, now: Timestamp): Outbound {
    const first = message.isPinned ? null : this.#deps.routing.choose(tx, { ...message, now })
    if (first?.route !== 'take' || first.lineId === message.lineId) return message
    return this.#deps.routing.move(tx, message, { lineId: first.lineId, now })
  }

  /** The line's daily contact limit is used up: another line takes the message, or it waits for tomorrow. */
  waitForBudget(tx: Tx, message: Outbound, now: Timestamp): void {
    const route = message.isPinned
      ? null
      : this.#deps.routing.choose(tx, { ...message, now }, [message.lineId])
    if (route?.route === 'take') {
      this.#deps.routing.move(tx, message, { lineId: route.lineId, now })
      return
    }
    const dueAt = timestamp(this.#days.endOf(now, message.lineId))
    this.wait(tx, message, { dueAt, queuedReason: 'daily_contact_limit' })
  }

  /** Lets the message wait and answers its caller now. */
  wait(tx: Tx, message: Outbound, position: MessageUpdate & Position): void {
    const waiting = updateMessage(tx, message, position, this.#core.ids.now())
    this.#deps.callers.settled(tx, waiting)
  }

  /** The position of a new message: deferred, or last in its conversation. */
  firstPosition(tx: Tx, message: Deferrable & Pick<Outbound, 'text'>, now: Timestamp) {
    const deferral = this.deferralOf(tx, message)
    return deferral === null ? initialPosition(tx, message, now) : positionOf(deferral)
  }

  /** Defers a queued message that may not be sent now. Returns false if it may. */
  defer(tx: Tx, message: Outbound): boolean {
    const deferral = this.deferralOf(tx, message)
    if (deferral === null) return false
    this.wait(tx, message, positionOf(deferral))
    promoteNext(tx, message.conversationId, this.#core.ids.now())
    return true
  }

  /** Checks a deferred message again: it is queued, waits on, or expires. */
  review(tx: Tx, message: Outbound): void {
    if (message.status !== 'deferred') return
    if (this.#core.clock.ageOf(message.waitsFrom) >= QUEUED_MS_MAX) {
      this.#deps.outcomes.expire(tx, message)
      return
    }
    const now = this.#core.ids.now()
    const deferral = this.deferralOf(tx, message)
    if (deferral !== null) {
      updateMessage(tx, message, positionOf(deferral), now)
      return
    }
    const contactHold = reserveAgain(tx, message, this.#days.of(now, message.lineId))
    const last = { status: 'queued', queuedReason: 'earlier_message', dueAt: null } as const
    updateMessage(tx, message, { ...last, contactHold }, now)
    reorder(tx, message.conversationId, now)
  }

  /**
   * The reason not to queue or send the message now, or null if there is none. The clock decides, not a timestamp:
   * after the clock was set back, timestamps are ahead of it, and the message would go before its time.
   */
  deferralOf(db: Db, message: Deferrable): Deferral | null {
    const now = timestamp(this.#core.clock.now())
    const held = this.#approvalHold(db, message, now)
    if (held !== null) return held
    const sendAt = message.extras?.sendAt
    if (sendAt !== undefined && sendAt > now) return { reason: 'scheduled', until: sendAt }
    return this.#timeInDoubt(message) ?? this.#quietHold(message)
  }

  /** After an unconfirmed clock jump, the send time may not have come yet. */
  #timeInDoubt({ extras, waitsFrom }: Deferrable): Deferral | null {
    if (extras?.sendAt === undefined || waitsFrom <= this.#core.clock.earliest()) return null
    const doubt = this.#core.clock.doubt()
    return doubt && { reason: 'clock_jumped', until: timestamp(Math.ceil(doubt.until)) }
  }

  /**
   * An urgent message ignores its line's quiet hours, but not those of the key that wrote it. While the wall clock is
   * in doubt it may be right, so hours that are quiet by it count too.
   */
  #quietHold({ extras, lineId }: Deferrable): Deferral | null {
    const { clock } = this.#core
    const now = clock.now()
    const ofLine =
      extras?.isUrgent === true ? null : this.#deps.directory.find(lineId)?.line.quietHours
    const everywhere = this.#core.settings.get('time_zone')
    const ofKeys = [extras?.quietHours, extras?.approval?.quietHours]
    const hours = [
      ...(ofLine ? [{ of: ofLine, zone: this.#days.zone(lineId) }] : []),
      ...ofKeys.flatMap((of) => (of ? { of, zone: everywhere } : [])),
    ]
    if (hours.length === 0) return null
    const lefts = hours.flatMap(({ of, zone }) =>
      [now, clock.wall()].map((at) => (quietUntil(of, at, zone) ?? at) - at),
    )
    const leftMs = Math.max(...lefts)
    return leftMs === 0 ? null : { reason: 'quiet_hours', until: timestamp(now + leftMs) }
  }

  /** An approved message still waits for earlier ones of its key. */
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

function later(now: Timestamp, ms: number): Timestamp {
  return (now + ms) as Timestamp // A sum of whole milliseconds.
}
