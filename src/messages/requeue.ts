// A message that is proven not sent, with the line to blame: to another line, or to wait.

import type { Days } from '../domain/days.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import type { Outbound } from '../domain/message.ts'
import { chooseLine, needsOf, type Route, includesLine } from '../domain/routing.ts'
import {
  forgetMessage,
  hasConversation,
  noteMessage,
  noteService,
  openConversation,
} from '../storage/conversations.ts'
import type { Db, Tx } from '../storage/database.ts'
import { queuedBehind } from '../storage/message-queue.ts'
import { placeMessage, saveMessage } from '../storage/messages.ts'
import {
  releaseSlot,
  hasBudget,
  knowsContact,
  newContacts,
  reserveAgain,
  reserveSlot,
} from './contact-budget.ts'
import { promoteNext, reorder, wakeSameText } from './conversation-order.ts'
import { needUnmetBy, toRoutingLine, waitReasonOf, type LineDirectory } from './line-directory.ts'
import { failMessage, type SettleTools } from './settle.ts'

/** Delays in milliseconds before the rounds that follow the first one. */
const ROUND_DELAYS_MS = [1_000, 5_000, 30_000]
/** A message that was withdrawn, not refused, is looked at again after this. */
const WITHDRAWN_DELAY_MS = 1_000

/** A line that is patient for longer than this lets another one have the message. */
const MOVES_AFTER_MS = 10_000

type Tools = SettleTools & { readonly directory: LineDirectory }

type RouteTools = { readonly directory: Pick<LineDirectory, 'lines'>; readonly days: Days }

/** The line for a message that names none, `except` those that refused it. */
export function routeFor(
  db: Db,
  { directory, days }: RouteTools,
  message: {
    readonly handle: Handle
    readonly now: Timestamp
    readonly extras?: MessageExtras | null
  },
  except: readonly LineId[] = [],
): Route {
  const needs = needsOf({ extras: message.extras ?? null })
  const isEmail = message.handle.includes('@')
  const limit = message.extras?.lineIds ?? null
  const lines = directory
    .lines()
    .filter(({ line }) => !except.includes(line.id) && includesLine(limit, line.id))
    .filter(({ line }) => !isEmail || hasConversation(db, message.handle, line.id))
  const byId = new Map(lines.map((found) => [found.line.id, found]))
  const { handle } = message
  const day = days.of(message.now)
  return chooseLine(lines.map(toRoutingLine), {
    knowsContact: (id) => knowsContact(db, id, handle),
    hasBudget(id) {
      const found = byId.get(id)
      if (found === undefined) return false
      // One that is offline cannot be asked whom it knows: it accepts, and decides when it is back.
      const isAsked = found.state.status === 'online'
      return !isAsked || hasBudget(db, found.line, handle, day)
    },
    newContacts: (id) => newContacts(db, id, day),
    isAble(id) {
      const found = byId.get(id)
      return found !== undefined && needUnmetBy(found, needs) === null
    },
  })
}

/**
 * Back to the queue, uncounted: nobody refused it. It is due after a second, so that a line that gives back
 * all it gets is not asked without a pause; with the end of its session at once, when the line is back.
 */
export function withdraw(tools: Tools, tx: Tx, message: Outbound, isSessionOver: boolean): void {
  const now = tools.ids.now()
  let queued = message
  if (message.status === 'sending') {
    const contactHold = reserveAgain(tx, message, tools.days.of(now))
    const dueAt = isSessionOver ? now : later(now, WITHDRAWN_DELAY_MS)
    queued = { ...unsent(message), contactHold, dueAt, queuedReason: null }
  } else if (message.status === 'queued' && message.dueAt !== null && message.dueAt <= now) {
    queued = { ...message, dueAt: later(now, WITHDRAWN_DELAY_MS) }
  }
  if (queued === message) return
  saveMessage(tx, queued, now)
  if (waitReasonOf(tools.directory, message.lineId, true) !== null)
    tools.callers.settled(tx, queued)
}

/**
 * Refused: where the caller named no line it is offered once to every line that may take it; then,
 * or where he named one, again after 1 s, 5 s and 30 s; then it has failed.
 */
export function refuse(
  tools: Tools,
  tx: Tx,
  message: Outbound,
  reason: 'line_refused' | 'not_supported' = 'line_refused',
): void {
  if (message.status !== 'queued' && message.status !== 'sending') return
  tryAgain(tools, tx, message, reason)
}

/**
 * The recipient is not on iMessage, and nothing of the message left: one that leaves the service to the
 * relay has one try as SMS, where its line can choose now. False where it has none.
 */
export function turnToSms(tools: Tools, tx: Tx, message: Outbound): boolean {
  const { extras, status, lineId, platformGuid } = message
  const state = tools.directory.find(lineId)?.state
  const canChoose = state?.status === 'online' && state.capabilities.choose_service
  const isUnderWay = platformGuid === null && (status === 'queued' || status === 'sending')
  if (extras?.wantedService !== 'auto' || message.service === 'SMS') return false
  if (!isUnderWay || !canChoose) return false
  const now = tools.ids.now()
  const service = 'SMS'
  const turned = {
    ...unsent(message),
    service,
    extras: { ...extras, downgradedAt: now },
    contactHold: reserveAgain(tx, message, tools.days.of(now)),
    dueAt: now,
    queuedReason: null,
  }
  noteService(tx, message.conversationId, { seq: message.seq, service })
  saveMessage(tx, turned, now)
  return true
}

