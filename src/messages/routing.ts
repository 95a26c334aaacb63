// Chooses the line of a message, and moves a message to another line.

import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import { deviceHandle, parseRecipient, type Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import type { Outbound, OutgoingMessage, QueuedReason } from '../domain/message.ts'
import {
  chooseLine,
  includesLine,
  needsOf,
  unmetNeed,
  usableLines,
  type LineLimit,
  type LineLimits,
  type Need,
  type Route,
  type RoutingLine,
} from '../domain/routing.ts'
import type { PointOfNoReturn, SendOutcome } from '../lines/driver.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import {
  forgetMessage,
  hasConversation,
  noteMessage,
  openConversation,
} from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import {
  hasBudget,
  knowsContact,
  newContacts,
  readContact,
  releaseSlot,
  reserveSlot,
  type History,
  daysOf,
} from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import { lineOnTheWayTo, promoteNext, queuedBehind, reorder } from '../storage/message-queue.ts'
import { updateMessage } from '../storage/messages.ts'
import { memoize } from '../system/memoize.ts'
import {
  invalidRecipient,
  limitReached,
  notSupported,
  requireForeign,
  requireWanted,
  type Histories,
  type Target,
} from './send-target.ts'

/** Lines as messages see them; the supervisor implements it. */
export type LineDirectory = {
  readonly practiceKinds: readonly string[]
  /** In order of creation. */
  lines(): readonly LineSnapshot[]
  find(id: string): LineSnapshot | null
  /** True if the device has a history with `handle`; null if it can't be asked in time. */
  knows(id: LineId, handle: Handle): Promise<boolean | null>
  send(
    id: LineId,
    message: OutgoingMessage,
    pointOfNoReturn: PointOfNoReturn,
  ): Promise<{ readonly outcome: SendOutcome; readonly isSessionOver: boolean }>
}

/** True if dispatch may give the line a message now. */
export function takesMessages({ line, state }: LineSnapshot): boolean {
  return line.isEnabled && state.status === 'online' && state.imessageActive
}

/** The first unmet need: by the line's current capabilities, or by its kind's abilities while it is offline. */
export function needUnmetBy({ state, abilities }: LineSnapshot, needs: readonly Need[]) {
  return unmetNeed(state.status === 'online' ? state.capabilities : abilities, needs)
}

/** The line's reason to keep a message waiting; null if the line is ready. */
export function waitReasonOf(
  directory: Pick<LineDirectory, 'find'>,
  lineId: LineId,
  hasRoom: boolean,
): QueuedReason | null {
  const found = directory.find(lineId)
  if (found !== null && !found.line.isEnabled) return 'line_disabled'
  if (found === null || !takesMessages(found)) return 'line_offline'
  return hasRoom ? null : 'storage_full'
}

/** A message that has no line yet, or may move to another one. */
type Routable = {
  readonly handle: Handle
  readonly now: Timestamp
  readonly extras?: MessageExtras | null
}

/** Nobody has this address; used while a recipient is being typed. */
const NOBODY = deviceHandle('')

export class Routing {
  readonly #core: Core
  readonly #days: Days
  readonly #directory: LineDirectory

  constructor(core: Core, { directory }: { readonly directory: LineDirectory }) {
    this.#core = core
    this.#days = daysOf(core)
    this.#directory = directory
  }

