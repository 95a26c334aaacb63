// The recipient of a new message, its line, and the reasons to refuse it.

import type { Conversation } from '../domain/conversation.ts'
import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import {
  TEST_HANDLE,
  isSamePerson,
  parseRecipient,
  type Handle,
  type Recipient,
} from '../domain/handle.ts'
import {
  parseId,
  timestamp,
  type ConversationId,
  type LineId,
  type Timestamp,
} from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageExtras } from '../domain/message-extras.ts'
import type { Message, MessageSource } from '../domain/message.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import { includesLine, needsOf, type LineLimit, type Need } from '../domain/routing.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import { contactUsage, readContact } from '../storage/contacts.ts'
import { findPaused, getConversation, hasConversation } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sendsInSince, sendsToSince } from '../storage/message-lists.ts'
import { optOutAgainst } from '../storage/opt-outs.ts'
import { daysOf, type Settings } from '../storage/settings.ts'
import { isoTime } from '../system/iso-time.ts'
import type { History } from './contact-budget.ts'
import { needUnmetBy, type LineDirectory, type Routing } from './routing.ts'

export type Target = {
  readonly recipient: Recipient | GroupRecipient
  readonly lineId: string | null
  /** The lines that the caller may use. */
  readonly lines: LineLimit
  readonly extras: MessageExtras | null
}

/** A group, by the device's identifier of it. */
type GroupRecipient = {
  readonly kind: 'group'
  readonly handle: Handle
  readonly conversationId: ConversationId
}

/** Each device's answer about the recipient; a line that is missing could not be asked. */
export type Histories = ReadonlyMap<LineId, History>

/** Sends to one handle in a minute that are no loop of two programs yet. */
const SENDS_PER_MINUTE_MAX = 30

export function checkedRecipient(to: string): Recipient {
  const recipient = parseRecipient(to)
  if (recipient !== null) return recipient
  throw invalidRecipient(
    'to must be a phone number in international format, such as +12025550123, or an e-mail ' +
      'address with which the line has a conversation.',
  )
}

/** The other side of a conversation that there is, and its line. Throws if there is none. */
export function conversationTarget(db: Db, id: string): Pick<Target, 'recipient' | 'lineId'> {
  const found = requireConversation(db, id)
  const { handle, lineId, group } = found
  if (group === null) return { recipient: checkedRecipient(handle), lineId }
  if (group.state === 'left') {
    throw notSupported('groups', 'The line is no member of this group any more.')
  }
  return { recipient: { kind: 'group', handle, conversationId: found.movedTo ?? found.id }, lineId }
}

export function requireConversation(db: Db, id: string): Conversation {
  const found = parseId('conv', id) === null ? null : getConversation(db, id)
  if (found !== null) return found
  throw new RelayError('not_found', 'There is no conversation with this id.')
}

/** Finds the line of a new message, or says why it can't be accepted. */
export class SendTargets {
  readonly #core: Core
  readonly #days: Days
  readonly #directory: LineDirectory
  readonly #routing: Routing

  constructor(
    core: Core,
    {
      directory,
      routing,
    }: {
      readonly directory: LineDirectory
      readonly routing: Routing
    },
  ) {
    this.#core = core
    this.#days = daysOf(core.settings)
    this.#directory = directory
    this.#routing = routing
  }

  /** Asks the devices that may get the message, in order, until one of them knows the recipient. */
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

  /** The line of a new message. Throws if it can't be accepted. */
  lineFor(db: Db, target: Target, now: Timestamp): LineSnapshot {
    const { recipient, lineId } = target
    const found = lineId === null ? this.#routed(db, target, now) : this.#pinned(lineId, target)
    const { line } = found
    if (recipient.kind === 'email' && !hasConversation(db, recipient.handle, line.id)) {
      throw invalidRecipient('to is an e-mail address with which the line has no conversation.')
    }
    if (found.isReal) this.#requireForeign(recipient.handle)
    requireWanted(this.#core.settings, db, target, line.id)
    return found
  }

  #candidates({ lineId, lines, extras }: Target): readonly LineSnapshot[] {
    if (lineId === null) {
      const needs = needsOf({ extras })
      return this.#routing.usable(lines).filter((found) => needUnmetBy(found, needs) === null)
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
    const route = this.#routing.chooseFirst(db, { handle, now, extras })
    if (route.route === 'none') {
      if (kind === 'email' && !hasConversation(db, handle, null)) {
        throw invalidRecipient('to is an e-mail address with which no line has a conversation.')
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

  /** Says what is missing, if there are lines and none of them can send such a message. */
  #requireAble(needs: readonly Need[]): void {
    const unmet = this.#routing.usable().flatMap((found) => needUnmetBy(found, needs) ?? [])
    const [first] = unmet
    if (first !== undefined) throw notSupported(first, `No line can do this: ${first}.`)
  }

  /** Two programs that answer each other would send for ever: a real line stops that. */
  requireNoLoop(
    tx: Tx,
    { line, isReal }: LineSnapshot,
    { recipient, now }: { readonly recipient: Target['recipient']; readonly now: Timestamp },
  ): void {
    if (!isReal) return
    const since = timestamp(now - MINUTE_MS + 1)
    const { count, oldest } =
      recipient.kind === 'group'
        ? sendsInSince(tx, recipient.conversationId, since)
        : sendsToSince(tx, recipient.handle, {
            since,
            practiceKinds: this.#directory.practiceKinds,
          })
    if (count < SENDS_PER_MINUTE_MAX) return
    throw new LoopError(line, Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1_000)))
  }

  /** A real line sends neither to itself or its sisters, nor to the sender of test events. */
  #requireForeign(handle: Handle): void {
    if (handle === TEST_HANDLE) {
      throw invalidRecipient('to is the number that test events come from: nobody has it.')
    }
    const isOurs = this.#directory
      .lines()
      .some(({ line }) => isSamePerson(line.number, handle, null))
    if (isOurs) throw invalidRecipient("to is one of the relay's own phone lines.")
  }
}

