// The line that a new message goes to, and what speaks against it.

import type { Days } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import {
  TEST_HANDLE,
  deviceHandle,
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
import {
  needsOf,
  usableLines,
  type Need,
  type Route,
  includesLine,
  type LineLimit,
} from '../domain/routing.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import { contactUsage, readContact } from '../storage/contacts.ts'
import { findPaused, getConversation, hasConversation } from '../storage/conversations.ts'
import type { Db, Tx } from '../storage/database.ts'
import { sendsInSince, sendsToSince } from '../storage/message-lists.ts'
import { lineOnTheWayTo } from '../storage/message-queue.ts'
import { optOutAgainst } from '../storage/opt-outs.ts'
import type { Settings } from '../storage/settings.ts'
import { isoTime } from '../system/iso-time.ts'
import { knowsContact, type History } from './contact-budget.ts'
import { needUnmetBy, toRoutingLine, type LineDirectory } from './line-directory.ts'
import { routeFor } from './requeue.ts'

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

type Tools = {
  readonly db: Db
  readonly directory: LineDirectory
  readonly ids: { now(): Timestamp }
  readonly days: Days
}

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

/** The other side of a conversation that there is, and its line. Throws where there is none. */
export function conversationTarget(db: Db, id: string): Pick<Target, 'recipient' | 'lineId'> {
  const found = parseId('conv', id) === null ? null : getConversation(db, id)
  if (found === null) {
    throw new RelayError('not_found', 'There is no conversation with this id.')
  }
  const { handle, lineId, group } = found
  if (group === null) return { recipient: checkedRecipient(handle), lineId }
  if (group.state === 'left') {
    throw notSupported('groups', 'The line is no member of this group any more.')
  }
  return { recipient: { kind: 'group', handle, conversationId: found.movedTo ?? found.id }, lineId }
}

/** Asks the devices that may get the message, in order, until one of them knows the recipient. */
export async function askHistories(tools: Tools, target: Target): Promise<Histories> {
  const histories = new Map<LineId, History>()
  const { handle, kind } = target.recipient
  if (kind === 'group') return histories
  for (const { line, state } of candidates(tools.directory, target)) {
    if (state.status !== 'online') continue
    if (readContact(tools.db, line.id, handle).knownAt !== null) break
    const history = await tools.directory.knows(line.id, handle)
    histories.set(line.id, history)
    if (history === true) break
  }
  return histories
}

/** The line of a new message. Throws where it cannot be accepted. */
export function lineFor(
  tools: Tools & SettingTools,
  db: Db,
  target: Target,
  now: Timestamp,
): LineSnapshot {
  const { recipient, lineId } = target
  const found =
    lineId === null ? routed(tools, db, target, now) : pinned(tools.directory, lineId, target)
  const { line } = found
  if (recipient.kind === 'email' && !hasConversation(db, recipient.handle, line.id)) {
    throw invalidRecipient('to is an e-mail address with which the line has no conversation.')
  }
  if (found.isReal) requireForeign(tools.directory, recipient.handle)
  requireWanted(tools, db, target, line.id)
  return found
}

type SettingTools = { readonly settings: Pick<Settings, 'get'> }

/**
 * The opt-out of the recipient, where the setting says that it is enforced. A person who was warned may send
 * all the same, and a group has no recipient.
 */
export function optOutOf(
  { settings }: SettingTools,
  db: Db,
  message: Pick<Message, 'handle' | 'lineId' | 'isGroup' | 'extras'>,
): ReturnType<typeof optOutAgainst> {
  const { handle, lineId, isGroup, extras } = message
  if (isGroup || extras?.isConfirmed === true || settings.get('opt_out') !== 'enforce') return null
  return optOutAgainst(db, handle, lineId)
}

function requireWanted(
  tools: SettingTools,
  db: Db,
  { recipient: { handle, kind }, extras }: Target,
  lineId: LineId,
): void {
  const optOut = optOutOf(tools, db, { handle, lineId, isGroup: kind === 'group', extras })
  if (optOut === null) return
  const details = { phone_line_id: optOut.lineId, opted_out_at: isoTime(optOut.createdAt) }
  const message = 'The recipient has opted out: nothing is sent to them until they text START.'
  throw new RelayError(OPTED_OUT, message, { details })
}

export function limitReached(
  { days }: Pick<Tools, 'days'>,
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
  { settings }: SettingTools,
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

/** Two programs that answer each other would send for ever: a real line stops that. */
export function requireNoLoop(
  tx: Tx,
  { line, isReal }: LineSnapshot,
  party: {
    readonly recipient: Target['recipient']
    readonly now: Timestamp
    readonly practiceKinds: readonly string[]
  },
): void {
  const { recipient, now, practiceKinds } = party
  if (!isReal) return
  const since = timestamp(now - MINUTE_MS + 1)
  const { count, oldest } =
    recipient.kind === 'group'
      ? sendsInSince(tx, recipient.conversationId, since)
      : sendsToSince(tx, recipient.handle, { since, practiceKinds })
  if (count < SENDS_PER_MINUTE_MAX) return
  throw new LoopError(line, Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1_000)))
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

function candidates(
  directory: LineDirectory,
  { lineId, lines, extras }: Target,
): readonly LineSnapshot[] {
  if (lineId === null) {
    return directory
      .lines()
      .filter(({ line }) => isUsable(directory, line.id))
      .filter(({ line }) => includesLine(lines, line.id))
      .filter((found) => needUnmetBy(found, needsOf({ extras })) === null)
  }
  const found = directory.find(lineId)
  return found === null ? [] : [found]
}

function isUsable(directory: LineDirectory, id: LineId): boolean {
  return usableLines(directory.lines().map(toRoutingLine)).some((line) => line.id === id)
}

function pinned(
  directory: LineDirectory,
  lineId: string,
  { recipient, lines, extras }: Target,
): LineSnapshot {
  const found = includesLine(lines, lineId) ? directory.find(lineId) : null
  if (found === null) {
    throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
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

function routed(
  tools: Tools,
  tx: Db,
  { recipient: { handle, kind }, extras }: Target,
  now: Timestamp,
): LineSnapshot {
  const { directory } = tools
  const message = { handle, now, extras }
  const route = routeBehind(tools, tx, message) ?? routeFor(tx, tools, message)
  if (route.route === 'none') {
    if (kind === 'email' && !hasConversation(tx, handle, null)) {
      throw invalidRecipient('to is an e-mail address with which no line has a conversation.')
    }
    requireAble(directory, needsOf({ extras }))
    throw new RelayError('no_phone_line', 'The relay has no phone line that is enabled.')
  }
  const found = directory.find(route.lineId)
  if (found === null) throw new RelayError('no_phone_line', 'The phone line has just been removed.')
  if (route.route === 'full')
    throw limitReached(tools, tx, found.line, { now: tools.ids.now(), at: now })
  return found
}

/** The line of a message if it were sent now, as far as is known without asking a device. */
export type SendPreview = {
  /** Null where no line could take it now. */
  readonly lineId: LineId | null
  /** That line has written with the recipient before. */
  readonly knowsContact: boolean
}

/** `lineId` is the line that the caller names, or null. */
export function previewSend(
  tools: Tools,
  { to, lineId }: { readonly to: string; readonly lineId: string | null },
): SendPreview {
  const { db, directory } = tools
  const recipient = parseRecipient(to)
  const handle = recipient?.handle ?? NOBODY
  const found = lineId === null ? lineWithout(tools, handle) : directory.find(lineId)
  if (found === null) return { lineId: null, knowsContact: false }
  return { lineId: found.line.id, knowsContact: knowsContact(db, found.line.id, handle) }
}

/** An address that nobody has, while a recipient is being typed. */
const NOBODY = deviceHandle('')

function lineWithout(tools: Tools, handle: Handle): LineSnapshot | null {
  const { directory, db } = tools
  const message = { handle, now: tools.ids.now(), extras: null }
  const route = routeBehind(tools, db, message) ?? routeFor(db, tools, message)
  return route.route === 'take' || route.route === 'full' ? directory.find(route.lineId) : null
}

/** To one recipient in order: where an earlier message is on its way by a line, the next one follows. */
function routeBehind(tools: Tools, tx: Db, message: Parameters<typeof routeFor>[2]): Route | null {
  const { directory } = tools
  if (directory.lines().length < 2) return null
  const ahead = lineOnTheWayTo(tx, message.handle)
  if (ahead === null || !isUsable(directory, ahead)) return null
  const others = directory.lines().flatMap(({ line }) => (line.id === ahead ? [] : [line.id]))
  const route = routeFor(tx, tools, message, others)
  return route.route === 'full' || route.route === 'none' ? null : route
}

/** Says what is missing, where there are lines and none of them can send such a message. */
function requireAble(directory: LineDirectory, needs: readonly Need[]): void {
  const usable = directory.lines().filter(({ line }) => isUsable(directory, line.id))
  const unmet = usable.flatMap((found) => needUnmetBy(found, needs) ?? [])
  const [first] = unmet
  if (first !== undefined) throw notSupported(first, `No line can do this: ${first}.`)
}

export function notSupported(capability: Need, message: string): RelayError {
  return new RelayError('not_supported', message, { details: { capability } })
}

/** A real line sends neither to itself or its sisters, nor to the sender of test events. */
function requireForeign(directory: LineDirectory, handle: Handle): void {
  if (handle === TEST_HANDLE) {
    throw invalidRecipient('to is the number that test events come from: nobody has it.')
  }
  const isOurs = directory.lines().some(({ line }) => isSamePerson(line.number, handle, null))
  if (isOurs) throw invalidRecipient("to is one of the relay's own phone lines.")
}

function invalidRecipient(message: string): RelayError {
  return new RelayError('invalid_recipient', message, {
    details: { issues: [{ path: 'to', message }] },
  })
}