  /** Asks the candidate lines' devices in order, until one knows the recipient. */
  async askHistories(target: Target): Promise<Histories> {
    const histories = new Map<LineId, History>()
    const { handle, kind } = target.recipient
    if (kind === 'group') return histories
    for (const { line, state } of this.#candidates(target)) {
      if (state.status !== 'online') continue
      if (readContact(this.#core.db, line.id, handle).knownAt !== null) break
      const history = await this.#directory.knows(line.id, handle)
      histories.set(line.id, history)
      if (history === true) break
    }
    return histories
  }

  /**
   * The line for a new message. Called before the transaction of acceptance, so that nothing is fetched in vain, and
   * again in it. Asks no device. Throws a RelayError if the message can't be accepted.
   */
  lineFor(db: Db, target: Target, now: Timestamp): LineSnapshot {
    const { recipient, lineId } = target
    const found = lineId === null ? this.#routed(db, target, now) : this.#pinned(lineId, target)
    const { line } = found
    if (recipient.kind === 'email' && !hasConversation(db, recipient.handle, line.id)) {
      throw invalidRecipient('to is an email address with which the line has no conversation.')
    }
    if (found.isReal) requireForeign(this.#directory.lines(), recipient.handle)
    requireWanted(this.#core.settings, db, target, line.id)
    return found
  }

  #candidates({ lineId, lines, extras }: Target): readonly LineSnapshot[] {
    if (lineId === null) {
      const needs = needsOf({ extras })
      return this.#usable(lines).filter((found) => needUnmetBy(found, needs) === null)
    }
    const found = this.#directory.find(lineId)
    return found === null ? [] : [found]
  }

  #pinned(lineId: string, { recipient, lines, extras }: Target): LineSnapshot {
    const found = includesLine(lines, lineId) ? this.#directory.find(lineId) : null
    if (found === null) {
      throw new RelayError(
        'phone_line_not_found',
        'There is no phone line with this phone_line_id.',
      )
    }
    if (!found.line.isEnabled) {
      throw new RelayError('phone_line_disabled', 'The phone line of phone_line_id is disabled.')
    }
    const isGroup = recipient.kind === 'group'
    const unmet = needUnmetBy(found, needsOf({ extras, isGroup }))
    if (unmet !== null) throw notSupported(unmet, `The line cannot do this: ${unmet}.`)
    if (isGroup && !found.line.relayGroups) {
      throw notSupported('groups', 'relay_groups of the line is off: its groups are left alone.')
    }
    return found
  }

  #routed(db: Db, { recipient: { handle, kind }, extras }: Target, now: Timestamp): LineSnapshot {
    const route = this.#chooseFirst(db, { handle, now, extras })
    if (route.route === 'none') {
      if (kind === 'email' && !hasConversation(db, handle, null)) {
        throw invalidRecipient('to is an email address with which no line has a conversation.')
      }
      this.#requireAble(needsOf({ extras }))
      throw new RelayError('no_phone_line', 'The relay has no phone line that is enabled.')
    }
    const found = this.#directory.find(route.lineId)
    if (found === null)
      throw new RelayError('no_phone_line', 'The phone line has just been removed.')
    if (route.route === 'full')
      throw limitReached(this.#days, db, found.line, { now: this.#core.ids.now(), at: now })
    return found
  }

  /** Throws with the missing capability if there are lines but none can send such a message. */
  #requireAble(needs: readonly Need[]): void {
    const unmet = this.#usable().flatMap((found) => needUnmetBy(found, needs) ?? [])
    const [first] = unmet
    if (first !== undefined) throw notSupported(first, `No line can do this: ${first}.`)
  }

  /** The line for a message that names none; `except` lists lines that refused it. */
  choose(db: Db, message: Routable, except: readonly LineId[] = []): Route {
    const needs = needsOf({ extras: message.extras ?? null })
    const isEmail = message.handle.includes('@')
    const limit = linesWithin(db, limitsOf(message))
    const lines = this.#directory
      .lines()
      .filter(({ line }) => !except.includes(line.id) && includesLine(limit, line.id))
      .filter(({ line }) => !isEmail || hasConversation(db, message.handle, line.id))
    const byId = new Map(lines.map((found) => [found.line.id, found]))
    const { handle } = message
    const dayOf = memoize(lines.length, (id: LineId) => this.#days.of(message.now, id))
    return chooseLine(lines.map(toRoutingLine), {
      knowsContact: (id) => knowsContact(db, id, handle),
      hasBudget(id) {
        const found = byId.get(id)
        if (found === undefined) return false
        // An offline line can't be asked whom it knows: it accepts now and decides when it is back.
        const isFree = found.state.status !== 'online' || message.extras?.isAlert === true
        return isFree || hasBudget(db, found.line, handle, () => dayOf(id))
      },
      newContacts: (id) => newContacts(db, id, dayOf(id)),
      isAble(id) {
        const found = byId.get(id)
        return found !== undefined && needUnmetBy(found, needs) === null
      },
    })
  }

  /** A new message follows an earlier one to the same recipient that is on its way. */
  #chooseFirst(db: Db, message: Routable): Route {
    return this.#chooseBehind(db, message) ?? this.choose(db, message)
  }

  /** Keeps one recipient's messages in order. Null if none is on its way or its line can't take this one. */
  #chooseBehind(db: Db, message: Routable): Route | null {
    const lines = this.#directory.lines()
    if (lines.length < 2) return null
    const ahead = lineOnTheWayTo(db, message.handle)
    if (ahead === null || !this.#isUsable(ahead)) return null
    const others = lines.flatMap(({ line }) => (line.id === ahead ? [] : [line.id]))
    const route = this.choose(db, message, others)
    return route.route === 'full' || route.route === 'none' ? null : route
  }

  #usable(limit: LineLimit = null): readonly LineSnapshot[] {
    return this.#directory
      .lines()
      .filter(({ line }) => this.#isUsable(line.id) && includesLine(limit, line.id))
  }

  #isUsable(id: LineId): boolean {
    return usableLines(this.#directory.lines().map(toRoutingLine)).some((line) => line.id === id)
  }

  /**
   * The line that would get a message now, and whether it has a history with the recipient, as far as known without
   * asking a device. `lineId` is the line that the caller named, or null; `limits` are the caller's.
   */
  preview(to: string, lineId: string | null, limits: LineLimits) {
    const { db } = this.#core
    const handle = parseRecipient(to)?.handle ?? NOBODY
    const isNamed = lineId !== null && includesLine(linesWithin(db, limits), lineId)
    const named = isNamed ? this.#directory.find(lineId) : null
    const found = lineId === null ? this.#lineFor(handle, limits) : named
    if (found === null) return { lineId: null, knowsContact: false }
    return { lineId: found.line.id, knowsContact: knowsContact(db, found.line.id, handle) }
  }

  #lineFor(handle: Handle, limits: LineLimits): LineSnapshot | null {
    const { db, ids } = this.#core
    const { lineIds, siteIds } = limits
    const extras = { lineIds: lineIds ?? undefined, siteIds: siteIds ?? undefined }
    const route = this.#chooseFirst(db, { handle, now: ids.now(), extras })
    return route.route === 'take' || route.route === 'full'
      ? this.#directory.find(route.lineId)
      : null
  }