/**
 * Proven unsent after its session ended: it counts as a try, so that a message that ends the relay each
 * time fails in the end. It goes before those that got its turn while nobody knew what became of it.
 */
export function requeue(tools: Tools, tx: Tx, message: Outbound, reason: string): void {
  tryAgain(tools, tx, { ...message, error: null }, reason)
  const now = tools.ids.now()
  reorder(tx, message.conversationId, now)
  wakeSameText(tx, message.conversationId, now)
}

/** `reason` is that of the failure, where this was the last try. */
function tryAgain(tools: Tools, tx: Tx, message: Outbound, reason: string): void {
  const now = tools.ids.now()
  const contactHold = reserveAgain(tx, message, tools.days.of(now))
  const refusedBy = [...message.refusedBy, message.lineId]
  const queued: Outbound = { ...unsent(message), contactHold, refusedBy }
  const next = message.isPinned ? null : routeFor(tx, tools, { ...queued, now }, refusedBy)
  if (next?.route === 'take') {
    const atOnce = { ...queued, dueAt: now, queuedReason: null }
    moveTo(tools, tx, atOnce, { lineId: next.lineId, now })
    return
  }
  const delayMs = ROUND_DELAYS_MS[message.round]
  if (delayMs === undefined) {
    failMessage(tools, tx, queued, reason)
    return
  }
  const turn = { dueAt: later(now, delayMs), queuedReason: 'retry' } as const
  const waiting = { ...queued, ...turn, round: message.round + 1, refusedBy: [] }
  saveMessage(tx, waiting, now)
  tools.callers.settled(tx, startRoundInOrder(tools, tx, waiting, now))
}

/**
 * Its line must not be hurried: it waits there, uncounted. Where that takes long and the caller named
 * no line, it is offered once to every other line first.
 */
export function postpone(tools: Tools, tx: Tx, message: Outbound, delayMs: number): void {
  if (message.status !== 'queued') return
  const now = tools.ids.now()
  const refusedBy = [...message.refusedBy, message.lineId]
  const mayMove = !message.isPinned && delayMs > MOVES_AFTER_MS
  const next = mayMove ? routeFor(tx, tools, { ...message, now }, refusedBy) : null
  if (next?.route === 'take') {
    moveTo(tools, tx, { ...message, refusedBy }, { lineId: next.lineId, now })
    return
  }
  const dueAt = later(now, Math.max(1, Math.ceil(delayMs)))
  const waiting: Outbound = { ...message, dueAt, queuedReason: 'pacing', refusedBy: [] }
  tools.callers.settled(tx, saveMessage(tx, waiting, now))
}

/** The next round begins with the first line again, not with the one that refused last. */
function startRoundInOrder(tools: Tools, tx: Tx, message: Outbound, now: Timestamp): Outbound {
  const first = message.isPinned ? null : routeFor(tx, tools, { ...message, now })
  if (first?.route !== 'take' || first.lineId === message.lineId) return message
  return moveTo(tools, tx, message, { lineId: first.lineId, now })
}

/**
 * Takes a queued message over to another line, with conversation, budget and turn. Those that wait
 * behind it come along, as far as the line can send them: on the line that it leaves they would overtake it.
 */
export function moveTo(
  tools: Tools,
  tx: Tx,
  message: Outbound,
  to: { readonly lineId: LineId; readonly now: Timestamp },
): Outbound {
  const target = tools.directory.find(to.lineId)
  if (target === null) return message
  const { now } = to
  const behind = queuedBehind(tx, message)
  const stays = behind.findIndex(
    (next) =>
      needUnmetBy(target, needsOf(next)) !== null ||
      !includesLine(next.extras?.lineIds ?? null, to.lineId),
  )
  const along = stays === -1 ? behind : behind.slice(0, stays)
  const moved = moveOne(tools, tx, message, { line: target.line, now })
  for (const next of along) moveOne(tools, tx, next, { line: target.line, now })
  reorder(tx, moved.conversationId, now)
  promoteNext(tx, message.conversationId, now)
  return moved
}

function moveOne(
  tools: Tools,
  tx: Tx,
  message: Outbound,
  { line, now }: { readonly line: Line; readonly now: Timestamp },
): Outbound {
  const { handle } = message
  const day = tools.days.of(now)
  releaseSlot(tx, message, day)
  const party = { lineId: line.id, phoneNumber: line.number, handle, now }
  const place = {
    lineId: line.id,
    phoneNumber: line.number,
    conversationId: openConversation(tx, tools.ids, party),
  }
  // Its new line's device is asked about the recipient before the message leaves.
  const hold = reserveSlot(tx, line, handle, { history: null, day })
  const contactHold = hold === 'full' ? 'undecided' : hold
  placeMessage(tx, message.seq, place)
  noteMessage(tx, place.conversationId, message, now)
  forgetMessage(tx, message.conversationId, place.conversationId)
  return saveMessage(tx, { ...message, ...place, contactHold }, now)
}

function unsent(message: Outbound): Outbound {
  return { ...message, status: 'queued', note: null, passedAt: null }
}

function later(now: Timestamp, ms: number): Timestamp {
  return (now + ms) as Timestamp // A sum of whole milliseconds.
}