/**
 * The opt-out of the recipient, if the setting says that it is enforced. A person who was warned may send
 * all the same, and a group has no recipient.
 */
export function optOutOf(
  settings: Settings,
  db: Db,
  message: Pick<Message, 'handle' | 'lineId' | 'isGroup' | 'extras'>,
): ReturnType<typeof optOutAgainst> {
  const { handle, lineId, isGroup, extras } = message
  if (isGroup || extras?.isConfirmed === true || settings.get('opt_out') !== 'enforce') return null
  return optOutAgainst(db, handle, lineId)
}

function requireWanted(
  settings: Settings,
  db: Db,
  { recipient: { handle, kind }, extras }: Target,
  lineId: LineId,
): void {
  const optOut = optOutOf(settings, db, { handle, lineId, isGroup: kind === 'group', extras })
  if (optOut === null) return
  const details = { phone_line_id: optOut.lineId, opted_out_at: isoTime(optOut.createdAt) }
  const message = 'The recipient has opted out: nothing is sent to them until they text START.'
  throw new RelayError(OPTED_OUT, message, { details })
}

export function limitReached(
  days: Days,
  db: Db,
  line: Line,
  { now, at = now }: { readonly now: Timestamp; readonly at?: Timestamp },
): RelayError {
  const { reserved, spent } = contactUsage(db, line.id, days.of(at))
  const resetsAt = timestamp(days.endOf(at))
  const day = days.of(at) === days.of(now) ? 'today' : 'that day'
  return new RelayError(
    'rate_limit_exceeded',
    `The line has reached its limit of ${line.dailyContactLimit} new contacts for ${day}.`,
    {
      details: {
        limit: 'daily_contacts',
        phone_line_id: line.id,
        daily_limit: line.dailyContactLimit,
        used: reserved + spent,
        resets_at: isoTime(resetsAt),
      },
      retryAfterSeconds: Math.ceil((resetsAt - now) / 1_000),
    },
  )
}

/**
 * If the setting says so, programs stay out of a conversation that a person answers. A person who
 * sends, by the command line or the dashboard, is never refused.
 */
export function requireUnpaused(
  settings: Settings,
  tx: Tx,
  send: { readonly source: MessageSource; readonly lineId: LineId; readonly handle: Handle },
): void {
  if (send.source !== 'api' || !settings.get('enforce_automation_pause')) return
  const paused = findPaused(tx, send.lineId, send.handle)
  if (paused === null) return
  throw new RelayError(
    'automation_paused',
    'A person answers this conversation: send when its automation_paused is false again.',
    { details: { conversation_id: paused } },
  )
}

/** Apple drops files that come first, and without a word, from a sender whom the recipient does not know. */
export function requireText(
  db: Db,
  { line, isReal }: LineSnapshot,
  { text, extras }: Pick<Message, 'text' | 'extras'>,
  party: { readonly handle: Handle; readonly history: History },
): void {
  if (!isReal || text !== '' || extras === null) return
  const { knownAt, spentDay, queued } = readContact(db, line.id, party.handle)
  const isNew = party.history === false && knownAt === null && spentDay === null && queued === 0
  if (!isNew) return
  throw new RelayError(
    'attachment_needs_text',
    'The first message to a new contact needs a text beside its attachments.',
    { details: { issues: [{ path: 'text', message: 'is required for a new contact' }] } },
  )
}

/** So many sends to one recipient that two programs seem to answer each other. */
export class LoopError extends RelayError {
  readonly line: Line

  constructor(line: Line, retryAfterSeconds: number) {
    super(
      'rate_limit_exceeded',
      `More than ${SENDS_PER_MINUTE_MAX} messages to this recipient within a minute look like a loop.`,
      { details: { limit: 'per_contact_minute', phone_line_id: line.id }, retryAfterSeconds },
    )
    this.line = line
  }
}

export function notSupported(capability: Need, message: string): RelayError {
  return new RelayError('not_supported', message, { details: { capability } })
}

function invalidRecipient(message: string): RelayError {
  return new RelayError('invalid_recipient', message, {
    details: { issues: [{ path: 'to', message }] },
  })
}