  /**
   * Moves a queued message to another line, with conversation, contact limit and turn. The messages behind it move
   * too, as far as that line can send them: left behind, they would overtake it.
   */
  move(
    tx: Tx,
    message: Outbound,
    to: { readonly lineId: LineId; readonly now: Timestamp },
  ): Outbound {
    const target = this.#directory.find(to.lineId)
    if (target === null) return message
    const { now } = to
    const behind = queuedBehind(tx, message)
    const stays = behind.findIndex(
      (next) =>
        needUnmetBy(target, needsOf(next)) !== null ||
        !includesLine(linesWithin(tx, limitsOf(next)), to.lineId),
    )
    const along = stays === -1 ? behind : behind.slice(0, stays)
    const moved = this.#moveOne(tx, message, { line: target.line, now })
    for (const next of along) this.#moveOne(tx, next, { line: target.line, now })
    reorder(tx, moved.conversationId, now)
    promoteNext(tx, message.conversationId, now)
    return moved
  }

  #moveOne(
    tx: Tx,
    message: Outbound,
    { line, now }: { readonly line: Line; readonly now: Timestamp },
  ): Outbound {
    const { handle } = message
    releaseSlot(tx, message, this.#days.of(now, message.lineId))
    const findDay = () => this.#days.of(now, line.id)
    const party = { lineId: line.id, phoneNumber: line.number, handle, now }
    const place = {
      lineId: line.id,
      phoneNumber: line.number,
      conversationId: openConversation(tx, this.#core.ids, party),
    }
    // The new line's device is asked about the recipient before the message is sent.
    const isAlert = message.extras?.isAlert === true
    const hold = isAlert ? 'none' : reserveSlot(tx, line, handle, { history: null, findDay })
    const contactHold = hold === 'full' ? 'undecided' : hold
    const moved = updateMessage(tx, message, { ...place, contactHold }, now)
    noteMessage(tx, place.conversationId, message, now)
    forgetMessage(tx, message.conversationId, place.conversationId)
    return moved
  }
}

/** The lines and sites that the caller of a message was limited to. */
function limitsOf({ extras }: Pick<Routable, 'extras'>): LineLimits {
  return { lineIds: extras?.lineIds ?? null, siteIds: extras?.siteIds ?? null }
}

function toRoutingLine({ line, state, isReal, isConfigured }: LineSnapshot): RoutingLine {
  return {
    id: line.id,
    isReal,
    isEnabled: line.isEnabled,
    isOnline: state.status === 'online',
    imessageActive: state.status === 'online' && state.imessageActive,
    isConfigured,
  }
}
